import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { makeParameters } from '../../src/db/parameters.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import { type CommitStatus, statusDescription } from '../../src/forges/port/postings.ts';
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
const RED = { state: 'failure', description: statusDescription('red') } as const;
const GREEN = { state: 'success', description: statusDescription('green') } as const;
const FORGED = { context: PLACE.context, state: 'success', description: statusDescription('forged') } as const;

const depsOf = (pool: pg.Pool) => ({
  pool,
  statusContext: 'gatehouse/{base}',
  enforce: true,
  metrics: makeMetrics(),
  log: makeLog('silent'),
});

/** A review that is about to report a success. */
async function reporting(t: ExecutionContext, setStatus: (pool: pg.Pool) => Forge['setStatus']) {
  const pool = await openMigratedDatabase(t);
  const { claim } = await beginReview(pool, REF);
  await recordHead(pool, claim, PULL_REQUEST, PLACE.context, { commented: null, settled: true });
  const verdict = { state: 'success', description: 'All 2 rules pass', url: PULL_REQUEST.url } as const;
  const parameters = makeParameters();
  await pool.query(verdictUpdate(parameters, claim, verdict, undefined), parameters.values);
  const forge: Forge = { ...({} as Forge), name: 'gitea', setStatus: setStatus(pool) };
  const statuses = commitStatuses({ ...depsOf(pool), forge }, () => claim);
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

/** A commit without a pull request, such as that of a merge group, with a red status that somebody has replaced. */
async function forgedOverRed(t: ExecutionContext) {
  const pool = await openMigratedDatabase(t);
  const standing: (CommitStatus & { readonly own: boolean })[] = [];
  const forge: Forge = {
    ...({} as Forge),
    name: 'gitea',
    async setStatus(_repository, _sha, status) {
      standing.push({ ...status, own: true });
    },
    async status() {
      const last = standing.at(-1);
      return last && { ...last, creator: last.own ? 'gatehouse' : 'mallory', updatedAt: '' };
    },
  };
  const deps = { ...depsOf(pool), forge };
  const others = commitStatuses(deps);
  await others.write(PLACE, RED);
  standing.push({ ...FORGED, own: false });
  return {
    pool,
    others,
    states: () => standing.map(({ state }) => state),
    /** With something that happens once, when the status is about to be set. */
    statuses(before: () => Promise<unknown>) {
      let happened = false;
      return commitStatuses({
        ...deps,
        forge: {
          ...forge,
          async setStatus(...args) {
            if (!happened) {
              happened = true;
              await before();
            }
            return forge.setStatus(...args);
          },
        },
      });
    },
  };
}

test('a status set again never stands where another was set meanwhile', async (t) => {
  const { others, statuses, states } = await forgedOverRed(t);
  const again = statuses(() => others.write(PLACE, { state: 'error', description: statusDescription('newer') }));
  await t.throwsAsync(again.setAgain(PLACE), { instanceOf: ForgeError, message: /had another status set meanwhile/ });
  t.deepEqual(states(), ['failure', 'success', 'error', 'failure']);
  t.true(await again.setAgain(PLACE), 'tried again');
  t.is(states().at(-1), 'error');
});

test('a status set again never replaces the verdict on a new pull request', async (t) => {
  const { pool, others, statuses, states } = await forgedOverRed(t);
  const again = statuses(async () => {
    await pool.query(
      `INSERT INTO gatehouse.reviews (repository, pull_request, fence, head_sha, base_branch, verdict, description, url)
       VALUES ($1, 1, 1, $2, 'main', $3, $4, 'https://forge.example/1')`,
      [PLACE.repository, PLACE.headSha, GREEN.state, GREEN.description],
    );
    await others.showVerdict(PLACE);
  });
  t.true(await again.setAgain(PLACE));
  t.deepEqual(states(), ['failure', 'success', 'success', 'failure', 'success']);
});

test('a forged status never stands because the forge refused ours once', async (t) => {
  const { statuses, states } = await forgedOverRed(t);
  const again = statuses(() => Promise.reject(new ForgeError('unavailable', 'not now')));
  await t.throwsAsync(again.setAgain(PLACE), { message: 'not now' });
  t.true(await again.setAgain(PLACE), 'tried again');
  t.deepEqual(states(), ['failure', 'success', 'failure']);
});

test('a status is not set again where a newer one is being set', async (t) => {
  const { others, pool, statuses, states } = await forgedOverRed(t);
  const writing = statuses(() => statuses(async () => t.fail('it was set')).setAgain(PLACE));
  await writing.write(PLACE, { state: 'error', description: statusDescription('newer') });
  t.deepEqual(states(), ['failure', 'success', 'error']);
  await pool.query('DELETE FROM gatehouse.posted_statuses');
  t.false(await others.setAgain(PLACE), 'nothing is known to set');
});
