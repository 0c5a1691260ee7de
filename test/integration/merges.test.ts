import { type MergeRow, saveMerge } from '../../src/audit/merges.ts';
import { MERGED } from '../helpers/audit.ts';
import { makeMigratedDatabase, openPool, WAITING_FOR_A_LOCK } from '../helpers/database.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

const test = ava.serial;

const DAYS = 400;
const { mergedAt: AN_HOUR_AGO } = MERGED;
const SHOWN_TIME = AN_HOUR_AGO.toISOString().replace('T', ' ').replace('.000', '');

const OVERRIDDEN: MergeRow = {
  ...MERGED,
  mergedAt: new Date(AN_HOUR_AGO.getTime() + 1_000),
  pullRequest: 2,
  baseBranch: '=cmd()',
  outcome: 'overridden',
  overrides: [{ rule: 'title', login: 'ada', reason: 'urgent, "now"', comment: '7', at: '2026-01-02T03:04:05Z' }],
};
const DIRECT: MergeRow = {
  ...MERGED,
  mergedAt: new Date(AN_HOUR_AGO.getTime() + 2_000),
  repositoryId: '8',
  repository: 'acme/gadgets',
  pullRequest: null,
  headSha: null,
  outcome: 'direct',
  verdict: null,
};

const database = await makeMigratedDatabase();
const WORKERS = 5;
const pool = openPool(database.url, WORKERS + 2);
ava.after.always(() => pool.end());

ava.before(async (t) => {
  for (const row of [MERGED, OVERRIDDEN, DIRECT]) {
    t.true(await saveMerge(pool, row, DAYS));
  }
});

const run = (...args: readonly string[]) => runGatehouse(['merges', ...args], { env: { DATABASE_URL: database.url } });

test('a merge is recorded once, a pull request by its repository’s id', async (t) => {
  t.false(await saveMerge(pool, { ...MERGED, repository: 'acme/renamed', outcome: 'bypassed' }, DAYS));
  t.false(await saveMerge(pool, DIRECT, DAYS));
  t.false(await saveMerge(pool, { ...MERGED, pullRequest: 9, mergedAt: new Date('2020-01-01') }, DAYS), 'too old');
  t.is((await run('--since', '2019-01-01', '--json')).stdout.trim().split('\n').length, 3);
});

test('merges prints a table, the oldest first', async (t) => {
  const { stdout, code } = await run();
  t.is(code, 0);
  const [head, ...rows] = stdout.trimEnd().split('\n');
  t.regex(head ?? '', /^TIME +REPOSITORY +BRANCH +COMMIT +OUTCOME +PULL +BY +VERDICT +OVERRIDDEN$/);
  t.is(rows.length, 3);
  t.true(rows[0]?.startsWith(`${SHOWN_TIME}  acme/widgets  main    ${'b'.repeat(10)}  passed `));
  t.regex(rows[1] ?? '', /overridden +#2 +bob +success +title by ada: urgent, "now"$/);
  t.regex(rows[2] ?? '', /acme\/gadgets .* direct +bob$/);
});

test('merges takes a repository in any case, a time, and says when there is nothing', async (t) => {
  t.is((await run('ACME/Gadgets')).stdout.trim().split('\n').length, 2);
  t.deepEqual(await run('--since', '1m'), { code: 0, stdout: '', stderr: 'Nothing was merged.\n' });
});

test('merges as JSON has everything, and as CSV no field is a formula', async (t) => {
  const lines = (await run('--json')).stdout.trimEnd().split('\n');
  t.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [MERGED, OVERRIDDEN, DIRECT].map((row) => ({ ...row, mergedAt: row.mergedAt.toISOString() })),
  );
  const csv = (await run('acme/widgets', '--csv')).stdout.split('\r\n');
  t.is(csv[0], 'time,repository,branch,commit,outcome,pull,by,verdict,overridden');
  t.true(csv[2]?.includes(`,'=cmd(),${'b'.repeat(40)},overridden,#2,bob,success,"title by ada: urgent, ""now"""`));
});

test('report counts merges by outcome', async (t) => {
  const { stdout } = await runGatehouse(['report'], { env: { DATABASE_URL: database.url } });
  t.regex(stdout, /^OUTCOME +MERGES\ndirect +1\noverridden +1\npassed +1\n$/);
});

test('a merge that many record at once is recorded once', async (t) => {
  const row = { ...MERGED, repository: 'acme/busy', repositoryId: '9', pullRequest: 4 };
  const holder = await pool.connect();
  await holder.query('BEGIN; LOCK TABLE gatehouse.merges IN SHARE MODE');
  const saving = Promise.all(Array.from({ length: WORKERS }, () => saveMerge(pool, row, DAYS)));
  await eventually('all wait', async () => (await pool.query(`SELECT ${WAITING_FOR_A_LOCK}`)).rowCount === WORKERS);
  await holder.query('COMMIT');
  holder.release();
  const saved = await saving;
  t.is(saved.filter(Boolean).length, 1);
  t.is((await run('acme/busy')).stdout.trimEnd().split('\n').length, 2);
});
