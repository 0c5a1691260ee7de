import type { Conversations } from '../../forges/port/conversations.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { FORGES } from '../../forges/port/forges.ts';
import type { MergedPullRequest } from '../../forges/port/merged.ts';
import type { ChangedFiles, PersonReview, PullRequest } from '../../forges/port/pull-request.ts';
import type { AuthoredCommits } from '../authors/authors.ts';
import { operatorsPeople } from '../authors/people-settings.ts';
import { lookIntoMerges, readCleanMerges } from '../evaluation/clean-merge.ts';
import { readCodeOwners, readCommits, readLastChange } from '../evaluation/gather-facts.ts';
import { readOthersChecks } from '../evaluation/read-checks.ts';
import { readOthersConversations } from '../evaluation/read-conversations.ts';
import { readTraits } from '../evaluation/read-traits.ts';
import { readUpdatedFrom } from '../evaluation/updates.ts';
import { type Facts, type LastChange, type NeededFacts, unreadFacts } from '../facts.ts';

/** What the forge still tells of a pull request as it was when it was merged. */
export interface PastFacts {
  /** Who was in a team then is not known: teams are unread. */
  readonly facts: Facts;
  /** What could not be read, and why. */
  readonly gone: readonly string[];
  /**
   * Why something of it could perhaps be read later: the forge did not answer, or did not let these credentials see it.
   */
  readonly failure: 'none' | 'refused' | 'unavailable';
}

/**
 * Reads what a policy needs, and no more. What the forge no longer has is unread, so that what depends on it is
 * undecided. Throws at a rate limit, which would stop every other pull request too.
 */
export async function readPastFacts(
  forge: Forge,
  needed: NeededFacts,
  merged: MergedPullRequest,
  statusContext: string,
): Promise<PastFacts> {
  const gone: string[] = [];
  let failure: PastFacts['failure'] = 'none';

  /** Where it cannot be read, `unread`. */
  async function tryTo<T>(read: () => Promise<T>, unread: T): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'rate-limited') {
        throw error;
      }
      gone.push(error.message);
      if (error.kind === 'unavailable' || (error.kind === 'refused' && failure === 'none')) {
        failure = error.kind;
      }
      return unread;
    }
  }

  const none = unreadFacts(merged.pullRequest);
  const needsHead = needed.changedFiles || needed.commits || needed.reviews || needed.checks || needed.conversations;
  const head = needsHead ? await tryTo(() => forge.merged.headOf(merged), undefined) : undefined;
  if (head === undefined) {
    const reason = `${merged.pullRequest.repository}#${merged.pullRequest.number}: the forge no longer has its commits`;
    return { facts: none, gone: needsHead && gone.length === 0 ? [reason] : gone, failure };
  }
  const pullRequest: PullRequest = { ...merged.pullRequest, head: { ...merged.pullRequest.head, sha: head } };
  const { repository } = pullRequest;
  const unread = { commits: [], complete: false, accounts: none.commits.accounts };

  const [changedFiles, listed, reviews, requested, triage, repositoryTraits, checks, conversations] = await Promise.all(
    [
      needed.changedFiles ? tryTo(() => readChangedFiles(forge, pullRequest), none.changedFiles) : none.changedFiles,
      needed.commits ? tryTo(() => readCommits(forge, pullRequest, needed), unread) : unread,
      needed.reviews ? tryTo(() => readReviews(forge, needed, pullRequest, merged.mergedAt), undefined) : undefined,
      needed.requestedReviews ? tryTo(() => forge.requestedReviews(pullRequest), undefined) : undefined,
      needed.triage ? tryTo(() => forge.triage(pullRequest), undefined) : undefined,
      needed.repository ? tryTo(() => readTraits(forge, repository), undefined) : undefined,
      needed.checks
        ? tryTo(
            () => readOthersChecks(forge, { repository, sha: head, statusContext, suites: needed.checkSuites }),
            none.checks,
          )
        : none.checks,
      needed.conversations
        ? tryTo(() => readConversationsThen(forge, pullRequest, merged.mergedAt), none.conversations)
        : none.conversations,
    ],
  );
  const submitted = reviews ?? [];
  const lastChange = needed.lastChange
    ? await tryTo(() => readLastChangeThen(forge, pullRequest, reviews, merged.mergedAt), none.reviews.lastChange)
    : none.reviews.lastChange;
  const commits = await tryTo(() => readMerges(forge, needed, pullRequest, listed, submitted), {
    ...unread,
    cleanMerges: new Set<string>(),
    updatedFrom: [],
  });
  const codeOwners = needed.codeOwners
    ? await tryTo(() => readCodeOwnersThen(forge, merged, changedFiles), none.codeOwners)
    : none.codeOwners;
  const facts: Facts = {
    pullRequest,
    changedFiles,
    commits,
    reviews: { reviews: submitted, complete: reviews !== undefined, lastChange, requested },
    teams: new Map(),
    codeOwners,
    checks,
    conversations,
    people: operatorsPeople(forge),
    triage,
    repository: repositoryTraits,
  };
  return { facts, gone, failure };
}

