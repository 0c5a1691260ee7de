import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { translate as command } from '../../translate/translate.ts';
import { runAlone } from '../helpers/run-command.ts';

async function translate(kind: string, text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-translate-'));
  try {
    await writeFile(join(folder, 'old.yml'), text);
    return await runAlone(command, [kind, 'old.yml'], { folder });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('translate prints a policy on standard output, and nothing else there', async (t) => {
  const { code, stdout, stderr } = await translate(
    'policy-bot',
    `policy: { approval: [reviewed] }
approval_rules:
  - name: reviewed
    description: Somebody of the core team has looked at it.
    if: { changed_files: { paths: ['^src/.*\\.ts$'] } }
    options: { methods: { comments: [] } }
    requires: { count: 1, teams: [octo/core] }
`,
  );
  t.is(code, 0, stderr);
  t.is(
    stdout,
    `# Translated from policy-bot. The lines that comments name are those of its file.
version: 1
rules:
  - id: reviewed
    require: { files: src/**/*.ts, approvals: { count: 1, from: '@octo/core' } }
    message: Somebody of the core team has looked at it.
`,
  );
  t.is(
    stderr,
    'old.yml: every line has an equal. Judge merged pull requests by the policy before you use it: gatehouse backtest\n',
  );
});

test('translate tells each line without an equal, in the report and in the policy', async (t) => {
  const { code, stdout, stderr } = await translate(
    'mergeable',
    `version: 2
mergeable:
  - when: pull_request.*
    validate:
      - do: age
        created_at: { days: 1 }
      - do: title
        must_include: { regex: '^feat' }
    pass:
      - do: merge
`,
  );
  t.is(code, 1);
  t.true(stdout.includes('# Line 5: It asked how old the pull request is. No rule depends on the time. Remove it.\n'));
  t.true(stdout.includes('# Line 10: It merged the pull request.'));
  t.regex(stderr, /^old\.yml:5: no equal: It asked how old the pull request is\. No rule depends on the time/m);
  t.regex(stderr, /^old\.yml:10: no equal: It merged the pull request\./m);
  t.regex(stderr, /^old\.yml: 2 without an equal\. /m);
});

test('translate tells the line of what is no YAML, too deep, too large or given twice', async (t) => {
  for (const [text, message] of [
    ['policy: [\n', /^old\.yml:2:1: not valid YAML: /],
    ['a: 1\na: 2\n', /^old\.yml:2:1: the key "a" is given twice\n/],
    [`${'['.repeat(40)}\n`, /^old\.yml:1:33: nested deeper than 32 levels\n/],
    [`a: "${'x'.repeat(70_000)}"\n`, /^old\.yml:1:1: the file is too large: /],
    ['', /^old\.yml:1:1: the file is empty\n/],
    [`a: &a [${'x,'.repeat(99)}]\nb: [${'*a,'.repeat(60)}]\n`, /^old\.yml:2:\d+: more than 50 uses of aliases/],
  ] as const) {
    const { code, stdout, stderr } = await translate('policy-bot', text);
    t.is(code, 1, stderr);
    t.is(stdout, '');
    t.regex(stderr, message);
  }
});

test('translate prints no policy that Gatehouse does not accept, and says why', async (t) => {
  const rules = Array.from(
    { length: 120 },
    (_, index) => `      - { do: title, must_include: { regex: 'a${index}' } }\n`,
  );
  const source = `version: 2\nmergeable:\n  - when: pull_request.*\n    validate:\n${rules.join('')}`;
  const { code, stdout, stderr } = await translate('mergeable', source);
  t.is(code, 1);
  t.is(stdout, '');
  t.regex(stderr, /^old\.yml: the policy that it becomes is not accepted:\n<policy>:\d+:\d+: .*at most 100 rules/);
});

test('no text of the file gets out of the comments and the report of its translation', async (t) => {
  const name = '"r\\nrules: []\\u001b[31m\\u202e"';
  const source = `policy: { approval: [${name}] }
approval_rules:
  - name: ${name}
    requires: { count: 1, users: [bob], ${name}: 1 }
`;
  const { code, stdout, stderr } = await translate('policy-bot', source);
  t.is(code, 1);
  t.deepEqual(stdout.match(/^rules:.*/gm), ['rules:']);
  t.false(['\u001b', '\u202e'].some((mark) => (stdout + stderr).includes(mark)));
});

test('translate refuses an unknown kind, and names a file that it cannot read', async (t) => {
  t.is((await runAlone(command, ['danger', 'x'])).code, 64);
  t.is((await runAlone(command, ['dco'])).code, 64);
  const { code, stderr } = await runAlone(command, ['dco', '/no/such/file']);
  t.is(code, 2);
  t.regex(stderr, /^gatehouse-translate: cannot read \/no\/such\/file: ENOENT/);
});
