import { randomBytes } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { dropOldPartitions } from '../../src/audit/drop-partitions.ts';
import { saveMerge } from '../../src/audit/merges.ts';
import { recordPosting } from '../../src/audit/record-posting.ts';
import { copyVerdict, readRecorded, recordVerdict } from '../../src/audit/record-verdict.ts';
import type { VerdictRecord } from '../../src/audit/verdict-record.ts';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { statusDescription } from '../../src/forges/port/postings.ts';
import { makeLog } from '../../src/log.ts';
import { addMonth, MERGED, PASSED, partitions, TABLES } from '../helpers/audit.ts';
import { makeDatabase, makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { onOneDay } from '../helpers/days.ts';
import ava from '../helpers/test.ts';

const test = (title: string, body: (t: ExecutionContext) => Promise<void>) => ava.serial(title, onOneDay(body));

const TIMEOUT_MS = 60_000;
const ASKED = new Date('2026-01-02T03:04:05Z');
const POLICY = { digest: 'c'.repeat(64), path: '.gatehouse.yml', text: 'version: 1\n' };

async function withRecord(work: (pool: pg.Pool, url: string) => Promise<void>): Promise<void> {
  const database = await makeMigratedDatabase();
  const pool = openPool(database.url);
  try {
    await work(pool, database.url);
  } finally {
    await pool.end();
    await database.drop();
  }
}

/** The same, as a role that owns the database and is no superuser: the service's own. */
async function asService(work: (pool: pg.Pool) => Promise<void>): Promise<void> {
  const database = await makeDatabase();
  const admin = openPool(database.url);
  const role = `service_${randomBytes(4).toString('hex')}`;
  const url = new URL(database.url);
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'a password'`);
  await admin.query(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${role}`);
  url.username = role;
  url.password = 'a password';
  await migrateStores(url.href);
  const pool = openPool(url.href);
  try {
    await work(pool);
  } finally {
    await pool.end();
    await admin.query(`REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP ROLE ${role}`);
    await admin.end();
    await database.drop();
  }
}

function record(pool: pg.Pool, verdict: VerdictRecord): Promise<void> {
  return inTransaction(pool, TIMEOUT_MS, (client) =>
    recordVerdict(client, verdict, { askedAt: ASKED, texts: [POLICY] }),
  );
}

function post(pool: pg.Pool, state: 'success' | 'failure'): Promise<void> {
  const status = { context: 'gatehouse/main', state, description: statusDescription('a description') };
  return inTransaction(pool, TIMEOUT_MS, (client) => recordPosting(client, 'acme/widgets', 'a'.repeat(40), status));
}

async function count(pool: pg.Pool, table: string): Promise<number> {
  return (await pool.query(`SELECT FROM gatehouse.${table}`)).rowCount ?? 0;
}

const FAILED: VerdictRecord = {
  ...PASSED,
  state: 'failure',
  rules: (PASSED.rules ?? []).map((rule) => ({ ...rule, outcome: 'failed' })),
};

/** A row in each table. */
async function fill(pool: pg.Pool): Promise<void> {
  await record(pool, FAILED);
  await post(pool, 'failure');
  await saveMerge(pool, MERGED, 400);
}

const changesOf = (table: string) => [
  `UPDATE ${table} SET ${table.includes('texts') ? 'path' : 'repository'} = ''`,
  `DELETE FROM ${table}`,
  `DELETE FROM ${table} WHERE false`,
  `TRUNCATE ${table}`,
];

test('no row can be changed, by the owner of the tables or with every privilege', async (t) => {
  await asService(async (pool) => {
    await fill(pool);
    const tables = [...TABLES.map((table) => `gatehouse.${table}`), ...(await partitions(pool))];
    t.is(tables.length, 2 * TABLES.length);
    const refuses = async (message: RegExp) => {
      for (const statement of tables.flatMap(changesOf)) {
        await t.throwsAsync(pool.query(statement), { code: '42501', message }, statement);
      }
    };
    await refuses(/permission denied/);
    // Then it is a trigger that refuses.
    await pool.query(`GRANT ALL ON ${tables.join(', ')} TO CURRENT_USER`);
    await refuses(/append-only/);
    for (const table of TABLES) {
      t.is(await count(pool, table), 1, table);
    }
  });
});

test('the role that owns the tables adds rows, makes partitions and drops them', async (t) => {
  await asService(async (pool) => {
    t.deepEqual(await partitions(pool), []);
    await fill(pool);
    t.is((await partitions(pool)).length, TABLES.length);
    await dropOldPartitions(pool, 0, makeLog('silent'));
    t.deepEqual(await partitions(pool), []);
    await fill(pool);
    t.is(await count(pool, 'audit_verdicts'), 1);
  });
});

