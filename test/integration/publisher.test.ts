import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { makeParameters } from '../../src/db/parameters.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import type { PostedStatus, StatusState } from '../../src/forges/port/postings.ts';
import type { RepositoryNow } from '../../src/forges/port/pull-request.ts';
import type { ReviewRequest } from '../../src/forges/port/review-requests.ts';
import { makePublisher } from '../../src/jobs/publisher/publisher.ts';
import { isAnyUnpublished, publishAgain } from '../../src/jobs/publisher/unpublished.ts';
import { addRepositories, forgetRepository, moveRepository } from '../../src/jobs/tables/repositories.ts';
import { beginReview, verdictUpdate } from '../../src/jobs/tables/reviews.ts';
import { beginPosting, forgetGroup, notePlace, placeAt } from '../../src/jobs/tables/statuses.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

const REPOSITORY = 'acme/widgets';
const CONTEXT = 'gatehouse/main';
const place = (headSha: string, repository = REPOSITORY) => placeAt('gitea', { repository, headSha }, CONTEXT);
const PLACE = place('head');

type Post = (sha: string, state: StatusState, land: () => void) => Promise<void>;

/** A forge that keeps statuses, and a publisher of what is stored. */
async function setUp(t: ExecutionContext, env: { readonly enforce?: boolean; readonly statusContext?: string } = {}) {
  const pool = await openMigratedDatabase(t);
  const known = async (name: string) => {
    await addRepositories(pool, [name]);
    await pool.query('UPDATE gatehouse.repositories SET due = false');
  };
  await known(REPOSITORY);
  const standing = new Map<string, PostedStatus[]>();
  const statusesOf = (sha: string) => standing.get(sha) ?? standing.set(sha, []).get(sha) ?? [];
  const hidden = new Set<string>();
  const posts: Post[] = [];
  const always = new Map<string, Post>();
  const forge: Forge = {
    ...({} as Forge),
    name: 'gitea',
    async setStatus(_repository, sha, status) {
      const land = () => void statusesOf(sha).push({ ...status, own: true, creator: 'gatehouse' });
      const post = posts.shift() ?? always.get(sha) ?? (async () => land());
      await post(sha, status.state, land);
    },
    repository: async (name) => (hidden.has(name) ? undefined : { ...({} as RepositoryNow), name }),
    status: async (_repository, sha) => statusesOf(sha).at(-1),
  };
  const requested: ReviewRequest[] = [];
  const deps = {
    ...{ forge, pool, statusContext: env.statusContext ?? 'gatehouse/{base}', enforce: env.enforce ?? true },
    ...{ metrics: makeMetrics(), log: makeLog('silent') },
    enqueue: async (requests: readonly ReviewRequest[]) => void requested.push(...requests),
  };
  return {
    ...{ pool, deps, hidden, requested, always, known },
    publish: (headSha = PLACE.headSha) => makePublisher(deps).publish(place(headSha)),
    /** What happens to the next posts. */
    next: (...those: Post[]) => posts.push(...those),
    /** The next post is not answered, and is carried out when the test says so. */
    nextIsLate() {
      let arrive = () => {};
      posts.push(async (_sha, _state, land) => {
        arrive = land;
        throw unanswered;
      });
      return () => arrive();
    },
    states: (sha = PLACE.headSha) => statusesOf(sha).map(({ state }) => state),
    forge(sha: string, state: StatusState) {
      statusesOf(sha).push({ context: CONTEXT, state, description: '', own: false, creator: 'mallory' });
    },
    resync: () => publishAgain(deps),
    isAny: () => isAnyUnpublished(deps),
    statusesOf,
    /** An open pull request's verdict, as a review saves it. */
    async verdict(number: number, verdict: string | null, { headSha = PLACE.headSha, base = 'main' } = {}) {
      await pool.query(
        `INSERT INTO gatehouse.reviews (repository, pull_request, head_sha, base_branch, verdict, description, rules)
         VALUES ($1, $2, $3, $4, $5, coalesce($5, ''), '{}')
         ON CONFLICT (repository, pull_request) DO UPDATE SET verdict = excluded.verdict, description = excluded.description`,
        [REPOSITORY, number, headSha, base, verdict],
      );
    },
    close: (number: number) => pool.query('DELETE FROM gatehouse.reviews WHERE pull_request = $1', [number]),
    /** As if so much time had passed since all posts. */
    later: (interval: string) =>
      pool.query(
        `UPDATE gatehouse.statuses SET posted_at = posted_at - $1::interval, unsure_until = unsure_until - $1::interval`,
        [interval],
      ),
  };
}

