import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { test as testCommand } from '../../src/commands/test.ts';
import { SETTINGS } from '../../src/config/config.ts';
import { runCommand } from '../helpers/run-command.ts';
import test from '../helpers/test.ts';

/** The policy of this repository. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('the cases of the repository’s own policy pass, and cover every rule', async (t) => {
  const { code, stdout, stderr } = await runCommand(testCommand, ['--json'], { folder: ROOT });
  t.is(code, 0, stdout + stderr);
  t.deepEqual(JSON.parse(stdout).uncovered, []);
});

test('the repository’s own policy recognises every setting that there is', async (t) => {
  const { rules } = parse(await readFile(join(ROOT, '.gatehouse.yml'), 'utf8'));
  const { when } = rules.find(({ id }: { id: string }) => id === 'document-settings');
  const lines = (await readFile(join(ROOT, when.in[0]), 'utf8')).split('\n');
  const found = lines.filter((line) => new RegExp(when.added_lines).test(line));
  for (const name of Object.values(SETTINGS).flatMap(Object.keys)) {
    t.true(
      found.some((line) => line.includes(`${name}: `)),
      name,
    );
  }
});
