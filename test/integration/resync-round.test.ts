import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import type { Forge } from '../../src/forges/port/forge.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import type { ChangeList, ListedRepository } from '../../src/forges/port/many-repositories.ts';
import { makeReplay } from '../../src/jobs/queue/replay.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { beginRound } from '../../src/jobs/resync/due-repositories.ts';
import { readPresentRules } from '../../src/jobs/resync/other-rules.ts';
import { recoverDeliveries } from '../../src/jobs/resync/recover-deliveries.ts';
import { type ResyncDeps, resync } from '../../src/jobs/resync/resync.ts';
import { isDue, recordDone } from '../../src/jobs/tables/progress.ts';
import { moveRepository } from '../../src/jobs/tables/repositories.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { makeOpenDatabase, openMigratedDatabase, openPool } from '../helpers/database.ts';
import { NO_OPERATOR_POLICIES } from '../helpers/policies.ts';
import test from '../helpers/test.ts';

const HOUR_MS = 60 * 60_000;
const HEAD = 'a'.repeat(40);
const BASE = 'b'.repeat(40);

const named = (index: number): ListedRepository => ({ id: String(index), name: `acme/repository-${index}` });

/** Repositories that are known, and a forge whose list of changes a test sets. */
async function setUp(t: ExecutionContext, count: number) {
  const { url, pool } = await makeOpenDatabase(t);
  const list = {
    all: Array.from({ length: count }, (_, index) => named(index)) as readonly ListedRepository[],
    changed: [] as readonly ListedRepository[],
    error: undefined as ForgeError | undefined,
    asOf: new Date(),
    since: [] as Date[],
    readAll: 0,
  };
  const answer = (repositories: readonly ListedRepository[]) => {
    if (list.error !== undefined) {
      throw list.error;
    }
    return { repositories, asOf: list.asOf };
  };
  const changeList: ChangeList = {
    async all() {
      list.readAll += 1;
      return answer(list.all);
    },
    async changedSince(since) {
      list.since.push(since);
      return answer(list.changed);
    },
  };
  const requested: unknown[] = [];
  const writable = { names: [] as readonly string[], more: false, error: undefined as ForgeError | undefined };
  const writableRepositories = async () => {
    if (writable.error !== undefined) {
      throw writable.error;
    }
    return writable;
  };
  const forge: Forge = { ...({} as Forge), name: 'gitea', machineAccounts: [], changeList, writableRepositories };
  const deps: ResyncDeps = {
    forge,
    pool,
    statusContext: 'gatehouse/{base}',
    enforce: true,
    minutes: 15,
    log: makeLog('silent'),
    rules: readPresentRules({ forge, ...NO_OPERATOR_POLICIES }),
    access: { check: async () => undefined },
    metrics: makeMetrics(),
    enqueue: async (requests) => {
      requested.push(...requests);
    },
  };
  await pool.query('INSERT INTO gatehouse.repositories (name) SELECT unnest($1::text[])', [
    list.all.map(({ name }) => name),
  ]);
  const due = async () => {
    const { rows } = await pool.query<{ name: string }>('SELECT name FROM gatehouse.repositories WHERE due ORDER BY 1');
    return rows.map(({ name }) => name);
  };
  return {
    url,
    pool,
    list,
    writable,
    deps,
    requested,
    due,
    /** As after each repository was read, at different times. */
    lookedAtAll: () =>
      pool.query(
        `UPDATE gatehouse.repositories SET due = false,
                resynced_at = now() - make_interval(mins => split_part(name, '-', 2)::int)`,
      ),
    /** A round after those; returns what it has to look at. */
    async next(more: Partial<ResyncDeps> = {}) {
      await beginRound({ ...deps, ...more });
      return due();
    },
    /** A whole resync, or a piece of one. */
    run(change: Partial<Forge>, { began = new Date(), isNew = true, pieceMs = Number.POSITIVE_INFINITY } = {}) {
      const changed = { ...forge, ...change };
      const rules = readPresentRules({ forge: changed, ...NO_OPERATOR_POLICIES });
      return resync({ ...deps, forge: changed, rules }, { began, new: isNew }, pieceMs);
    },
  };
}

