import { z } from 'zod';
import type { PostedStatus } from '../port/postings.ts';
import { ACTOR, actor } from './actor.ts';

/** What a query asks of a commit: the newest status of each name. */
export const STATUSES = `oid status { contexts { context state description targetUrl createdAt creator ${ACTOR} } }`;

export const commitWithStatuses = z.object({
  oid: z.string(),
  status: z
    .object({
      contexts: z.array(
        z.object({
          context: z.string(),
          state: z.string().toLowerCase(),
          description: z.string().nullable(),
          targetUrl: z.string().nullable(),
          createdAt: z.string(),
          creator: actor,
        }),
      ),
    })
    .nullable(),
});

/** `self` is the login that Gatehouse posts with. */
export function toPostedStatuses(
  { status }: z.output<typeof commitWithStatuses>,
  self: string,
): readonly PostedStatus[] {
  return (status?.contexts ?? []).map(({ context, state, description, targetUrl, createdAt, creator }) => ({
    context,
    own: creator.login.toLowerCase() === self.toLowerCase(),
    creator: creator.login,
    state: STATES.find((one) => one === state) ?? 'pending',
    description: description ?? '',
    ...(targetUrl === null ? {} : { targetUrl }),
    updatedAt: createdAt,
  }));
}

const STATES = ['error', 'failure', 'pending', 'success'] as const;
