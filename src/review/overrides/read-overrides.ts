import { machinesAmong } from '../../facts/authors/machines.ts';
import { withMakers } from '../../facts/authors/makers.ts';
import { joinPeople, operatorsPeople, type PeopleSettings } from '../../facts/authors/people-settings.ts';
import { readCommits } from '../../facts/commits.ts';
import type { Reading } from '../../facts/fact.ts';
import { readLastChange } from '../../facts/last-change.ts';
import { everybodyIn, MAX_ASKED_MEMBERS, membersAmong, organisationOf, readOwnTeams } from '../../facts/teams.ts';
import { answersFor } from '../../facts/writers.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { blockingRules } from '../evaluation/blocking-rules.ts';
import type { Evaluation } from '../evaluation/evaluation.ts';
import { MAX_OVERRIDERS } from '../limits.ts';
import type { Policy } from '../policy/policy.ts';
import { type Group, isMember } from '../predicates/team-members.ts';
import type { Text } from '../text.ts';
import {
  type Claim,
  type ClaimContext,
  type ClaimFacts,
  claimsIn,
  type RecordedComments,
  refusalByFacts,
  refusalOf,
} from './judge-overrides.ts';
import { canBeOverridden, type Override, type Overrides, overridersOf, type RefusedOverride } from './override.ts';

/** Where the commits come from, and who made them. */
type Sources = Pick<Reading<unknown>, 'preloaded' | 'makers' | 'writeAccess'>;

/**
 * What people override of a pull request, from the comments that are there now. Undefined when the policy lets nobody
 * override. Nothing is read when no rule blocks, and who may do what only for commands that have nothing else against
 * them.
 */
export async function readOverrides(
  forge: Forge,
  policy: Policy,
  pullRequest: PullRequest,
  evaluation: Evaluation,
  recordedComments: (repository: string, commentIds: readonly string[]) => Promise<RecordedComments>,
  sources: Sources,
): Promise<Overrides | undefined> {
  const overriders = (ruleId: string) => overridersOf(policy, { id: ruleId });
  if (!canBeOverridden(policy)) {
    return undefined;
  }
  const headSha = pullRequest.head.sha;
  const blocking = blockingRules(evaluation);
  if (blocking.length === 0) {
    return { headSha, complete: true, inForce: [], refused: [], possible: [] };
  }
  const [comments, self] = await Promise.all([unlessUnreadable(() => forge.comments(pullRequest)), forge.self()]);
  const found = claimsIn(comments ?? [], evaluation);
  // After the comments: an edit of one that was read is recorded by now, or starts another review.
  const recorded = await recordedComments(
    pullRequest.repository,
    found.map(({ comment }) => comment.id),
  );
  const people = joinPeople(operatorsPeople(forge), policy);
  const isMachine = machinesAmong(people.machineAccounts);
  const context: ClaimContext = { pullRequest, evaluation, overridersOf: overriders, self, recorded, isMachine };

  const claims = found.map((claim) => ({ claim, why: refusalOf(claim, context) }));
  const open = claims.flatMap(({ claim, why }) => (why === undefined ? [claim] : []));
  const facts = open.length === 0 ? undefined : await readClaimFacts(forge, open, context, people, sources);

  const { inForce, refused } = judgeClaims(claims, context, facts);
  const possible = blocking.flatMap(({ rule }) => {
    const by = inForce.has(rule.id) ? undefined : overriders(rule.id)?.names;
    return by === undefined ? [] : [{ ruleId: rule.id, by }];
  });
  return { headSha, complete: comments !== undefined, inForce: [...inForce.values()], refused, possible };
}

/**
 * The first command for a rule that has nothing against it counts. `why`: what is against it before any facts are read.
 */
function judgeClaims(
  claims: readonly { readonly claim: Claim; readonly why: Text | undefined }[],
  context: ClaimContext,
  facts: ClaimFacts | undefined,
): { readonly inForce: ReadonlyMap<string, Override>; readonly refused: readonly RefusedOverride[] } {
  const inForce = new Map<string, Override>();
  const refused: RefusedOverride[] = [];
  for (const { claim, why: before } of claims) {
    const { comment, command } = claim;
    const { ruleId, reason } = command;
    const first = inForce.get(ruleId);
    const why =
      before ??
      (facts === undefined ? undefined : refusalByFacts(claim, context, facts)) ??
      (first && [`is not needed: the rule is overridden already`]);
    if (why === undefined && comment.author !== null && facts !== undefined) {
      inForce.set(ruleId, { ruleId, by: comment.author, reason, commentId: comment.id, at: comment.createdAt });
    } else if (why !== undefined) {
      refused.push({ ruleId, author: comment.author, commentId: comment.id, why });
    }
  }
  return { inForce, refused };
}