/** The look that each repository has every two days: with so few it is the one that has waited longest. */
const LONGEST_AGO = 'acme/repository-3';
const FOUR = [0, 1, 2, 3].map(named);

for (const { what, all = FOUR, changed = [], hours = 0, due } of [
  { what: 'the one that has waited longest', due: [LONGEST_AGO] },
  {
    what: 'what has changed',
    changed: [named(1), { id: '99', name: 'acme/without-a-hook' }],
    due: ['acme/repository-1', LONGEST_AGO],
  },
  {
    what: 'what was renamed and has changed, by its id',
    changed: [{ id: '0', name: 'acme/new-name' }],
    due: ['acme/repository-0', LONGEST_AGO],
  },
  {
    what: 'what the list does not cover',
    all: FOUR.filter(({ id }) => id !== '2'),
    due: ['acme/repository-2', LONGEST_AGO],
  },
  { what: 'everything, a day after the last one', hours: 25, due: FOUR.map(({ name }) => name) },
]) {
  test(`the first round looks at every repository, a later one at ${what}`, async (t) => {
    const { list, next, lookedAtAll, pool } = await setUp(t, 4);
    list.all = all;
    t.is((await next()).length, 4);
    await lookedAtAll();
    list.changed = changed;
    await pool.query('UPDATE gatehouse.progress SET done_until = now() - make_interval(hours => $1)', [hours]);
    t.deepEqual(await next(), due);
    t.is(list.readAll, hours > 24 ? 2 : 1);
  });
}

test('a list of changes begins before the end of the one before', async (t) => {
  const { list, next } = await setUp(t, 1);
  const asOf = new Date(Date.now() - HOUR_MS);
  list.asOf = asOf;
  await next();
  await next();
  const [since] = list.since;
  t.is(asOf.getTime() - (since?.getTime() ?? 0), 10 * 60_000);
});

test('where the list cannot be read, every repository is looked at', async (t) => {
  const { list, next, lookedAtAll, due } = await setUp(t, 4);
  for (const kind of ['invalid', 'refused', 'unavailable', 'too-large'] as const) {
    list.error = undefined;
    await next();
    await lookedAtAll();
    list.error = new ForgeError(kind, 'GET /repos/issues/search: no', { status: 404 });
    t.is((await next()).length, 4, kind);
  }
  await lookedAtAll();
  list.error = new ForgeError('rate-limited', 'wait', { retryAt: Date.now() + HOUR_MS });
  await t.throwsAsync(next(), { message: 'wait' });
  t.deepEqual(await due(), []);
});

test('every repository is looked at within two days', async (t) => {
  const { next, lookedAtAll } = await setUp(t, 400);
  await next();
  await lookedAtAll();
  // 192 rounds of 15 minutes.
  t.is((await next()).length, Math.ceil(400 / 192));
  await lookedAtAll();
  t.is((await next({ minutes: 24 * 60 })).length, 200);
});

const RULES = { format: 1, baseSha: BASE };
const UPDATED_AT = '2026-01-01T00:00:00Z';
const REVIEW = {
  repository: named(0).name,
  pull_request: 1,
  head_sha: HEAD,
  base_branch: 'main',
  open: true,
  verdict: 'success',
  rules: RULES,
  pull_request_updated_at: UPDATED_AT,
};
type Columns = { readonly [column in keyof typeof REVIEW]?: unknown };

function addReviews(pool: pg.Pool, reviews: readonly Columns[]) {
  const columns = Object.keys(REVIEW).join();
  return pool.query(
    `INSERT INTO gatehouse.reviews (description, ${columns})
     SELECT '', ${columns} FROM jsonb_populate_recordset(NULL::gatehouse.reviews, $1)`,
    [JSON.stringify(reviews.map((review) => ({ ...REVIEW, ...review })))],
  );
}

