import type { Forge } from '../forges/port/forge.ts';
import type { RepositoryNow } from '../forges/port/pull-request.ts';
import { defineFact, NOTHING_MORE } from './fact.ts';
import { flag, names, oneOf } from './given.ts';

export type RepositorySettings = Pick<RepositoryNow, 'visibility' | 'topics'>;

type Part = 'visibility' | 'topics';

const UNREAD = undefined as RepositorySettings | undefined;

/** Undefined when there is no such repository any more. */
async function readSettings(forge: Forge, repository: string): Promise<RepositorySettings | undefined> {
  const now = await forge.repository(repository);
  return now && { visibility: now.visibility, topics: now.topics?.toSorted() };
}

/** Settings of the repository. Undefined: unread. */
export const repository = defineFact({
  name: 'repository',
  unread: UNREAD,
  unreadAs: 'the visibility and topics of a repository',
  unreadAfter: [],
  dependsOn: [],
  read: ({ forge, pullRequest }, _parts: readonly Part[]) => readSettings(forge, pullRequest.repository),
  change: 'unseen',
  // GitHub tells when one is made public, which starts a resync: see interpret-event.ts. Of topics nobody tells.
  forges: NOTHING_MORE,
  given: {
    shape: {
      visibility: oneOf('public', 'internal', 'private').optional().describe('Of the repository. Default: public.'),
      topics: names.optional().describe('Of the repository. Default: none.'),
      topics_unread: flag.optional().describe('true: the forge does not tell the topics.'),
      repository_unread: flag.optional().describe('true: visibility and topics could not be read.'),
    },
    of: ({ visibility = 'public', topics = [], topics_unread, repository_unread }) =>
      repository_unread === true ? UNREAD : { visibility, topics: topics_unread === true ? undefined : topics },
  },
});
