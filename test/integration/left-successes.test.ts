import type { ExecutionContext } from 'ava';
import type { Forge } from '../../src/forges/port/forge.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import type { RepositoryNow } from '../../src/forges/port/pull-request.ts';
import { withdrawLeftSuccesses } from '../../src/jobs/resync/left-successes.ts';
import { noteLeftSuccess } from '../../src/jobs/tables/left-successes.ts';
import { addRepositories, forgetRepository, moveRepository } from '../../src/jobs/tables/repositories.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { openMigratedDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

const CONTEXT = 'gatehouse/main';
const OLD = { repository: 'acme/widgets', headSha: 'old', context: CONTEXT };

/** A forge whose commits are all green, and which takes statuses of those that are not refused. */
async function greenCommits(t: ExecutionContext) {
  const pool = await openMigratedDatabase(t);
  const refused = new Set<string>();
  const hidden = new Set<string>();
  const states = new Map<string, string>();
  await addRepositories(pool, [OLD.repository]);
  let during: () => Promise<void> = async () => {};
  const forge: Forge = {
    ...({} as Forge),
    name: 'gitea',
    async setStatus(repository, sha, { state }) {
      if (refused.has(repository) || refused.has(sha)) {
        throw new ForgeError('refused', 'no');
      }
      states.set(sha, state);
      await during();
    },
    async repository(name) {
      return hidden.has(name) ? undefined : { ...({} as RepositoryNow), name };
    },
    async status(repository, sha, context) {
      if (hidden.has(repository)) {
        return undefined;
      }
      const state = states.get(sha) === 'pending' ? 'pending' : 'success';
      return { context, state, description: '', own: true, creator: 'gatehouse', updatedAt: '' };
    },
  };
  const deps = {
    forge,
    pool,
    statusContext: 'gatehouse/{base}',
    enforce: true,
    metrics: makeMetrics(),
    log: makeLog('silent'),
  };
  return {
    pool,
    refused,
    hidden,
    states,
    meanwhile: (act: () => Promise<void>) => {
      during = act;
    },
    resync: () => withdrawLeftSuccesses(deps),
    async left() {
      const { rows } = await pool.query<{ name: string }>('SELECT repository AS name FROM gatehouse.left_successes');
      return rows.map(({ name }) => name);
    },
  };
}

test('a success left on an old head is tried until the forge takes it back', async (t) => {
  const { pool, refused, states, resync, left } = await greenCommits(t);
  await noteLeftSuccess(pool, OLD);
  await pool.query("UPDATE gatehouse.left_successes SET left_at = now() - interval '1 year'");
  refused.add(OLD.headSha);
  await resync();
  t.deepEqual(await left(), [OLD.repository]);
  refused.clear();
  await resync();
  t.is(states.get(OLD.headSha), 'pending');
  t.deepEqual(await left(), []);
});

test('commits that the forge refuses never keep back a success left elsewhere', async (t) => {
  const { pool, refused, states, resync, left } = await greenCommits(t);
  for (let index = 0; index < 150; index++) {
    refused.add(`refused-${index}`);
    await noteLeftSuccess(pool, { ...OLD, headSha: `refused-${index}` });
  }
  for (const age of ['1 hour', '-1 hour']) {
    await noteLeftSuccess(pool, { ...OLD, headSha: age });
    await pool.query('UPDATE gatehouse.left_successes SET left_at = now() - head_sha::interval WHERE head_sha = $1', [
      age,
    ]);
    await resync();
    await resync();
    t.is(states.get(age), 'pending', age);
  }
  t.is((await left()).length, 150);
});

test('a success that is left once more while it is withdrawn is not forgotten', async (t) => {
  const { pool, meanwhile, resync, left } = await greenCommits(t);
  await noteLeftSuccess(pool, OLD);
  meanwhile(() => noteLeftSuccess(pool, OLD));
  await resync();
  t.deepEqual(await left(), [OLD.repository]);
});

test('a success left in a repository that is hidden or renamed is not forgotten', async (t) => {
  const { pool, left } = await greenCommits(t);
  await noteLeftSuccess(pool, OLD);
  await forgetRepository(pool, OLD.repository);
  t.deepEqual(await left(), [OLD.repository]);
  await moveRepository(pool, OLD.repository, 'acme/gadgets');
  t.deepEqual(await left(), ['acme/gadgets']);
});

test('a head of a repository that was hidden never keeps its success', async (t) => {
  const { pool, hidden, states, resync, left } = await greenCommits(t);
  for (const [number, headSha, reportedAs, verdict, state] of [
    [1, 'shown', CONTEXT, 'success', 'success'],
    [2, 'unshown', null, 'failure', 'success'],
    [3, 'unknown', CONTEXT, 'success', undefined],
    [4, 'failed', CONTEXT, 'failure', 'failure'],
    [5, 'free', CONTEXT, 'none', 'success'],
  ] as const) {
    await pool.query(
      `INSERT INTO gatehouse.reviews (repository, pull_request, head_sha, base_branch, reported_as, verdict)
       VALUES ($1, $2, $3, 'main', $4, $5)`,
      [OLD.repository, number, headSha, reportedAs, verdict],
    );
    if (state !== undefined) {
      await pool.query(
        `INSERT INTO gatehouse.posted_statuses (repository, head_sha, context, state, description)
         VALUES ($1, $2, $3, $4, '')`,
        [OLD.repository, headSha, CONTEXT, state],
      );
    }
  }
  hidden.add(OLD.repository);
  await forgetRepository(pool, OLD.repository);
  await resync();
  t.is((await left()).length, 3, 'it is not asked for');
  await addRepositories(pool, [OLD.repository]);
  await resync();
  t.is((await left()).length, 3, 'it is still hidden');
  hidden.clear();
  await resync();
  t.deepEqual(
    [...states].sort(),
    ['shown', 'unknown', 'unshown'].map((sha) => [sha, 'pending']),
  );
  t.deepEqual(await left(), []);
});
