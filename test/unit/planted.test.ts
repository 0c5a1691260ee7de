import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import test from '../helpers/test.ts';
import { plant } from '../planted/fault.ts';
import { FAULTS } from '../planted/faults.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const ids = FAULTS.map(({ id }) => id);

test('no two planted faults have one id', (t) => {
  t.deepEqual(ids, [...new Set(ids)]);
});

for (const fault of FAULTS) {
  test(`the place of the planted fault ${fault.id} is there once`, (t) => {
    t.regex(fault.file, /^src\//);
    const planted = plant(fault, read(fault.file));
    t.not(planted, read(fault.file));
    // A fault that is no program would be caught by any test.
    t.deepEqual(parseSync(fault.file, planted).errors, []);
    t.deepEqual(
      fault.tests.filter((file) => !existsSync(join(ROOT, file))),
      [],
    );
  });
}

test('each planted fault that was caught is still planted', (t) => {
  const caught = read('test/planted/caught.txt').trimEnd().split('\n');
  t.deepEqual(caught, [...new Set(caught)].sort());
  t.deepEqual(
    caught.filter((id) => !ids.includes(id)),
    [],
  );
});