const unanswered = new ForgeError('unavailable', 'no answer');
const lostAnswer: Post = async (_sha, _state, land) => {
  land();
  throw unanswered;
};
const lost: Post = async () => {
  throw unanswered;
};

test('a verdict that changes while it is posted never leaves the older one standing', async (t) => {
  const { verdict, publish, next, states } = await setUp(t);
  await verdict(1, 'success');
  next(async (_sha, _state, land) => {
    await verdict(1, 'failure');
    land();
  });
  await publish();
  t.deepEqual(states(), ['success', 'failure']);
});

test('of two posts at once the older one never stands, whichever arrives last', async (t) => {
  const { verdict, publish, next, states } = await setUp(t);
  await verdict(1, 'success');
  next(async (_sha, _state, land) => {
    await verdict(1, 'failure');
    await publish();
    land();
  });
  await publish();
  t.is(states().at(-1), 'failure');
  t.deepEqual(states().slice(0, 2), ['failure', 'success'], 'the older one came last');
});

test('a post of a process that died may still arrive, whatever another one’s post was answered', async (t) => {
  const { pool, verdict, publish, next, states, later, isAny } = await setUp(t);
  await verdict(1, 'failure');
  next(async (_sha, _state, land) => {
    await beginPosting(pool, PLACE);
    land();
  });
  await publish();
  t.deepEqual(states(), ['failure', 'failure']);
  await later('3 minutes');
  t.true(await isAny());
  await publish();
  t.false(await isAny());
});

test('what a post without an answer has set never counts as what was posted before it', async (t) => {
  const { verdict, publish, next, states } = await setUp(t);
  await verdict(1, 'failure');
  await publish();
  await verdict(1, 'success');
  next(lostAnswer);
  await t.throwsAsync(publish(), { is: unanswered });
  // A reviewer objects before it is tried again.
  await verdict(1, 'failure');
  await publish();
  t.deepEqual(states(), ['failure', 'success', 'failure']);
});

test('a post that is carried out late never stands: a resync posts again, once it can be late no more', async (t) => {
  const { verdict, publish, nextIsLate, states, later, resync, isAny } = await setUp(t);
  await verdict(1, 'success');
  const arrive = nextIsLate();
  await t.throwsAsync(publish(), { is: unanswered });
  await verdict(1, 'failure');
  await publish();
  t.deepEqual(states(), ['failure']);
  t.false(await isAny(), 'it is too early');
  arrive();
  t.is(states().at(-1), 'success');
  await later('3 minutes');
  t.true(await isAny());
  await resync();
  t.deepEqual([states().at(-1), await isAny()], ['failure', false]);
});

test('no connection is held while the forge is asked', async (t) => {
  const { pool, verdict, publish, next } = await setUp(t);
  await verdict(1, 'success');
  next(async () => void t.is(pool.idleCount, pool.totalCount));
  await publish();
  t.true(pool.totalCount > 0);
});

test('a place that shows what it should costs no post, and what others set there is replaced', async (t) => {
  const { verdict, publish, states, ...scene } = await setUp(t);
  await verdict(1, 'failure');
  await publish();
  await publish();
  t.deepEqual(states(), ['failure']);
  scene.forge(PLACE.headSha, 'success');
  await publish();
  t.deepEqual(states(), ['failure', 'success', 'failure']);
});