/** Only for people who may override: others can write any number of commands, for which nothing more is read. */
async function readClaimFacts(
  forge: Forge,
  claims: readonly Claim[],
  { pullRequest, overridersOf: overriders, recorded }: ClaimContext,
  people: PeopleSettings,
  { preloaded, makers, writeAccess }: Sources,
): Promise<ClaimFacts> {
  const { authorTrailers } = people;
  const groupOf = ({ command }: Claim) => overriders(command.ruleId) ?? NOBODY;
  const inOrder = inOrderOfAsking(claims, recorded);
  const authors = new Set(inOrder.map(({ comment }) => comment.author?.toLowerCase() ?? ''));
  const unasked = new Set([...authors].slice(MAX_ASKED_MEMBERS));
  const teams = await readTeamsOf(forge, pullRequest, inOrder, groupOf);
  const logins = claims.flatMap((claim) => {
    const login = claim.comment.author?.toLowerCase() ?? '';
    return isMember(login, groupOf(claim), teams) === true ? [login] : [];
  });
  if (logins.length === 0) {
    return { teams, people, unasked, ...UNREAD };
  }
  const asked = new Map(logins.map((login) => [login, 'unknown'] as const));
  const [listed, lastChange, answers] = await Promise.all([
    readCommits({ forge, pullRequest, authorTrailers, preloaded }, ['authors']),
    readLastChange({ forge, pullRequest }),
    answersFor(writeAccess, asked, MAX_OVERRIDERS),
  ]);
  const commits = await withMakers(listed, pullRequest, authorTrailers, makers);
  return { teams, people, unasked, commits, lastChange, writers: { answers } };
}

/**
 * Only so many people are asked about, and strangers must not crowd out those who may override. First whoever has
 * overridden already, then the newest: whoever was left out posts the command again.
 */
function inOrderOfAsking(claims: readonly Claim[], { counted }: RecordedComments): readonly Claim[] {
  const newest = claims
    .toReversed()
    .toSorted((a, b) => Date.parse(b.comment.createdAt) - Date.parse(a.comment.createdAt));
  return newest.toSorted(
    (a, b) => Number(counted?.has(b.comment.id) ?? false) - Number(counted?.has(a.comment.id) ?? false),
  );
}

/** For an organisation, only whether the authors of the commands are members. */
async function readTeamsOf(
  forge: Forge,
  pullRequest: PullRequest,
  claims: readonly Claim[],
  groupOf: (claim: Claim) => Group,
): Promise<ClaimFacts['teams']> {
  const named = new Set(claims.flatMap((claim) => groupOf(claim).teams));
  const authors = claims.flatMap(({ comment }) => comment.author ?? []);
  const organisations = [...named].flatMap((team) => organisationOf(team) ?? []);
  const [teams, ...members] = await Promise.all([
    readOwnTeams(
      forge,
      pullRequest.repository,
      [...named].filter((team) => organisationOf(team) === undefined),
    ),
    ...organisations.map(async (organisation) => {
      const among = await membersAmong(forge, pullRequest.repository, undefined, organisation, authors);
      return [everybodyIn(organisation), among] as const;
    }),
  ]);
  return new Map([...teams, ...members.flatMap(([team, among]) => (among ? [[team, among] as const] : []))]);
}

const NOBODY = { people: [], teams: [] };
const UNREAD = {
  commits: { commits: [], complete: false, accounts: new Map() },
  lastChange: { kind: 'unread' },
  writers: { answers: new Map() },
} as const;

/**
 * Undefined where asking again would bring no other answer, such as a missing permission or a list that is too long.
 */
async function unlessUnreadable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError && UNREADABLE.includes(error.kind)) {
      return undefined;
    }
    throw error;
  }
}

const UNREADABLE: readonly ForgeError['kind'][] = ['refused', 'invalid', 'too-large'];
