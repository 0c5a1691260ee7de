import type { Facts, LastChange } from '../facts.ts';
import { quotedList, say, type Text } from '../text.ts';
import type { Wanted } from './approvals-wanted.ts';
import type { Committers } from './committers.ts';
import type { CurrentApproval } from './current-approvals.ts';
import { isMember } from './team-members.ts';

/** Approvals in force, by what a rule makes of them, whomever it wants them from. */
export interface Counted {
  /** Logins of those whose approval counts. */
  readonly certain: readonly string[];
  /** Logins of those who may be among people whose approval does not count. */
  readonly unknown: readonly string[];
  /** Of the others, why not. */
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
  committers: Committers,
): Counted {
  const excluded = approvals.flatMap((approval): readonly Excluded[] => {
    const why = exclusionOf(approval, wanted, facts, committers);
    return why === undefined ? [] : [{ author: approval.author, why }];
  });
  const others = approvals
    .map(({ author }) => author)
    .filter((login) => !excluded.some(({ author }) => author === login));
  const isUnknown = (login: string) => isMember(login, wanted.notFrom, facts.teams) === undefined;
  return {
    certain: others.filter((login) => !isUnknown(login)),
    unknown: others.filter(isUnknown),
    excluded,
  };
}

/** Why an approval does not count: the first reason there is. */
function exclusionOf(
  { author, sha, submittedAt, official, bot }: CurrentApproval,
  wanted: Wanted,
  facts: Facts,
  committers: Committers,
): string | undefined {
  const login = author.toLowerCase();
  if (bot && !wanted.people.some((named) => named.toLowerCase() === login)) {
    return 'a bot that the policy does not name';
  }
  if (isMember(author, wanted.notFrom, facts.teams) === true) {
    return 'whose approval the policy does not count';
  }
  if (wanted.from === undefined && !official) {
    return 'who may not write to the repository';
  }
  if (!wanted.committers && committers.logins.has(login)) {
    return 'who committed to this pull request';
  }
  if (wanted.fresh !== false && !isCurrent(sha, wanted, facts)) {
    return wanted.fresh === true
      ? 'given for an earlier commit'
      : 'given for an earlier commit, after which more than the base branch came in';
  }
  return wanted.fresh !== false && isBefore(submittedAt, facts.reviews.lastChange)
    ? 'given before the last force-push or change of base'
    : undefined;
}

function isCurrent(sha: string, { fresh }: Wanted, { pullRequest, commits }: Facts): boolean {
  return sha === pullRequest.head.sha || (fresh === 'except-updates' && commits.updatedFrom.includes(sha));
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
