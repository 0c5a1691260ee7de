import { readdir, readFile } from 'node:fs/promises';
import { setup } from '../../../src/commands/setup/setup.ts';
import { FORGE_NAMES, FORGES } from '../../../src/forges/port/forges.ts';
import test from '../../helpers/test.ts';

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** An `if` for one forge takes every other one, and every future one, for the same: see FORGES. */
const COMPARISON = new RegExp(`[!=]==? ['"](?:${FORGE_NAMES.join('|')})['"]`);

test('a forge is never guessed: outside the adapters no code compares its name', async (t) => {
  t.regex("name === 'github'", COMPARISON);
  const files = (await readdir(new URL('../../../src', import.meta.url), { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !/^forges\/(?:github|gitea)\//.test(file),
  );
  t.true(files.length > 100, 'the files were found');
  for (const file of files) {
    t.notRegex(await read(`src/${file}`), COMPARISON, file);
  }
});

test('the help of setup names every forge', async (t) => {
  const { help } = setup;
  for (const name of FORGE_NAMES) {
    t.regex(help, new RegExp(`--forge <name> .*\\b${name}\\b`));
    t.regex(help, new RegExp(`^  .*\\b${FORGES[name].title}\\b`, 'm'));
  }
});

for (const name of FORGE_NAMES) {
  const { title, headers, policyPath } = FORGES[name];

  test(`${name}: the documents name the forge, its setting, headers and policy path`, async (t) => {
    const [connect, rules, settings] = await Promise.all([
      read(name === 'github' ? 'docs/connect-github.md' : 'docs/connect-gitea.md'),
      read('docs/rules.md'),
      read('docs/settings.md'),
    ]);
    t.regex(connect, new RegExp(`^# .*\\b${title}\\b`, 'm'));
    t.true(settings.includes(`\`${name}\``), 'the values of FORGE');
    t.true(rules.includes(`\`${policyPath}\``));
    t.true(headers.event.includes('x-forge-event') && headers.delivery.includes('x-forge-delivery'));
  });
}
