import type pg from 'pg';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { Jobs } from '../queue/queue.ts';
import { isWatched, savePush } from '../tables/ledger.ts';

export interface NotePushDeps {
  readonly pool: pg.Pool;
  readonly keepsRecord: boolean;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
}

/** After a push: requests what looks at its branch. Jobs of many pushes to one branch become one of each kind. */
export async function notePush(
  { pool, keepsRecord, enqueue }: NotePushDeps,
  { repository, repositoryId, branch, before, after, by, isDefault }: Jobs['push'],
  deliveredAt: Date,
): Promise<void> {
  const requests: ReviewRequest[] = [{ kind: 'review-repository', repository, branch }];
  if (keepsRecord && (isDefault || (await isWatched(pool, repository, branch)))) {
    await savePush(pool, repositoryId, branch, { before: before ?? '', after, pusher: by ?? null, deliveredAt });
    requests.push({ kind: 'ledger', repository, branch });
  }
  await enqueue(requests);
}
