import type { Author, Authors, SeenAuthor } from '../../facts/authors/authors.ts';
import { type IsMachine, machinesAmong } from '../../facts/authors/machines.ts';
import type { LastChange } from '../../facts/last-change.ts';
import type { Facts } from '../../facts/table.ts';
import { quotedList, say, type Text } from '../text.ts';
import { isOfWriters, type Wanted, wantedGroup } from './approvals-wanted.ts';
import type { CurrentApproval } from './current-approvals.ts';
import type { Outcome } from './predicate.ts';
import { type Group, isMember, unreadableTeams } from './team-members.ts';
import { isWriter } from './write-access.ts';

/** Approvals in force, by what a rule makes of them, whomever it wants them from. */
export interface Counted {
  /** Logins of those whose approval counts. */
  readonly certain: readonly string[];
  /** Logins of those who may be among people whose approval does not count. */
  readonly unknown: readonly string[];
  /** Logins of those whose approval the forge counts no longer: it counts for whoever names them, and for no amount. */
  readonly discounted: ReadonlySet<string>;
  /** Logins of programs, which the policy names. */
  readonly machines: ReadonlySet<string>;
  /** The other approvals, each with the reason. */
  readonly excluded: readonly Excluded[];
}

interface Excluded {
  readonly author: string;
  readonly why: string;
}

export function countApprovals(
  approvals: readonly CurrentApproval[],
  wanted: Wanted,
  facts: Facts,
  { byLogin }: Authors,
): Counted {
  const isMachine = machinesAmong(facts.people.machineAccounts);
  const excluded = approvals.flatMap((approval): readonly Excluded[] => {
    const why = exclusionOf(approval, wanted, facts, byLogin.get(approval.author.toLowerCase()), isMachine);
    return why === undefined ? [] : [{ author: approval.author, why }];
  });
  const others = approvals
    .map(({ author }) => author)
    .filter((login) => !excluded.some(({ author }) => author === login));
  const isUnknown = (login: string) => isMember(login, wanted.notFrom, facts.teams) === undefined;
  return {
    certain: others.filter((login) => !isUnknown(login)),
    unknown: others.filter(isUnknown),
    discounted: loginsOf(approvals.filter(({ counted }) => counted === 'no')),
    machines: loginsOf(approvals.filter(({ author, bot }) => isMachine({ login: author.toLowerCase(), bot }))),
    excluded,
  };
}

function loginsOf(approvals: readonly CurrentApproval[]): ReadonlySet<string> {
  return new Set(approvals.map(({ author }) => author));
}

type Made = Author | SeenAuthor;

const WHY_AUTHOR: Readonly<Record<Made['as'], string>> = {
  author: 'who committed to this pull request',
  committer: 'who committed to this pull request',
  'co-author': 'named as a co-author of this pull request',
  pusher: 'who pushed a commit of this pull request',
  seen: 'who made a commit of this pull request that was there before',
};

/** Why an approval does not count: the first reason there is. */
function exclusionOf(
  { author, sha, submittedAt, counted, bot }: CurrentApproval,
  wanted: Wanted,
  facts: Facts,
  made: Made | undefined,
  isMachine: IsMachine,
): string | undefined {
  const barred = barredBy({ login: author, bot }, wanted, facts, made, isMachine);
  if (barred !== undefined) {
    return barred;
  }
  if (isOfWriters(wanted) && isMember(author, wantedGroup(wanted), facts.teams) === false) {
    if (isWriter(author, facts) === false) {
      return 'without write access';
    }
    if (counted === 'no') {
      return 'given before its author could write to the repository, or was asked for another review: approve again, unless the branch protection counts only others’ approvals';
    }
  }
  if (wanted.fresh !== false && !isCurrent(sha, wanted, facts)) {
    return wanted.fresh === true
      ? 'given for an earlier commit'
      : 'given for an earlier commit, after which more than the base branch came in';
  }
  return wanted.fresh !== false && isBefore(submittedAt, facts.lastChange)
    ? 'given before the last force-push or change of base'
    : undefined;
}

