import type { Facts } from '../facts.ts';
import { count, quotedList, say, type Text } from '../text.ts';
import { countApprovals, notCounted } from './approvals-counted.ts';
import { approvalsWanted, CODE_OWNERS, type Wanted } from './approvals-wanted.ts';
import { type Weighed, weigh } from './approvals-weighed.ts';
import { type Committers, committersOf } from './committers.ts';
import { currentApprovals } from './current-approvals.ts';
import { definePredicate, type PredicateResult } from './predicate.ts';

const SHA_SHOWN = 10;
const COMMITS_SHOWN = 3;
const UNKNOWN_AGE = say`; the force-pushes and changes of base could not be read`;

export const approvals = definePredicate({
  description:
    "Enough people approve of the pull request. The latest word of each person counts, and never the author's own, nor that of somebody who committed to it.",
  actor: 'others',
  schema: approvalsWanted,
  needs: ({ codeOwners, teams, notFrom, committers, fresh }) => ({
    reviews: true,
    lastChange: fresh !== false,
    teams: [...teams, ...notFrom.teams],
    ...(committers ? {} : { commits: true, cleanMerges: true }),
    ...(fresh === 'except-updates' ? { commits: true, updates: true } : {}),
    ...(codeOwners ? { codeOwners: true, changedFiles: true } : {}),
  }),
  judge(wanted, _options, facts) {
    const committers = committersOf(facts.commits);
    const approvals = currentApprovals(facts.reviews.reviews, facts.pullRequest.author);
    const counted = countApprovals(approvals, wanted, facts, committers);
    const {
      outcome,
      found,
      given = 0,
    }: Weighed = facts.reviews.complete
      ? weigh(wanted, counted, facts)
      : { outcome: 'undecided', found: say`reviews that could not be read in full` };
    const unknownAge = wanted.fresh !== false && facts.reviews.lastChange.kind === 'unread';
    // Anybody who approves could have made a commit that was not read.
    const unknownCommitters = !wanted.committers && !facts.commits.complete;
    const unsure = outcome === 'matched' && (unknownAge || unknownCommitters);
    return {
      outcome: unsure ? 'undecided' : outcome,
      expected: approvalsOf(wanted, count(wanted.count, 'approval')),
      ...(given > 0 && given < wanted.count
        ? { awaited: approvalsOf(wanted, count(wanted.count - given, 'more approval')) }
        : {}),
      found: say`${found}${notCounted(counted.excluded)}${unknownAge ? UNKNOWN_AGE : []}${aboutCommits(wanted, facts, committers)}`,
      remedy: remedyOf(wanted),
    };
  },
});

function aboutCommits(wanted: Wanted, { commits }: Facts, { unknown }: Committers): Text {
  if (wanted.committers) {
    return [];
  }
  const unread = commits.complete ? [] : say`; the list of commits is not complete, so a committer may be among them`;
  const named = unknown.map(({ sha, author }) => `${sha.slice(0, SHA_SHOWN)} ${author.email}`);
  return unknown.length === 0
    ? unread
    : say`${unread}; no account is known for the e-mail address of ${quotedList(named, COMMITS_SHOWN)}`;
}

const GIVEN_FOR = {
  true: say`, given for the newest commit`,
  'except-updates': say`, given for the newest commit or before updates from the base branch alone`,
  false: [],
} as const;

const GIVEN_AFTER = {
  true: say` after the last push or change of base`,
  'except-updates': say` after the last push that is not an update from the base branch, and after the last change of base`,
  false: [],
} as const;

/** The approvals of this amount that a rule wants. */
function approvalsOf(wanted: Wanted, amount: Text): Text {
  return say`${amount}${fromWhom(wanted)}${exceptFrom(wanted)}${GIVEN_FOR[`${wanted.fresh}`]}`;
}

function fromWhom({ from, codeOwners }: Wanted): Text {
  if (from === undefined) {
    return [];
  }
  const others = from.filter((member) => member !== CODE_OWNERS);
  const owners =
    others.length === 0
      ? say`the code owners of each changed file`
      : say`the code owners of each changed file or ${quotedList(others)}`;
  return say` from ${codeOwners ? owners : quotedList(from)}`;
}

function exceptFrom({ notFrom }: Wanted): Text {
  return notFrom.names.length === 0 ? [] : say`, not from ${quotedList(notFrom.names)}`;
}

function remedyOf(wanted: Wanted): PredicateResult['remedy'] {
  const whom = wanted.from === undefined ? say`people who may write to the repository` : quotedList(wanted.from);
  return {
    toMatch: say`Ask ${whom}${exceptFrom(wanted)} for a review; ${count(wanted.count, 'approval')} needed${GIVEN_AFTER[`${wanted.fresh}`]}.`,
    toAvoid: say`This rule requires fewer than ${count(wanted.count, 'approval')}: dismiss one.`,
  };
}