test('what no list of changes shows is looked at all the same', async (t) => {
  const { pool, next, lookedAtAll } = await setUp(t, 7);
  await next();
  // Of one that was updated just now, another change may have had the time that the review read.
  const rows: readonly Columns[] = [
    { rules: { ...RULES, operatorPolicyDigest: 'old' } },
    { verdict: null },
    { verdict: 'error', rules: null },
    { open: false },
    {},
    { pull_request: 2, pull_request_updated_at: null },
  ];
  const updated = { pull_request_updated_at: new Date() };
  await addReviews(
    pool,
    rows.map((row, index) => ({ repository: named(index).name, ...updated, ...row })),
  );
  await lookedAtAll();
  const unfinished = [1, 2, 3, 5].map((index) => `acme/repository-${index}`);
  const longestAgo = 'acme/repository-6';
  t.deepEqual(await next({ rules: { outdated: async () => [] } }), [...unfinished, longestAgo]);
  await lookedAtAll();
  const all = ['acme/repository-0', ...unfinished, longestAgo];
  t.deepEqual(await next(), all, 'the policy of the operator has changed');
});

test('a resync that is requested during another looks at everything again', async (t) => {
  const { pool, run, list } = await setUp(t, 1);
  list.changed = list.all;
  const looks: (Date | undefined)[] = [];
  const openPullRequests = async (repository: string) => {
    looks.push((await pool.query<{ now: Date }>('SELECT clock_timestamp() AS now')).rows[0]?.now);
    return { repository, pullRequests: [] };
  };
  t.is(await run({ openPullRequests }), 'finished');
  t.is(looks.length, 1);
  // A time of PostgreSQL has microseconds, and this one has none.
  t.is(await run({ openPullRequests }, { began: new Date((looks[0]?.getTime() ?? 0) + 1) }), 'finished');
  t.is(looks.length, 2, 'what changed after the first look had begun may have been missed');
});

test('an owner at its limit never keeps a round going when the clock is behind', async (t) => {
  const { pool, run, list } = await setUp(t, 2);
  list.changed = list.all;
  let reads = 0;
  const limited = {
    overviews: {
      scope: 'owner',
      maxRepositories: 100,
      read: async () => new Map(),
    },
    async openPullRequests(): Promise<never> {
      reads += 1;
      if (reads > 2) {
        throw new Error('the owner is asked again and again');
      }
      throw new ForgeError('rate-limited', 'wait', { retryAt: Date.now() + HOUR_MS });
    },
  } as const;
  // An hour before the database's time.
  const began = new Date(Date.now() + HOUR_MS);
  t.is(await run(limited, { began }), 'finished');
  t.is(reads, 1);
  await pool.query('UPDATE gatehouse.repositories SET due = true, resynced_at = NULL');
  t.is(await run(limited, { began, pieceMs: 0 }), 'unfinished', 'the time of a piece is over');
});

test('a resync is interrupted while the forge cannot be reached', async (t) => {
  const { deps } = await setUp(t, 1);
  const access = { check: async () => ({ kind: 'unreachable', reason: 'refused' }) as const };
  t.is(await resync({ ...deps, access }, { began: new Date(), new: true }), 'interrupted');
});

test('a resync that one worker has requested is not due for another', async (t) => {
  const pool = await openMigratedDatabase(t);
  t.true(await isDue(pool, 'resync', 14));
  await recordDone(pool, 'resync');
  t.false(await isDue(pool, 'resync', 14));
  await pool.query("UPDATE gatehouse.progress SET done_until = now() - interval '15 minutes'");
  t.true(await isDue(pool, 'resync', 14));
});

test('a new database gets to know what may be written to, once', async (t) => {
  const { pool, writable, next, lookedAtAll } = await setUp(t, 2);
  writable.names = ['Acme/Repository-0', 'acme/lost-7', 'ACME/LOST-7'];
  writable.error = new ForgeError('unavailable', 'GET /repos/search: no');
  t.is((await next()).length, 2, 'what deliveries came from is looked at meanwhile');
  writable.error = undefined;
  const known = await next();
  t.deepEqual([known.length, known.filter((name) => /lost-7/i.test(name)).length], [3, 1]);
  await lookedAtAll();
  writable.names = ['acme/later-8'];
  await next();
  const { rows } = await pool.query("SELECT FROM gatehouse.repositories WHERE name = 'acme/later-8'");
  t.is(rows.length, 0);
});

