import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { makeParameters } from '../../src/db/parameters.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import { commitStatuses } from '../../src/jobs/review/commit-status.ts';
import { LostClaimError } from '../../src/jobs/tables/claim.ts';
import { readCommitState } from '../../src/jobs/tables/commit-state.ts';
import { statusPlace } from '../../src/jobs/tables/posted-statuses.ts';
import { beginReview, recordHead, verdictUpdate } from '../../src/jobs/tables/reviews.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

const REF = { repository: 'acme/widgets', number: 7 };
const PLACE = statusPlace('gitea', {
  repository: REF.repository,
  headSha: 'a'.repeat(40),
  context: 'gatehouse/main',
});
const PULL_REQUEST = {
  head: { sha: PLACE.headSha },
  base: { branch: 'main' },
  url: 'https://forge.example/7',
  updatedAt: '2026-01-02T03:04:05Z',
} as Parameters<typeof recordHead>[2];

/** A review that is about to report a success. */
async function reporting(t: ExecutionContext, setStatus: (pool: pg.Pool) => Forge['setStatus']) {
  const pool = await openMigratedDatabase(t);
  const { claim } = await beginReview(pool, REF);
  await recordHead(pool, claim, PULL_REQUEST, PLACE.context, { commented: null, settled: true });
  const verdict = { state: 'success', description: 'All 2 rules pass', url: PULL_REQUEST.url } as const;
  const parameters = makeParameters();
  await pool.query(verdictUpdate(parameters, claim, verdict, undefined), parameters.values);
  const forge: Forge = { ...({} as Forge), name: 'gitea', setStatus: setStatus(pool) };
  const deps = { pool, statusContext: 'gatehouse/{base}', enforce: true, metrics: makeMetrics() };
  const statuses = commitStatuses({ ...deps, forge, log: makeLog('silent') }, () => claim);
  return { pool, report: () => statuses.report(PLACE, claim) };
}

test('a status is never set by a review that a newer one has overtaken', async (t) => {
  const set: string[] = [];
  const { pool, report } = await reporting(
    t,
    () =>
      async (_repository, _sha, { state }) =>
        void set.push(state),
  );
  await beginReview(pool, REF);
  await t.throwsAsync(report(), { instanceOf: LostClaimError });
  t.deepEqual(set, []);
  const { posted } = await readCommitState(pool, PLACE.repository, PLACE.headSha);
  t.deepEqual(posted, [], 'it is not noted either that one was about to be set');
});

test('nor is one set in other words, when a newer review has begun meanwhile', async (t) => {
  const set: string[] = [];
  const { report } = await reporting(t, (pool) => async (_repository, _sha, { state }) => {
    set.push(state);
    await beginReview(pool, REF);
    throw new ForgeError('invalid', 'not in these words', { status: 422 });
  });
  await t.throwsAsync(report(), { instanceOf: LostClaimError });
  t.deepEqual(set, ['success']);
});