test('a review that a newer one has overtaken never saves its verdict', async (t) => {
  const { pool, verdict } = await setUp(t);
  await verdict(1, 'failure');
  const ref = { repository: REPOSITORY, number: 1 };
  const { claim } = await beginReview(pool, ref);
  await beginReview(pool, ref);
  const parameters = makeParameters();
  const saved = verdictUpdate(parameters, claim, { state: 'success', description: '', url: '' }, undefined);
  t.is((await pool.query(saved, parameters.values)).rowCount, 0);
});

test('a status that a process died before posting is posted after the next resync', async (t) => {
  const { verdict, resync, requested, isAny } = await setUp(t);
  await verdict(1, 'failure');
  await verdict(2, 'none');
  await verdict(3, null, { headSha: 'other' });
  t.true(await isAny());
  await resync();
  t.deepEqual(
    requested.map((request) => 'number' in request && request.number),
    [1, 2],
  );
});

for (const [what, env] of Object.entries({
  'another STATUS_CONTEXT': { statusContext: 'review' },
  'another ENFORCE': { enforce: false },
})) {
  test(`${what} has every status posted again`, async (t) => {
    const { deps, verdict, publish, isAny } = await setUp(t);
    await verdict(1, 'failure');
    await publish();
    t.deepEqual([await isAny(), await isAnyUnpublished({ ...deps, ...env })], [false, true]);
  });
}

test('a success under the name before never stays', async (t) => {
  const { deps, verdict, publish, states } = await setUp(t);
  await verdict(1, 'success');
  await publish();
  await publishAgain({ ...deps, statusContext: 'review' });
  t.deepEqual(states(), ['success', 'pending']);
});

test('a success left on an old head is tried until the forge takes it back', async (t) => {
  const { verdict, publish, close, next, resync, later, states } = await setUp(t);
  await verdict(1, 'success');
  await publish();
  await close(1);
  await later('1 year');
  next(async () => {
    throw new ForgeError('refused', 'no', { status: 403 });
  });
  await resync();
  t.deepEqual(states(), ['success']);
  await resync();
  t.deepEqual(states(), ['success', 'pending']);
});

test('a place that a review leaves at this moment is left to that review, and no other of its commit', async (t) => {
  const { pool, verdict, publish, close, isAny, resync, states } = await setUp(t);
  await verdict(1, 'success');
  await publish();
  await pool.query('UPDATE gatehouse.reviews SET open = false');
  t.false(await isAny());
  await pool.query("UPDATE gatehouse.reviews SET base_branch = 'next'");
  t.true(await isAny(), 'as after a rename, when it was retargeted meanwhile');
  await resync();
  t.deepEqual(states(), ['success', 'pending']);
  await close(1);
  t.false(await isAny());
});

test('commits that the forge refuses never keep back a success left elsewhere', async (t) => {
  const { pool, always, states, resync } = await setUp(t);
  const leave = (headSha: string) =>
    pool.query(
      `INSERT INTO gatehouse.statuses (repository, head_sha, key, context, state, posting, answered)
       VALUES ($1, $2, $3, $3, 'success', 1, 1)`,
      [REPOSITORY, headSha, CONTEXT],
    );
  for (let index = 0; index < 150; index++) {
    await leave(`refused-${index}`);
    always.set(`refused-${index}`, lost);
  }
  await leave('left');
  await resync();
  await resync();
  t.deepEqual(states('left'), ['pending']);
});

test('a commit that the forge has removed is forgotten, one of a hidden repository never', async (t) => {
  const { pool, verdict, publish, close, always, hidden, resync, later } = await setUp(t);
  const gone: Post = async () => {
    throw new ForgeError('invalid', 'no such commit', { status: 422 });
  };
  const rows = async () => (await pool.query('SELECT FROM gatehouse.statuses')).rowCount;
  await verdict(1, 'success', { headSha: 'gone' });
  always.set('gone', lost);
  await t.throwsAsync(publish('gone'), { is: unanswered });
  always.set('gone', gone);
  await close(1);
  hidden.add(REPOSITORY);
  await resync();
  t.is(await rows(), 1);
  hidden.clear();
  await later('3 minutes');
  await resync();
  t.is(await rows(), 0);
});