for (const kind of ['refused', 'invalid', 'too-large', 'unavailable', 'rate-limited'] as const) {
  test(`an owner whose list is ${kind} never has all listed again, unless it may pass`, async (t) => {
    const { deps } = await setUp(t, 1);
    let listed = 0;
    const said: unknown[] = [];
    const forge = {
      ...deps.forge,
      async writableRepositories() {
        listed += 1;
        return { names: [], more: false, failures: [{ owner: 'acme', error: new ForgeError(kind, 'no') }] };
      },
    };
    const log = makeLog('silent');
    log.warn = (about: unknown) => said.push(about);
    await beginRound({ ...deps, forge, log });
    await beginRound({ ...deps, forge, log });
    t.is(listed, kind === 'unavailable' || kind === 'rate-limited' ? 2 : 1);
    t.deepEqual(said[0], { owner: 'acme', reason: 'no' });
  });
}

test('a repository that is known and not due becomes due by a request', async (t) => {
  const { pool, next, lookedAtAll, due } = await setUp(t, 4);
  await next();
  await lookedAtAll();
  t.deepEqual(await due(), []);
  const replay = makeReplay(pool, QUEUES, makeLog('silent'));
  t.teardown(() => replay.stop());
  t.is(await replay.requestResync(['ACME/repository-1']), 1);
  t.deepEqual(await due(), ['acme/repository-1']);
});

test('a resync in pieces looks at each repository once', async (t) => {
  const { run } = await setUp(t, 5);
  const asked: string[] = [];
  const openPullRequests = async (repository: string) => {
    asked.push(repository);
    return { repository, pullRequests: [] };
  };
  const began = new Date();
  const states: string[] = [];
  // A piece without any time looks at one repository.
  for (let piece = 0; piece < 6; piece++) {
    states.push(await run({ openPullRequests }, { began, isNew: piece === 0, pieceMs: 0 }));
  }
  t.deepEqual(states, ['unfinished', 'unfinished', 'unfinished', 'unfinished', 'unfinished', 'finished']);
  t.deepEqual(
    asked.sort(),
    [0, 1, 2, 3, 4].map((index) => named(index).name),
  );
});

test('a resync reads no row of a large inbox', async (t) => {
  const { url, list, deps } = await setUp(t, 20);
  // One connection: it reports what it has read when it is asked to.
  const pool = openPool(url, 1);
  t.teardown(() => pool.end());
  const deliveriesRead = async () => {
    await pool.query('SELECT pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ read: number }>(
      `SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read FROM pg_stat_user_tables
        WHERE schemaname = 'gatehouse' AND relname LIKE 'deliveries%'`,
    );
    return rows[0]?.read ?? 0;
  };
  await pool.query(
    `INSERT INTO gatehouse.deliveries (hook_id, delivery_id, event, repository, body_sha256, body)
     SELECT '1', n, 'push', 'acme/repository-' || n % 20, '', '' FROM generate_series(1, 20000) n`,
  );
  await pool.query('ANALYZE');
  await pool.query('SELECT count(repository) FROM gatehouse.deliveries');
  const before = await deliveriesRead();
  t.true(before >= 20_000, 'what is read is counted');
  const asked: string[] = [];
  const openPullRequests = async (repository: string) => {
    asked.push(repository);
    return { repository, pullRequests: [] };
  };
  await resync({ ...deps, pool, forge: { ...deps.forge, openPullRequests } }, { began: new Date(), new: true });
  await recoverDeliveries({ failed: async () => [], redeliver: async () => true }, pool, deps.log);
  t.is(asked.length, list.all.length);
  t.is(await deliveriesRead(), before);
});

test('a repository is moved to its new name though a review of that begins at the same moment', async (t) => {
  const { pool } = await setUp(t, 1);
  const [{ name: from }, to] = [named(0), 'acme/renamed'];
  await addReviews(pool, [{ repository: from }]);
  // As by a review that commits its row after the statement has looked for it.
  await pool.query(`
    CREATE SEQUENCE public.moves;
    CREATE FUNCTION public.collide() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('public.moves') = 1 THEN
          RAISE unique_violation;
        END IF;
        RETURN NEW;
      END $$;
    CREATE TRIGGER collide BEFORE UPDATE OF repository ON gatehouse.reviews FOR EACH ROW EXECUTE FUNCTION public.collide()`);
  await moveRepository(pool, from, to);
  const { rows } = await pool.query('SELECT repository FROM gatehouse.reviews');
  t.deepEqual(rows, [{ repository: to }]);
});
