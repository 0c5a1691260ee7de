import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';
import test from '../helpers/test.ts';
import { FAULTS, type Fault, plant } from '../planted/faults.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const ids = FAULTS.map(({ id }) => id);

test('no two planted faults have one id', (t) => {
  t.deepEqual(ids, [...new Set(ids)]);
});

test('the place of each planted fault is there once', (t) => {
  t.deepEqual(FAULTS.flatMap(problemsOf), []);
});

function problemsOf(fault: Fault): readonly string[] {
  const { id, title, file, tests } = fault;
  if (title === '' || tests.length === 0) {
    return [`${id}: has no title, or no tests`];
  }
  const missing = tests.filter((name) => !existsSync(join(ROOT, name))).map((name) => `${id}: there is no ${name}`);
  if (!file.startsWith('src/')) {
    return [...missing, `${id}: ${file} is not in src`];
  }
  try {
    const planted = plant(fault, read(file));
    // A fault that is no program would be caught by any test.
    const isSound = planted !== read(file) && parseSync(file, planted).errors.length === 0;
    return isSound ? missing : [...missing, `${id}: what is planted is the same, or no program`];
  } catch (error) {
    return [...missing, String(error)];
  }
}