test('what a forge refuses to take back never counts as gone while an older post may still arrive', async (t) => {
  const { pool, verdict, publish, close, next, nextIsLate, resync, later, states } = await setUp(t);
  await verdict(1, 'success');
  const arrive = nextIsLate();
  await t.throwsAsync(publish(), { is: unanswered });
  await close(1);
  next(async () => {
    throw new ForgeError('invalid', 'no such commit', { status: 422 });
  });
  await resync();
  t.is((await pool.query('SELECT FROM gatehouse.statuses')).rowCount, 1);
  arrive();
  await later('3 minutes');
  await resync();
  t.is(states().at(-1), 'pending');
});

test('a rename makes nothing unknown that was known', async (t) => {
  const { pool, verdict, publish, close, isAny, known } = await setUp(t);
  await verdict(1, 'failure');
  await publish();
  await close(1);
  await verdict(2, 'success', { headSha: 'other' });
  await publish('other');
  await moveRepository(pool, REPOSITORY, 'acme/gadgets');
  await known('acme/gadgets');
  t.false(await isAny());
});

test('what is only to be posted once more is posted by the resync itself, not by the review of each twin', async (t) => {
  const { verdict, publish, next, later, resync, requested, isAny } = await setUp(t);
  await verdict(1, 'failure');
  await verdict(2, 'failure');
  next(lost);
  await t.throwsAsync(publish(), { is: unanswered });
  await publish();
  await later('3 minutes');
  t.true(await isAny());
  await resync();
  t.deepEqual([requested, await isAny()], [[], false]);
});

test('many that publish at once come to an end, with the right one', async (t) => {
  const { verdict, publish, always, states } = await setUp(t);
  always.set(PLACE.headSha, async (_sha, _state, land) => {
    await sleep(20 + 60 * Math.random());
    land();
  });
  for (const state of ['success', 'failure', 'pending', 'error'] as const) {
    await verdict(1, state);
    await Promise.all([publish(), publish(), publish(), publish()]);
    t.is(states().at(-1), state);
  }
});

test('a success left in a repository that is hidden or renamed is withdrawn once it is seen again', async (t) => {
  const { pool, verdict, publish, states, resync, known } = await setUp(t);
  await verdict(1, 'success');
  await publish();
  await moveRepository(pool, REPOSITORY, 'acme/gadgets');
  await forgetRepository(pool, 'acme/gadgets');
  await resync();
  t.deepEqual(states(), ['success'], 'it is not asked for');
  await known('acme/gadgets');
  await resync();
  t.deepEqual(states(), ['success', 'pending']);
});

test('a merge group’s status never stands when the group is gone, nor is another’s left there', async (t) => {
  const { pool, publish, states, resync, ...scene } = await setUp(t);
  await notePlace(pool, PLACE, 'merge_group', { state: 'failure', description: 'red' });
  await publish();
  scene.forge(PLACE.headSha, 'success');
  await publish();
  t.deepEqual(states(), ['failure', 'success', 'failure']);
  await notePlace(pool, PLACE, 'merge_group', { state: 'success', description: 'green' });
  await publish();
  await resync();
  t.is(states().at(-1), 'success');
  await forgetGroup(pool, PLACE);
  await resync();
  t.is(states().at(-1), 'pending');
});

test('a merge group that has left its queue after a rename never comes back with the old name', async (t) => {
  const { pool, deps, publish, states, resync, known } = await setUp(t);
  await notePlace(pool, PLACE, 'merge_group', { state: 'success', description: 'green' });
  await publish();
  const renamed = place(PLACE.headSha, 'acme/gadgets');
  await forgetGroup(pool, renamed);
  await makePublisher(deps).publish(renamed);
  t.deepEqual(states(), ['success', 'pending']);
  await moveRepository(pool, REPOSITORY, 'acme/gadgets');
  await known('acme/gadgets');
  await resync();
  t.is(states().at(-1), 'pending');
});
