import type pg from 'pg';
import type { Forge } from '../../forges/port/forge.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { checksDigest, readOthersChecks } from '../../review/evaluation/read-checks.ts';

interface Parts {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
}

/**
 * Those of the open pull requests about whose head others have reported something since they were judged: the webhook of it was
 * lost, or the forge sends none. Only those whose policy asks for checks are looked at, and not those in `known`.
 */
export async function withOtherChecks(
  { forge, pool, statusContext }: Parts,
  repository: string,
  open: readonly PullRequestRef[],
  known: readonly PullRequestRef[],
): Promise<readonly PullRequestRef[]> {
  const asked = open.map(({ number }) => number).filter((number) => !known.some((ref) => ref.number === number));
  if (asked.length === 0) {
    return [];
  }
  const { rows } = await pool.query<{ number: number; headSha: string; digest: string }>(
    `SELECT pull_request AS number, head_sha AS "headSha", checks_digest AS digest
       FROM gatehouse.reviews
      WHERE repository = $1 AND pull_request = ANY ($2::int[]) AND checks_digest IS NOT NULL
      ORDER BY pull_request`,
    [repository, asked],
  );
  const present = new Map<string, string>();
  const others: PullRequestRef[] = [];
  for (const { number, headSha, digest } of rows) {
    const now = present.get(headSha) ?? checksDigest(await readOthersChecks(forge, repository, headSha, statusContext));
    present.set(headSha, now);
    if (now !== digest) {
      others.push({ repository, number });
    }
  }
  return others;
}

/** The open pull requests with this head whose policy asks for checks or requested reviews. */
export async function reviewsThatAskForOthers(
  pool: pg.Pool,
  repository: string,
  headSha: string,
): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<{ number: number }>(
    `SELECT pull_request AS number FROM gatehouse.reviews
      WHERE repository = $1 AND head_sha = $2 AND open AND (checks_digest IS NOT NULL OR asks_requested_reviews)
      ORDER BY pull_request`,
    [repository, headSha],
  );
  return rows.map(({ number }) => ({ repository, number }));
}
