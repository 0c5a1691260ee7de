import type { AskedChecks, Checks } from '../../forges/port/checks.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { FORGES } from '../../forges/port/forges.ts';
import type {
  ChangedFiles,
  Commit,
  PreloadedFacts,
  PullRequest,
  PullRequestRead,
} from '../../forges/port/pull-request.ts';
import type { AuthoredCommits } from '../authors/authors.ts';
import { operatorsPeople } from '../authors/people-settings.ts';
import { readAccounts } from '../authors/read-accounts.ts';
import { type Facts, type LastChange, type NeededFacts, unreadFacts } from '../facts.ts';
import { neededFacts } from '../policy/needs.ts';
import type { Policy } from '../policy/policy.ts';
import { type SourceText, sourceText } from '../sources.ts';
import { lookIntoMerges, readCleanMerges } from './clean-merge.ts';
import type { EvaluationWorkers } from './evaluation.ts';
import { readOthersConversations } from './read-conversations.ts';
import { isOwn, readMembers } from './read-members.ts';
import { readTraits } from './read-traits.ts';
import { readUpdatedFrom } from './updates.ts';

export type ReadChecks = (ask: AskedChecks) => Promise<Checks>;

/**
 * Reads from the forge what the policy needs and what is not known yet, and no more. The changed files have been read
 * already. `baseSha` is the base branch's commit that the policy was read at. `readChecks` is only called for a policy
 * that asks for checks.
 */
export function gatherFacts(
  forge: Forge,
  workers: EvaluationWorkers,
  policy: Policy,
  { pullRequest, preloaded }: Pick<PullRequestRead, 'pullRequest' | 'preloaded'>,
  changedFiles: ChangedFiles,
  baseSha: string,
  readChecks: ReadChecks,
): Promise<Facts> {
  const unread = { ...unreadFacts(pullRequest), changedFiles, people: operatorsPeople(forge) };
  return gatherMore(forge, workers, neededFacts(policy), unread, preloaded, baseSha, readChecks);
}

/** Reads what is needed, and adds it to what was read before. `preloaded`: what came with the pull request. */
export async function gatherMore(
  forge: Forge,
  workers: EvaluationWorkers,
  needed: NeededFacts,
  before: Facts,
  preloaded: PreloadedFacts,
  baseSha: string,
  readChecks: ReadChecks,
): Promise<Facts> {
  const { pullRequest } = before;
  const [commits, reviews, requested, triage, repository, codeOwners, checks, conversations] = await Promise.all([
    needed.commits ? readCommits(forge, pullRequest, needed, preloaded) : before.commits,
    needed.reviews ? readReviews(forge, pullRequest, needed.requestsForChanges, preloaded.reviews) : before.reviews,
    needed.requestedReviews ? forge.requestedReviews(pullRequest) : before.reviews.requested,
    needed.triage ? forge.triage(pullRequest) : before.triage,
    needed.repository ? readTraits(forge, pullRequest.repository) : before.repository,
    needed.codeOwners ? readCodeOwners(forge, pullRequest.repository, baseSha) : before.codeOwners,
    needed.checks ? readChecks({ suites: needed.checkSuites }) : before.checks,
    needed.conversations ? readOthersConversations(forge, pullRequest, pullRequest.head.sha) : before.conversations,
  ]);
  const lastChange = needed.lastChange
    ? await readLastChangeBefore(forge, pullRequest, reviews)
    : before.reviews.lastChange;
  const isClean = lookIntoMerges(forge, pullRequest.repository);
  const cleanMerges = needed.cleanMerges
    ? await readCleanMerges(isClean, commits, needed.authorTrailers, reviews.reviews)
    : before.commits.cleanMerges;
  const updatedFrom = needed.updates
    ? await readUpdatedFrom(forge, isClean, pullRequest, baseSha, commits.commits, reviews.reviews)
    : before.commits.updatedFrom;
  const facts: Facts = {
    ...before,
    commits: { ...commits, cleanMerges, updatedFrom },
    reviews: { ...reviews, lastChange, requested },
    codeOwners,
    checks,
    conversations,
    triage,
    repository,
  };
  const named = [...needed.teams, ...(needed.codeOwners ? await workers.ownerTeams(facts) : [])];
  const [teams, members] = await Promise.all([
    readOwnTeams(forge, pullRequest, named),
    readMembers(forge, facts, needed.members, needed.authorTrailers),
  ]);
  return { ...facts, teams: new Map([...before.teams, ...teams, ...members]) };
}

/**
 * Incomplete when the list is larger than is read. An empty list is believed only where the base branch has the head:
 * what asks of every commit, and who committed, would be decided by commits that the forge does not show.
 */
