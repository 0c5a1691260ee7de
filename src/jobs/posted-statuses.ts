import type pg from 'pg';
import type { CommitStatus, StatusState } from '../forges/postings.ts';

export interface StatusPlace {
  readonly repository: string;
  readonly headSha: string;
  readonly context: string;
}

/** The status that Gatehouse set last at a place. `unknown`: the writing of one was cut short. */
export type PostedBefore =
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'status'; readonly state: StatusState; readonly description: string };

export async function postedBefore(pool: pg.Pool, place: StatusPlace): Promise<PostedBefore> {
  const { rows } = await pool.query<{ state: StatusState | null; description: string | null }>(
    'SELECT state, description FROM gatehouse.posted_statuses WHERE repository = $1 AND head_sha = $2 AND context = $3',
    keyOf(place),
  );
  const [row] = rows;
  if (row === undefined) {
    return { kind: 'none' };
  }
  const { state, description } = row;
  return state === null || description === null ? { kind: 'unknown' } : { kind: 'status', state, description };
}

/** `status`: what stands now; undefined before one is written, since nobody knows whether a broken request was carried out. */
export async function rememberPosted(
  pool: pg.Pool,
  place: StatusPlace,
  status: Pick<CommitStatus, 'state' | 'description'> | undefined,
): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.posted_statuses (repository, head_sha, context, state, description)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (repository, head_sha, context)
       DO UPDATE SET state = excluded.state, description = excluded.description, posted_at = now()`,
    [...keyOf(place), status?.state ?? null, status?.description ?? null],
  );
}

function keyOf({ repository, headSha, context }: StatusPlace): [string, string, string] {
  return [repository, headSha, context.toLowerCase()];
}
