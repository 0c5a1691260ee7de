import type pg from 'pg';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { PostedText, RecordedComments } from '../../review/overrides/judge-overrides.ts';

/**
 * Records what webhooks say of commands to override: the text at posting, unless it is known to have been edited since,
 * and, permanently, that it was edited. It belongs to the transaction of the delivery: only the webhook shows an edit
 * in the second of the posting, and no review may count the command before that is known, however many jobs are
 * waiting.
 */
export function recordStatements(requests: readonly ReviewRequest[]): readonly pg.QueryConfig[] {
  return requests
    .flatMap((request) => (request.kind === 'command' && request.command === 'override' ? [request] : []))
    .sort(byComment)
    .flatMap(({ change, repository, number, commentId, digest }) => {
      const comment = [repository, number, commentId];
      const recorded = {
        posted: [{ ...RECORD_POSTED, values: [...comment, digest] }],
        edited: [{ ...RECORD_EDITED, values: comment }],
        deleted: [],
      };
      return recorded[change];
    });
}

const RECORD_POSTED = {
  name: 'record a posted override',
  text: `INSERT INTO gatehouse.override_comments (repository, pull_request, comment_id, digest)
         VALUES ($1, $2, $3, $4) ON CONFLICT (repository, comment_id) DO NOTHING`,
};
const RECORD_EDITED = {
  name: 'record an edited override',
  text: `INSERT INTO gatehouse.override_comments (repository, pull_request, comment_id)
         VALUES ($1, $2, $3) ON CONFLICT (repository, comment_id) DO UPDATE SET digest = NULL`,
};

/** One order for every transaction, or two of them could wait for each other. */
function byComment(left: CommandRequest, right: CommandRequest): number {
  return keyOf(left) < keyOf(right) ? -1 : Number(keyOf(left) > keyOf(right));
}

type CommandRequest = Extract<ReviewRequest, { kind: 'command' }>;

function keyOf({ repository, commentId }: CommandRequest): string {
  return `${repository}/${commentId}`;
}

/**
 * What webhooks have recorded of the comments with these ids. Whatever number a row has: who can send webhooks
 * could name another pull request, and the row of an id is taken once.
 */
export async function recordedComments(
  pool: pg.Pool,
  repository: string,
  commentIds: readonly string[],
): Promise<RecordedComments> {
  const { rows } = await pool.query<{ id: string; digest: string | null }>(
    'SELECT comment_id AS id, digest FROM gatehouse.override_comments WHERE repository = $1 AND comment_id = ANY ($2)',
    [repository, commentIds],
  );
  const posted = rows.map(({ id, digest }): readonly [string, PostedText] => [
    id,
    digest === null ? { kind: 'edited' } : { kind: 'as-posted', digest },
  ]);
  const { rows: before } = await pool.query<{ id: string }>(
    `SELECT unnest(overrides) AS id FROM gatehouse.reviews WHERE repository = $1 AND overrides && $2::text[]`,
    [repository, commentIds],
  );
  return { posted: new Map(posted), counted: new Set(before.map(({ id }) => id)) };
}