export async function readCommits(
  forge: Forge,
  pullRequest: PullRequest,
  {
    signatures,
    signers,
    authors,
    authorTrailers,
  }: Pick<NeededFacts, 'signatures' | 'signers' | 'authors' | 'authorTrailers'>,
  preloaded: Pick<PreloadedFacts, 'commits' | 'accounts'> = {},
): Promise<AuthoredCommits> {
  const listed = signatures ? undefined : preloaded.commits;
  const commits = listed ?? (await unlessTooLarge(() => forge.commits(pullRequest, { signatures, signers })));
  if (commits !== undefined && commits.length > 0 && !endsAt(commits, pullRequest.head.sha)) {
    const { repository, number, head } = pullRequest;
    throw new ForgeError(
      'unavailable',
      `${repository}#${number}: the forge lists the commits of another commit than the head ${head.sha}`,
    );
  }
  if (commits?.length === 0 && !(await isInBase(forge, pullRequest))) {
    const { repository, number, state } = pullRequest;
    const message = `${repository}#${number}: the forge lists no commits of this pull request, and it must have some`;
    // The list of a merged one stays as it is: Gitea merged it before it had computed what it is compared with.
    throw new ForgeError(state === 'open' ? 'unavailable' : 'invalid', message);
  }
  const accounts =
    commits !== undefined && authors
      ? await readAccounts(forge, pullRequest.repository, commits, authorTrailers, preloaded.accounts)
      : new Map();
  return { commits: commits ?? [], complete: commits !== undefined, accounts };
}

/** Whether an open pull request brings nothing in. The base branch of a merged one has it anyway: that says nothing. */
async function isInBase(forge: Forge, { repository, state, base, head }: PullRequest): Promise<boolean> {
  const tip = state === 'open' ? await forge.branchCommit(repository, base.branch) : undefined;
  return tip !== undefined && (tip === head.sha || (await forge.isAncestor(repository, head.sha, tip)));
}

/** The head may move, and move back, while they are read. */
function endsAt(commits: readonly Commit[], headSha: string): boolean {
  return commits.some(({ sha }) => sha === headSha) && !commits.some(({ parents }) => parents.includes(headSha));
}

async function readReviews(
  forge: Forge,
  pullRequest: PullRequest,
  requestsForChanges: boolean,
  preloaded: PreloadedFacts['reviews'],
): Promise<Pick<Facts['reviews'], 'reviews' | 'complete'>> {
  const reviews = preloaded ?? (await unlessTooLarge(() => forge.reviews(pullRequest, { requestsForChanges })));
  return { reviews: reviews ?? [], complete: reviews !== undefined };
}

async function unlessTooLarge<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'too-large') {
      return undefined;
    }
    throw error;
  }
}

/** Only with an approval to compare with. */
async function readLastChangeBefore(
  forge: Forge,
  pullRequest: PullRequest,
  { reviews, complete }: Pick<Facts['reviews'], 'reviews' | 'complete'>,
): Promise<LastChange> {
  const none = complete && !reviews.some(({ state }) => state === 'approved');
  return none ? { kind: 'none' } : readLastChange(forge, pullRequest);
}

/** Unread where asking again would bring no other answer, such as a missing permission or a list that is too long. */
export async function readLastChange(forge: Forge, pullRequest: PullRequest): Promise<LastChange> {
  try {
    const at = await forge.lastForcePushOrRetarget(pullRequest);
    return at === undefined ? { kind: 'none' } : { kind: 'change', at };
  } catch (error) {
    if (error instanceof ForgeError && ['refused', 'invalid', 'too-large'].includes(error.kind)) {
      return { kind: 'unread' };
    }
    throw error;
  }
}

/** From the base branch, so that a pull request cannot choose who must approve it. */
export async function readCodeOwners(forge: Forge, repository: string, baseSha: string): Promise<Facts['codeOwners']> {
  const { paths, dialect } = FORGES[forge.name].codeOwners;
  for (const path of paths) {
    try {
      const text = await forge.fileAt(repository, path, baseSha);
      if (text !== undefined) {
        return { kind: 'file', path, text, dialect };
      }
    } catch (error) {
      if (error instanceof ForgeError && (error.kind === 'too-large' || error.kind === 'not-a-file')) {
        return { kind: 'unusable', path, reason: error.message };
      }
      throw error;
    }
  }
  return { kind: 'absent' };
}

/**
 * Undefined where CODEOWNERS was not needed. Where it was needed and is absent there is a digest too: it may be added.
 */
export function codeOwnersText(codeOwners: Facts['codeOwners']): SourceText | undefined {
  switch (codeOwners.kind) {
    case 'unread':
      return undefined;
    case 'absent':
      return sourceText({ path: '', text: '' });
    case 'unusable':
      return sourceText({ path: codeOwners.path, text: codeOwners.reason });
    case 'file':
      return sourceText(codeOwners);
  }
}

/** Teams of the pull request's own organisation. Teams of others stay unread. */
export async function readOwnTeams(
  forge: Forge,
  pullRequest: PullRequest,
  teams: Iterable<string>,
): Promise<Facts['teams']> {
  return readTeams(
    forge,
    [...new Set(teams)].filter((team) => isOwn(pullRequest, team)),
  );
}

async function readTeams(forge: Forge, teams: readonly string[]): Promise<Facts['teams']> {
  const read = await Promise.all(teams.map(async (team) => [team, await forge.teamMembers(team)] as const));
  return new Map(read.flatMap(([team, logins]) => (logins === undefined ? [] : [[team, { kind: 'team', logins }]])));
}
