import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check, formatFaults } from '../../../src/commands/check.ts';
import { POLICY_PATHS } from '../../../src/review/policy/paths.ts';
import { runCommand } from '../../helpers/run-command.ts';
import test from '../../helpers/test.ts';

async function run(args: readonly string[], stdin = '', folder = '.') {
  const { code, stdout: out, stderr: err } = await runCommand(check, args, { folder, input: stdin });
  return { code, out, err };
}

async function folder(t: { teardown(done: () => Promise<void>): void }): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gatehouse-check-'));
  t.teardown(() => rm(path, { recursive: true }));
  return path;
}

const VALID = 'version: 1\nrules:\n  - { id: a, require: { draft: false } }\n';

test('a valid file is 0, and says how many rules it has', async (t) => {
  for (const [text, said] of [
    [VALID, 'valid, 1 rule'],
    [`${VALID}  - { id: b, level: observe, require: { draft: false } }\n`, 'valid, 2 rules (1 only observed)'],
    [
      'version: 1\nextends: octo/policies@main\n',
      'valid, 0 rules, and those of octo/policies@main, which were not checked',
    ],
  ] as const) {
    t.deepEqual(await run(['-'], text), { code: 0, out: `<stdin>: ${said}\n`, err: '' });
  }
});

test('faults are 1, and printed as compilers do', async (t) => {
  const path = join(await folder(t), 'policy.yml');
  const text = "version: 1\nrules:\n  - id: a\n    requires: { title: x }\n  - id: b\n    forbid: { title: '(' }\n";
  await writeFile(path, text);
  const { out, ...ended } = await run([path]);
  t.deepEqual(ended, { code: 1, err: '' });
  t.is(
    out,
    `${path}:4:5: unknown key "requires"; did you mean "require"?
  4 |     requires: { title: x }
    |     ^
${path}:6:22: not a valid RE2 pattern: missing closing ): \`(\`
  6 |     forbid: { title: '(' }
    |                      ^
`,
  );
});

test('a file that cannot be read is 2', async (t) => {
  const missing = join(await folder(t), 'missing.yml');
  const { err, ...ended } = await run([missing]);
  t.deepEqual(ended, { code: 2, out: '' });
  t.regex(err, /^gatehouse check: cannot read .*missing\.yml: ENOENT/);
});

test('--baseline accepts locked rules, which are faults in any other policy', async (t) => {
  const locked = 'version: 1\nrules: [{ id: small, locked: true, require: { draft: false } }]\n';
  t.is((await run(['-', '--baseline'], locked)).code, 0);
  const { code, out } = await run(['-'], locked);
  t.is(code, 1);
  t.regex(out, /"locked" has an effect only in the organisation’s policy repository/);
});

test('--schema prints the JSON Schema', async (t) => {
  const { code, out } = await run(['--schema']);
  t.is(code, 0);
  t.true(JSON.parse(out).$schema.startsWith('http://json-schema.org/'));
});

test('without a file, the first policy file in the folder is taken', async (t) => {
  const here = await folder(t);
  t.regex((await run([], '', here)).err, /no policy file here; looked for \.gatehouse\.yml, /);
  await mkdir(join(here, '.gitea'));
  await writeFile(join(here, '.gitea/gatehouse.yml'), VALID);
  t.is((await run([], '', here)).out, '.gitea/gatehouse.yml: valid, 1 rule\n');
  await writeFile(join(here, '.gatehouse.yml'), VALID);
  t.is((await run([], '', here)).out, '.gatehouse.yml: valid, 1 rule\n');
});

test('a file with nearly the right name is a fault, and the right name is said', async (t) => {
  const here = await folder(t);
  await mkdir(join(here, '.github'));
  await mkdir(join(here, 'deep'));
  for (const [name, meant] of [
    ['.gatehouse.yaml', '.gatehouse.yml'],
    ['.github/.gatehouse.yml', '.github/gatehouse.yml'],
  ] as const) {
    const path = join(here, name);
    await writeFile(path, VALID);
    const said = `${name}:1:1: Gatehouse doesn’t read a file with this name: rename it to ${meant}\n`;
    for (const given of [name, `./${name}`, path]) {
      t.deepEqual(await run([given], '', here), { code: 1, out: said, err: '' }, given);
    }
    const { code, err } = await run([], '', here);
    t.is(code, 2);
    t.true(err.endsWith(`no policy file here; looked for ${POLICY_PATHS.join(', ')}\n${said}`), err);
    await rm(path);
  }
  await writeFile(join(here, '.github/gatehouse.yml'), VALID);
  await mkdir(join(here, '.git'));
  t.is((await run(['gatehouse.yml'], '', join(here, '.github'))).code, 0, 'seen from the root of the repository');
  await writeFile(join(here, 'deep/gatehouse.yml'), VALID);
  t.is((await run(['deep/gatehouse.yml'], '', here)).code, 0, 'an operator’s policy may be called so');
  await writeFile(join(here, 'gatehouse.yaml'), VALID);
  await writeFile(join(here, '.gatehouse.yml'), VALID);
  t.is((await run([], '', here)).out, '.gatehouse.yml: valid, 1 rule\n');
});

test('standard input is read no further than its limit', async (t) => {
  const { code, out } = await run(['-'], `#${'x'.repeat(1_000_000)}`);
  t.is(code, 1);
  t.regex(out, /the file is too large/);
});

test('the source line is printed without control characters, with a correct caret', (t) => {
  const fault = { file: 'p', line: 1, column: 4, message: 'm' };
  t.is(formatFaults([fault], '\u001b: x\n'), 'p:1:4: m\n  1 | \\u{1b}: x\n    |         ^\n');
});
