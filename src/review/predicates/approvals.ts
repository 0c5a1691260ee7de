import { type Authors, authorsOf } from '../../facts/authors/authors.ts';
import { reviews } from '../../facts/reviews.ts';
import type { Facts, Needs } from '../../facts/table.ts';
import { neededMembers } from '../../facts/teams.ts';
import { count, either, joinTexts, quotedList, say, type Text, unreadText } from '../text.ts';
import { approvalsWanted, isOfWriters, type Wanted, wantedGroup } from './approvals-wanted.ts';
import { approvalsAmong, type Counted, countApprovals, notCounted, possibleApprovers } from './counted-approvals.ts';
import { currentApprovals } from './current-approvals.ts';
import { approvedBy, judgeOwners } from './owner-approvals.ts';
import { definePredicate, type Outcome, type OwnersTable, type PredicateResult, worstOf } from './predicate.ts';
import { couldNotRead } from './team-members.ts';
import { CODE_OWNERS } from './values.ts';
import { permissionAwaited, permissionUnknown } from './write-access.ts';

const SHA_SHOWN = 10;
const COMMITS_SHOWN = 3;
const UNKNOWN_AGE = say`; the force-pushes and changes of base could not be read`;

export const approvals = definePredicate({
  description:
    "Enough people approve of the pull request. The latest word of each person counts, and never the author's own, nor that of someone who committed to it or is named as a co-author.",
  actor: 'others',
  schema: approvalsWanted,
  needs: (wanted) => ({
    reviews: [],
    ...(wanted.fresh === false ? {} : { lastChange: [] }),
    ...(isOfWriters(wanted) ? { writers: ['approvers'] } : {}),
    ...neededCommits(wanted),
    // The teams that own the changed files are read, too.
    ...(wanted.codeOwners ? { codeOwners: [], changedFiles: [], teams: [] } : {}),
    ...neededMembers('reviewers', [...wantedGroup(wanted).teams, ...wanted.notFrom.teams]),
  }),
  judge(wanted, _options, facts) {
    const authors = authorsOf(facts.commits, facts.people, facts.merges.clean);
    const approvals = currentApprovals(facts.reviews.reviews, facts.pullRequest.author);
    const counted = countApprovals(approvals, wanted, facts, authors);
    const parts: readonly Part[] = facts.reviews.complete
      ? partsOf(wanted, counted, facts, authors)
      : [{ outcome: 'undecided', found: unreadText(reviews, ' in full'), awaited: [] }];
    const outcome = worstOf(parts.map((part) => part.outcome));
    const unknownAge = wanted.fresh !== false && facts.lastChange.kind === 'unread';
    // Anybody who approves could have made a commit that was not read.
    const mayBeAnybody = !authors.complete || (wanted.strict && authors.unknown.length > 0);
    const mayMatch = outcome === 'matched' || outcome === 'awaited';
    const unsure = mayMatch && (unknownAge || (!wanted.committers && mayBeAnybody));
    const awaitedOf = (some: readonly Part[]) =>
      joinTexts(
        some.map((part) => part.awaited),
        ' and ',
      );
    const awaited = awaitedOf(parts);
    const owners = parts.find((part) => part.owners !== undefined)?.owners;
    const found = joinTexts(
      parts.map((part) => part.found),
      '; ',
    );
    return {
      outcome: unsure ? 'undecided' : outcome,
      expected: say`${amountsOf(wanted)}${aside(wanted)}`,
      ...(awaited.length > 0 ? { awaited: say`${awaited}${outcome === 'awaited' ? [] : aside(wanted)}` } : {}),
      found: say`${found}${notCounted(counted.excluded)}${unknownAge ? UNKNOWN_AGE : []}${aboutCommits(wanted, facts, authors)}`,
      ...(owners && { owners }),
      remedy: remedyOf(wanted, awaitedOf(parts.filter((part) => part.outcome === 'unmatched')), outcome === 'awaited'),
    };
  },
});

/** Whoever made the change cannot approve it, and updates from the base branch may leave an approval as it is. */
function neededCommits({ committers, fresh }: Wanted): Needs {
  const updates = fresh === 'except-updates';
  if (committers && !updates) {
    return {};
  }
  return {
    commits: committers ? [] : ['authors'],
    merges: [...(committers ? [] : (['clean'] as const)), ...(updates ? (['updates'] as const) : [])],
  };
}

/** What a rule asks for, one by one: all of it is needed. */
interface Part {
  readonly outcome: Outcome;
  readonly found: Text;
  /** What is still to come, as a noun. */
  readonly awaited: Text;
  readonly owners?: OwnersTable;
}

function partsOf(wanted: Wanted, counted: Counted, facts: Facts, authors: Authors): readonly Part[] {
  const groups = wanted.allOf.length === 0 ? [] : [judgeGroups(wanted, counted, facts)];
  if (wanted.codeOwners) {
    const byOwners = judgeOwners(wanted, counted, facts, possibleApprovers(wanted, facts, authors));
    const awaited = byOwners.outcome === 'unmatched' ? amountOf(wanted, wanted.count) : [];
    return [{ ...byOwners, awaited }, ...groups];
  }
  return wanted.count === 0 ? groups : [judgeAmount(wanted, counted, facts), ...groups];
}

