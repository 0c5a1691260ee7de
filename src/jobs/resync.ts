import type pg from 'pg';
import type { ReviewRequest } from '../forges/events.ts';
import type { Forge } from '../forges/forge.ts';
import { ForgeError } from '../forges/forge.ts';
import type { Log } from '../log.ts';
import { withoutVerdict } from './reviews-table.ts';

export interface ResyncParts {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
  readonly log: Log;
}

/**
 * Finds what webhooks did not bring: open pull requests of known repositories whose head has no verdict.
 * Forges do not send a webhook again by themselves, so this is what heals one that was lost.
 */
export async function resync({ forge, pool, enqueue, log }: ResyncParts): Promise<void> {
  for (const repository of await knownRepositories(pool)) {
    try {
      const open = await forge.openPullRequests(repository);
      const missed = open.length === 0 ? [] : await withoutVerdict(pool, open);
      if (missed.length === 0) {
        continue;
      }
      await enqueue(missed.map(({ repository: name, number }) => ({ kind: 'review', repository: name, number })));
      log.info(
        { repository, pullRequests: missed.map(({ number }) => number) },
        'a resync found heads without a verdict',
      );
    } catch (err) {
      // The next repository may fare better, unless the forge as a whole wants to be left alone.
      if (!(err instanceof ForgeError) || err.kind === 'rate-limited') {
        throw err;
      }
      log.warn({ err, repository }, 'a repository could not be looked at');
    }
  }
}

/** Every repository that a delivery has come from, newest first, and new ones among them remembered. */
async function knownRepositories(pool: pg.Pool): Promise<readonly string[]> {
  await pool.query(
    `INSERT INTO gatehouse.repositories (name, hook_id, last_delivery_at)
     SELECT DISTINCT ON (repository) repository, hook_id, received_at
       FROM gatehouse.deliveries
      WHERE repository IS NOT NULL
        AND received_at >= coalesce((SELECT max(last_delivery_at) FROM gatehouse.repositories), '-infinity')
      ORDER BY repository, received_at DESC
     ON CONFLICT (name) DO UPDATE
        SET hook_id = excluded.hook_id, last_delivery_at = excluded.last_delivery_at`,
  );
  const { rows } = await pool.query<{ name: string }>(
    'SELECT name FROM gatehouse.repositories ORDER BY last_delivery_at DESC, name',
  );
  return rows.map(({ name }) => name);
}