/** Why no approval of theirs can count, whenever they give it. */
function barredBy(
  { login, bot }: { readonly login: string; readonly bot: boolean },
  wanted: Wanted,
  facts: Facts,
  made: Made | undefined,
  isMachine: IsMachine,
): string | undefined {
  const named = wantedGroup(wanted).people.some((name) => name.toLowerCase() === login.toLowerCase());
  if (isMachine({ login: login.toLowerCase(), bot }) && !named) {
    return 'a bot that the policy does not name';
  }
  if (isMember(login, wanted.notFrom, facts.teams) === true) {
    return 'whose approval the policy does not count';
  }
  // Where an approval outlives any push, whoever pushes gains nothing by it.
  const isPusherOnly = made?.as === 'pusher' && wanted.fresh === false;
  return !wanted.committers && made !== undefined && !isPusherOnly ? WHY_AUTHOR[made.as] : undefined;
}

/** Tells who could still approve, as far as it is known: not the author, and nobody whose approval cannot count. */
export function possibleApprovers(wanted: Wanted, facts: Facts, { byLogin }: Authors): (login: string) => boolean {
  const isMachine = machinesAmong(facts.people.machineAccounts);
  const pullRequestAuthor = facts.pullRequest.author.toLowerCase();
  return (login) =>
    login.toLowerCase() !== pullRequestAuthor &&
    barredBy({ login, bot: false }, wanted, facts, byLogin.get(login.toLowerCase()), isMachine) === undefined;
}

function isCurrent(sha: string, { fresh }: Wanted, { pullRequest, merges }: Facts): boolean {
  return sha === pullRequest.head.sha || (fresh === 'except-updates' && merges.updatedFrom.includes(sha));
}

/** Forges tell times in seconds: of two things in the same second, the approval may have come first. */
function isBefore(submittedAt: string, lastChange: LastChange): boolean {
  return lastChange.kind === 'change' && !(Date.parse(submittedAt) > Date.parse(lastChange.at));
}

export function notCounted(excluded: readonly Excluded[]): Text {
  return [...new Set(excluded.map(({ why }) => why))].flatMap((why) => {
    const logins = excluded.filter((approval) => approval.why === why).map(({ author }) => author);
    return say` (not counted: ${quotedList(logins)}, ${[why]})`;
  });
}

export interface ApprovalsAmong {
  readonly outcome: Outcome;
  /** Logins of those whose approval counts, and who are among the people wanted. */
  readonly counting: readonly string[];
  /** Teams whose members could have changed the answer. */
  readonly unreadable: readonly string[];
  /** Logins of those who could have changed it, if it were known whether they may write. */
  readonly unknownWriters: readonly string[];
}

/** Approvals that are needed. */
interface Demand {
  readonly count: number;
  /** Undefined: from whoever may write to the repository. */
  readonly from: Group | undefined;
  /** The people whom the policy itself names here: no other machine counts. */
  readonly named: readonly string[];
  readonly notFrom: Group;
}

/** Whether enough of those who approved are wanted; undecided where it depends on a team that could not be read. */
export function approvalsAmong(
  { count, from, named, notFrom }: Demand,
  counted: Counted,
  facts: Facts,
): ApprovalsAmong {
  const isWanted = (login: string) => {
    if (counted.machines.has(login) && !named.some((name) => name.toLowerCase() === login.toLowerCase())) {
      return false;
    }
    if (from !== undefined) {
      return isMember(login, from, facts.teams);
    }
    return counted.discounted.has(login) ? false : isWriter(login, facts);
  };
  const counting = counted.certain.filter((login) => isWanted(login) === true);
  const possible = [...counted.certain, ...counted.unknown].filter((login) => isWanted(login) !== false);
  const undecided = from === undefined ? possible.filter((login) => isWriter(login, facts) === undefined) : [];
  // Whoever operates Gatehouse can let it see who may write.
  const open = undecided.length > 0 && counted.unknown.length === 0 ? 'awaited' : 'undecided';
  const outcome = counting.length >= count ? 'matched' : possible.length >= count ? open : 'unmatched';
  return {
    outcome,
    counting,
    unreadable: unreadableTeams([...(from?.teams ?? []), ...notFrom.teams], facts.teams),
    unknownWriters: outcome === 'matched' ? [] : undecided,
  };
}