/** Whether the approvals that count are enough, from the people whom the rule wants. */
function judgeAmount(wanted: Wanted, counted: Counted, facts: Facts): Part {
  const { count: amount, people, teams, notFrom } = wanted;
  const from = wanted.from === undefined ? undefined : { people, teams };
  const demand = { count: amount, from, named: people, notFrom };
  const { outcome, counting, unreadable, unknownWriters } = approvalsAmong(demand, counted, facts);
  const given = counting.length;
  return {
    outcome,
    found: say`${approvedBy(counting)}${couldNotRead(outcome, unreadable)}${permissionUnknown(unknownWriters, facts)}`,
    awaited:
      outcome === 'unmatched'
        ? amountOf(withoutThese(wanted, counting), amount - given, given > 0 ? 'more ' : '')
        : permissionAwaited(unknownWriters, facts),
  };
}

/** The same without those who have approved, unless nobody else is named. */
function withoutThese(wanted: Wanted, logins: readonly string[]): Wanted {
  const left = wanted.from?.filter((name) => !logins.some((login) => login.toLowerCase() === name.toLowerCase()));
  return left === undefined || left.length === 0 ? wanted : { ...wanted, from: left };
}

/** Whether each of the groups has an approval. One person may stand for several. */
function judgeGroups({ allOf, notFrom }: Wanted, counted: Counted, facts: Facts): Part {
  const answers = allOf.map(({ name, people, teams }) => {
    const demand = { count: 1, from: { people, teams }, named: people, notFrom };
    return { name, ...approvalsAmong(demand, counted, facts) };
  });
  const namesWith = (wanted: Outcome) => answers.flatMap(({ name, outcome }) => (outcome === wanted ? [name] : []));
  const missing = namesWith('unmatched');
  const unread = namesWith('undecided');
  const outcome = worstOf(answers.map((answer) => answer.outcome));
  const unreadable = [
    ...new Set(answers.flatMap((answer) => (answer.outcome === 'undecided' ? answer.unreadable : []))),
  ];
  return {
    outcome,
    found:
      outcome === 'matched'
        ? say`an approval from each of ${quotedList(allOf.map(({ name }) => name))}`
        : say`none from ${quotedList([...missing, ...unread])}${couldNotRead(outcome, unreadable)}`,
    awaited: eachOf(missing),
  };
}

function aboutCommits(wanted: Wanted, { commits }: Facts, { unknown, complete }: Authors): Text {
  if (wanted.committers) {
    return [];
  }
  const unread = !commits.complete
    ? say`; the list of commits is not complete, so a committer may be among them`
    : complete
      ? []
      : say`; not all co-authors of the commits could be read, so one may be among them`;
  const named = unknown.map(({ sha, named: text }) => `${sha.slice(0, SHA_SHOWN)} ${text}`);
  return unknown.length === 0
    ? unread
    : say`${unread}; no account is known for the e-mail address of ${quotedList([...new Set(named)], COMMITS_SHOWN)}`;
}

const GIVEN_FOR = {
  true: say`, given for the newest commit`,
  'except-updates': say`, given for the newest commit or before updates from the base branch alone`,
  false: [],
} as const;

const ASK_FOR = {
  true: say`After the last push or change of base branch, ask for`,
  'except-updates': say`After the last push other than an update from the base branch, and the last change of base branch, ask for`,
  false: say`Ask for`,
} as const;

/** The approvals of this amount that a rule wants, whoever else has to approve. */
function amountOf(wanted: Wanted, amount: number, more = ''): Text {
  return wanted.count === 0 ? [] : say`${count(amount, `${more}approval`)}${fromWhom(wanted, amount)}`;
}

function amountsOf(wanted: Wanted): Text {
  return joinTexts([amountOf(wanted, wanted.count), eachOf(wanted.allOf.map(({ name }) => name))], ' and ');
}

function eachOf(names: readonly string[]): Text {
  const [only] = names;
  if (only === undefined) {
    return [];
  }
  return names.length === 1 ? say`1 approval from ${only}` : say`1 approval from each of ${quotedList(names)}`;
}

/** Whose approvals do not count, and how old they may be. */
function aside(wanted: Wanted): Text {
  return say`${exceptFrom(wanted)}${GIVEN_FOR[`${wanted.fresh}`]}`;
}

function fromWhom({ from, codeOwners, each }: Wanted, amount = 1): Text {
  if (from === undefined) {
    return [];
  }
  const others = from.filter((member) => member !== CODE_OWNERS);
  const own = each > 0 ? say`, ${each} of them from the owners` : [];
  const owners =
    others.length === 0
      ? say`the code owners of each changed file`
      : say`the code owners of each changed file or ${either(others)}${own}`;
  if (codeOwners) {
    return say` from ${owners}`;
  }
  return amount > 1 && from.length > 1 ? say` from among ${quotedList(from)}` : say` from ${either(from)}`;
}

function exceptFrom({ notFrom }: Wanted): Text {
  return notFrom.names.length === 0 ? [] : say`, not from ${quotedList(notFrom.names)}`;
}

/** `missing`: what is still to come, as a noun. `awaited`: only Gatehouse's view of who may write is missing. */
function remedyOf(wanted: Wanted, missing: Text, awaited: boolean): PredicateResult['remedy'] {
  const asked = missing.length === 0 ? amountsOf(wanted) : missing;
  return {
    toMatch: awaited
      ? say`Ask the people who run Gatehouse to let it see who can write to the repository.`
      : say`${ASK_FOR[`${wanted.fresh}`]} ${asked}${exceptFrom(wanted)}.`,
    toAvoid:
      wanted.count > 1
        ? say`Dismiss approvals${fromWhom(wanted)} until fewer than ${wanted.count} are left.`
        : say`Dismiss every approval${wanted.count === 0 ? say` from ${either(wanted.allOf.map(({ name }) => name))}` : fromWhom(wanted)}.`,
  };
}