/** Where the forge lists no commits of a merged pull request, it lists no files either. */
async function readChangedFiles(forge: Forge, pullRequest: PullRequest): Promise<ChangedFiles> {
  const changedFiles = await forge.changedFiles(pullRequest, pullRequest.head.sha);
  if (changedFiles.files.length === 0) {
    await readCommits(forge, pullRequest, { signatures: false, signers: false, authors: false, authorTrailers: [] });
  }
  return changedFiles;
}

/** Those submitted before it was merged. */
async function readReviews(
  forge: Forge,
  { requestsForChanges }: NeededFacts,
  pullRequest: PullRequest,
  mergedAt: string,
): Promise<readonly PersonReview[]> {
  const reviews = await forge.reviews(pullRequest, { requestsForChanges });
  return reviews.filter(({ submittedAt }) => Date.parse(submittedAt) <= Date.parse(mergedAt));
}

/** Those begun before it was merged, as they are today: no forge tells when one was resolved. */
async function readConversationsThen(forge: Forge, pullRequest: PullRequest, mergedAt: string): Promise<Conversations> {
  const { conversations, complete } = await readOthersConversations(forge, pullRequest, pullRequest.head.sha);
  const then = conversations.filter(({ startedAt }) => !(Date.parse(startedAt) > Date.parse(mergedAt)));
  return { conversations: then, complete };
}

/** What changed after the merge hides what changed before it. */
async function readLastChangeThen(
  forge: Forge,
  pullRequest: PullRequest,
  reviews: readonly PersonReview[] | undefined,
  mergedAt: string,
): Promise<LastChange> {
  if (reviews !== undefined && !reviews.some(({ state }) => state === 'approved' || state === 'dismissed')) {
    return { kind: 'none' };
  }
  const last = await readLastChange(forge, pullRequest);
  return last.kind === 'change' && Date.parse(last.at) > Date.parse(mergedAt) ? { kind: 'unread' } : last;
}

/**
 * The base branch has the commits of the pull request now. What was brought into the pull request from the base branch
 * is known by what its list of commits leaves out: what the base branch had then.
 */
async function readMerges(
  forge: Forge,
  needed: NeededFacts,
  pullRequest: PullRequest,
  listed: AuthoredCommits,
  reviews: readonly PersonReview[],
): Promise<Facts['commits']> {
  const { commits, complete } = listed;
  const isClean = lookIntoMerges(forge, pullRequest.repository);
  // An approval that was dismissed since may have counted.
  const approvals = reviews.map((review) =>
    review.state === 'dismissed' ? { ...review, state: 'approved' as const } : review,
  );
  const own = new Set(commits.map(({ sha }) => sha));
  const then: Forge = { ...forge, isAncestor: async (_repository, ancestor) => complete && !own.has(ancestor) };
  return {
    ...listed,
    cleanMerges: needed.cleanMerges
      ? await readCleanMerges(isClean, listed, needed.authorTrailers, approvals)
      : new Set(),
    updatedFrom: needed.updates ? await readUpdatedFrom(then, isClean, pullRequest, '', commits, approvals) : [],
  };
}

/** From the commit that merged it, which has the base branch's own unless the pull request changed it. */
async function readCodeOwnersThen(
  forge: Forge,
  { pullRequest, mergeCommit }: MergedPullRequest,
  { files, complete }: ChangedFiles,
): Promise<Facts['codeOwners']> {
  const { paths } = FORGES[forge.name].codeOwners;
  const changed = files.some(({ path, previousPath }) => paths.includes(path) || paths.includes(previousPath ?? path));
  return mergeCommit === undefined || !complete || changed
    ? { kind: 'unread' }
    : readCodeOwners(forge, pullRequest.repository, mergeCommit);
}
