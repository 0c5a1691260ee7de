import { readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { type MergeRow, saveMerge } from '../../src/audit/merges.ts';
import { recordPosting } from '../../src/audit/record-posting.ts';
import { recordVerdict } from '../../src/audit/record-verdict.ts';
import type { RecordedRule, VerdictRecord } from '../../src/audit/verdict-record.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { statusDescription } from '../../src/forges/port/postings.ts';
import { PASSED, recordAsText } from '../helpers/audit.ts';
import { makeOpenDatabase } from '../helpers/database.ts';
import { gatehouse } from '../helpers/process.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;

const TIMEOUT_MS = 60_000;
const HEAD = 'a'.repeat(40);
const POLICY = { digest: 'c'.repeat(64), path: '.gatehouse.yml', text: 'version: 1 # octocat\n' };
const URL_OF_PR = 'https://git.example.com/forge/acme/widgets/pulls/1/files#diff';

const rule = (id: string, outcome: RecordedRule['outcome']): RecordedRule => ({
  id,
  outcome,
  level: 'error',
  source: { path: '.gatehouse.yml', line: 3 },
});

const FAILED: VerdictRecord = {
  ...PASSED,
  author: 'octocat',
  state: 'failure',
  description: 'Waiting for 1 approval from octocat, not from octocat-2',
  rules: [
    {
      ...rule('no-keys', 'failed'),
      reasons: [{ predicate: 'added_lines', wanted: false, expected: 'a line that matches …', found: '1 such line' }],
      places: [{ path: 'src/a.ts', line: 7 }],
      leftOut: 2,
    },
    rule('title', 'passed'),
  ],
  approvals: [
    { login: 'Octocat', sha: HEAD, at: '2026-01-02T03:04:05Z', mayWrite: 'yes', bot: false },
    { login: 'bob', sha: HEAD, at: '2026-01-02T03:04:05Z', mayWrite: 'no', bot: false },
  ],
  overrides: [{ rule: 'title', login: 'octocat', reason: 'hotfix 4711', comment: '7', at: '2026-01-02T03:04:05Z' }],
};

const OVERRIDDEN_MERGE: MergeRow = {
  mergedAt: new Date(),
  repositoryId: '7',
  repository: 'acme/widgets',
  pullRequest: 1,
  baseBranch: 'main',
  headSha: HEAD,
  mergeSha: 'b'.repeat(40),
  mergedBy: 'Octocat',
  outcome: 'overridden',
  verdict: 'success',
  overrides: FAILED.overrides,
};

/** Two verdicts on a pull request, what was posted of them, and one on another pull request. */
async function fill(pool: pg.Pool): Promise<void> {
  const record = (verdict: VerdictRecord) =>
    inTransaction(pool, TIMEOUT_MS, (client) =>
      recordVerdict(client, verdict, { askedAt: new Date('2026-01-02T03:04:05Z'), texts: [POLICY] }),
    );
  const post = ({ state, description }: VerdictRecord) =>
    inTransaction(pool, TIMEOUT_MS, (client) =>
      recordPosting(client, 'acme/widgets', HEAD, {
        context: 'gatehouse/main',
        state: state === 'none' ? 'success' : state,
        description: statusDescription(description),
      }),
    );
  await record(FAILED);
  await post(FAILED);
  await record({ ...PASSED, rules: [rule('no-keys', 'passed'), rule('title', 'passed')] });
  await post(PASSED);
  await record({ ...PASSED, repository: 'acme/gadgets', headSha: 'e'.repeat(40), rules: [rule('title', 'failed')] });
}

async function openRecord(t: ExecutionContext) {
  const { url, pool } = await makeOpenDatabase(t);
  await fill(pool);
  return { url, pool };
}

/** A process, which has to end by itself. */
const runProcess = (url: string, args: readonly string[]) => gatehouse(args, { DATABASE_URL: url }).ended();
const run = (url: string, args: readonly string[]) => runGatehouse(args, { env: { DATABASE_URL: url } });

test('audit prints the history of a pull request for people, oldest first', async (t) => {
  const { url } = await openRecord(t);
  const { code, stdout, stderr } = await runProcess(url, ['audit', URL_OF_PR]);
  t.deepEqual([code, stderr], [0, '']);
  t.snapshot(stdout.replaceAll(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/gm, 'THE TIME'));
});

test('audit lists rows of a repository and a time as JSON, newest first', async (t) => {
  const { url } = await openRecord(t);
  const list = async (...args: readonly string[]) => {
    const { stdout } = await run(url, ['audit', '--json', ...args]);
    const entries = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    return entries.map(({ kind, state, repository }) => `${kind} ${state} ${repository}`);
  };
  const widgets = [
    'posting success acme/widgets',
    'verdict success acme/widgets',
    'posting failure acme/widgets',
    'verdict failure acme/widgets',
  ];
  t.deepEqual(await list('--since', '1d'), ['verdict success acme/gadgets', ...widgets]);
  t.deepEqual(await list('--since', '1d', '--repository', 'ACME/widgets'), widgets);
  t.deepEqual(await list('--until', '1d'), []);
});

test('audit says when there are more rows than the limit, and when nothing is found', async (t) => {
  const { url } = await openRecord(t);
  const { stdout, stderr } = await run(url, ['audit', '--since', '1d', '--limit', '2']);
  t.is(stdout.trim().split('\n').length, 3);
  t.regex(stderr, /the newest 2 rows; there are more/);
  const none = await run(url, ['audit', 'https://github.com/acme/widgets/pull/99']);
  t.deepEqual(none, { code: 0, stdout: '', stderr: 'Nothing is recorded.\n' });
  t.is((await run(url, ['audit', '--text', POLICY.digest])).stdout, POLICY.text);
  const unknown = await run(url, ['audit', '--text', 'f'.repeat(64)]);
  t.is(unknown.code, 1);
  t.regex(unknown.stderr, /no text with this digest is recorded/);
});

/** How long this test took between two verdicts, in seconds, is up to the machine. */
function withoutOwnTime(stdout: string): string {
  return stdout.replace(/\ds( +)\ds$/m, '0s$10s');
}

test('report counts what rules did, and apart from them what observed rules would have done', async (t) => {
  const { url, pool } = await openRecord(t);
  await pool.query(
    `INSERT INTO gatehouse.audit_rule_changes (repository, pull_request, rule, change, seconds)
     VALUES ('acme/widgets', 8, 'slow', 'passed', 93784), ('acme/widgets', 9, 'slow', 'passed', 60),
            ('acme/widgets', 8, 'small', 'would-pass', NULL), ('acme/widgets', 8, 'small', 'would-fail', NULL),
            ('ACME/widgets', 8, 'small', 'would-fail', NULL), ('acme/widgets', 9, 'small', 'not-judged', NULL),
            ('acme/gadgets', 8, 'review', 'would-wait', NULL)`,
  );
  const { code, stdout } = await run(url, ['report', '--limit', '3']);
  t.is(code, 0);
  t.is(
    withoutOwnTime(stdout),
    'RULE     FAILED  OVERRIDDEN  PASSED AFTERWARDS  MEDIAN TIME  LONGEST TIME\n' +
      'no-keys  1       0           1                  0s           0s\n' +
      'title    1       1           0                  -            -\n' +
      'slow     0       0           2                  13h 2m       1d 2h\n' +
      '\n' +
      'OBSERVED RULE  PULL REQUESTS  WOULD FAIL  WOULD WAIT  NOT JUDGED\n' +
      'small          2              1           0           1\n' +
      'review         1              0           1           0\n',
  );
  const limited = await run(url, ['report', '--limit', '1']);
  t.deepEqual(limited.stdout.match(/^[a-z-]+/gm), ['no-keys', 'small']);
  const { stdout: json } = await run(url, ['report', '--json', '--repository', 'acme/gadgets']);
  const [title, review, ...more] = json.trim().split('\n');
  t.is(JSON.parse(title ?? '').rule, 'title');
  const counts = { pullRequests: 1, wouldFail: 0, wouldWait: 1, notJudged: 0 };
  t.deepEqual(JSON.parse(review ?? ''), { rule: 'review', observed: true, ...counts });
  t.deepEqual(more, []);
});

test('the commands of docs/operations.md erase a login, and nothing stays writable', async (t) => {
  const { pool } = await openRecord(t);
  await saveMerge(pool, OVERRIDDEN_MERGE, 400);
  const docs = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const [, script = ''] =
    /### Erase a person's login[\s\S]*?```sql\n\\set login 'octocat'\n([\s\S]*?)```/.exec(docs) ?? [];
  t.true(script.length > 0);
  await pool.query(script.replaceAll(":'login'", "'octocat'"));
  const text = await recordAsText(pool);
  t.notRegex(text, /octocat(?!-2)/i);
  t.regex(text, /"author":"erased"/);
  t.regex(text, /"merged_by":"erased"/);
  t.regex(text, /"login": ?"erased"/);
  t.regex(text, /Waiting for 1 approval from erased, not from octocat-2/);
  t.regex(text, /"login": ?"bob"/);
  await t.throwsAsync(pool.query("UPDATE gatehouse.audit_verdicts SET author = ''"), { code: '42501' });
  await t.throwsAsync(pool.query("UPDATE gatehouse.merges SET merged_by = ''"), { code: '42501' });
});