test('a verdict of an earlier month is copied for a merge group once, with its texts', async (t) => {
  await withRecord(async (pool) => {
    await record(pool, { ...PASSED, pullRequest: 2 });
    await addMonth(pool, '2026_01');
    const earlier = { answered_at: '2026-01-02T03:04:05Z', pull_request: 1, policy_digest: 'd'.repeat(64) };
    const { rows } = await pool.query<{ digest: Buffer }>(
      `INSERT INTO gatehouse.audit_verdicts
       SELECT (jsonb_populate_record(v, $1)).* FROM gatehouse.audit_verdicts v RETURNING digest`,
      [earlier],
    );
    await pool.query("INSERT INTO gatehouse.audit_texts VALUES ('2026-01-01', repeat('d', 64), 'a', 'earlier')");
    const ref = { repository: 'Acme/widgets', number: 1 };
    const copy = (enforced: boolean, digest = rows[0]?.digest ?? Buffer.of()) => {
      const group = { askedAt: ASKED, mergeGroupSha: 'e'.repeat(40), enforced };
      return inTransaction(pool, TIMEOUT_MS, (client) => copyVerdict(client, ref, digest, group));
    };
    await copy(true);
    await copy(true);
    await copy(false);
    const gone = copy(true, Buffer.of(1));
    await t.throwsAsync(gone, { message: /the record has the verdict on \S+#1 no more/ });
    const copied = await pool.query(
      `SELECT repository, head_sha, enforced, policy_digest AS policy, asked_at = $1 AND answered_at > $1 AS now
         FROM gatehouse.audit_verdicts WHERE pull_request = 1 AND merge_group_sha = $2 ORDER BY answered_at`,
      [ASKED, 'e'.repeat(40)],
    );
    const { repository, headSha: head_sha } = PASSED;
    const row = { repository, head_sha, policy: 'd'.repeat(64), now: true };
    t.deepEqual(copied.rows, [
      { ...row, enforced: true },
      { ...row, enforced: false },
    ]);
    const texts = await pool.query('SELECT month FROM gatehouse.audit_texts WHERE digest = $1', ['d'.repeat(64)]);
    t.is(texts.rowCount, 2);
  });
});

test('a verdict or a status that differs in nothing but the time adds no row', async (t) => {
  await withRecord(async (pool) => {
    await record(pool, PASSED);
    await record(pool, PASSED);
    t.is(await count(pool, 'audit_verdicts'), 1);
    const differing = [{ headSha: 'd'.repeat(40) }, { pullRequest: 2 }, { mergeGroupSha: 'e'.repeat(40) }, {}];
    for (const difference of differing) {
      await record(pool, { ...PASSED, ...difference });
    }
    t.is(await count(pool, 'audit_verdicts'), 5);
    t.is(await count(pool, 'audit_texts'), 1);
    for (const state of ['failure', 'failure', 'success', 'failure'] as const) {
      await post(pool, state);
    }
    const { rows } = await pool.query('SELECT state FROM gatehouse.audit_postings ORDER BY posted_at');
    t.deepEqual(rows, [{ state: 'failure' }, { state: 'success' }, { state: 'failure' }]);
  });
});

test('ten first verdicts of a month at once are all recorded', async (t) => {
  await withRecord(async (pool, url) => {
    const pools = Array.from({ length: 10 }, () => openPool(url));
    await Promise.all(pools.map((one, index) => record(one, { ...PASSED, pullRequest: index + 1 })));
    await Promise.all(pools.map((one) => one.end()));
    t.is(await count(pool, 'audit_verdicts'), 10);
    t.is(await count(pool, 'audit_texts'), 1);
    t.is((await partitions(pool)).length, TABLES.length);
  });
});

/** A function of this name in `public` comes before PostgreSQL's own. */
const BEFORE_THE_MONTH_ENDS = (interval: string) => `
  CREATE OR REPLACE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT date_trunc('month', date_trunc('month', pg_catalog.now(), 'UTC') + interval '32 days', 'UTC') - interval '${interval}' $$;
  SET search_path = public, pg_catalog`;

test('a verdict recorded after the turn of a month never lacks its texts', async (t) => {
  await withRecord(async (pool) => {
    await record(pool, PASSED);
    const stored = async (interval: string) => {
      const client = await pool.connect();
      try {
        await client.query(BEFORE_THE_MONTH_ENDS(interval));
        return (await readRecorded(client, PASSED, [POLICY])).texts;
      } finally {
        client.release(true);
      }
    };
    t.deepEqual(await stored('1 second'), []);
    t.deepEqual(await stored('2 hours'), [POLICY.digest]);
  });
});

test('a verdict is recorded while somebody reads the record', async (t) => {
  await withRecord(async (pool, url) => {
    const reader = openPool(url);
    const client = await reader.connect();
    await client.query('BEGIN');
    await client.query('SELECT FROM gatehouse.audit_verdicts, gatehouse.audit_texts');
    await record(pool, PASSED);
    await client.query('ROLLBACK');
    client.release();
    await reader.end();
    t.is(await count(pool, 'audit_verdicts'), 1);
  });
});

test('retention drops the months that ended too long ago, and no other', async (t) => {
  await withRecord(async (pool) => {
    const { rows } = await pool.query<{ month: string }>(
      `SELECT to_char(now() AT TIME ZONE 'UTC' - make_interval(months => i), 'YYYY_MM') AS month
         FROM unnest('{1, 2, 15}'::int[]) AS i`,
    );
    // Fifteen months ago ended more than 400 days ago on each day of a year, fourteen months ago on most of them.
    const [last = '', beforeLast = '', old = ''] = rows.map(({ month }) => month);
    for (const month of [last, beforeLast, old]) {
      await addMonth(pool, month);
    }
    await fill(pool);
    await pool.query('CREATE TABLE gatehouse.audit_verdicts_by_hand PARTITION OF gatehouse.audit_verdicts DEFAULT');
    const had = await partitions(pool);
    await dropOldPartitions(pool, 400, makeLog('silent'));
    t.deepEqual(
      await partitions(pool),
      had.filter((name) => !name.endsWith(old)),
    );
    // The month before the present one ended less than 31 days ago, the one before that more than 27.
    await dropOldPartitions(pool, 31, makeLog('silent'));
    t.true((await partitions(pool)).some((name) => name.endsWith(last)));
    await dropOldPartitions(pool, 1, makeLog('silent'));
    t.is(await count(pool, 'audit_verdicts'), 1);
  });
});
