import * as z from 'zod';
import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { type Author, type Authors, authorsOf, type SeenAuthor } from '../authors/authors.ts';
import { type IsMachine, machinesAmong } from '../authors/machines.ts';
import type { Facts, LastChange } from '../facts.ts';
import { count, quotedList, say, type Text } from '../text.ts';
import { bareOwner, isTeam, type OwnersOf, readCodeOwners } from './code-owners.ts';
import { type CurrentApproval, currentApprovals } from './current-approvals.ts';
import { pathsOf } from './files.ts';
import { definePredicate, type Outcome, type PredicateResult } from './predicate.ts';
import { type Group, isMember, unreadableTeams } from './team-members.ts';
import { peopleOrTeams, splitTeams } from './values.ts';

const SHA_SHOWN = 10;
const COMMITS_SHOWN = 3;
const UNKNOWN_AGE = say`; the force-pushes and changes of base could not be read`;
const MAX_APPROVALS = 20;
const CODE_OWNERS = 'CODEOWNERS';

const amount = z
  .int({ error: 'a whole number' })
  .min(1, { error: 'a whole number from 1' })
  .max(MAX_APPROVALS, { error: `a whole number up to ${MAX_APPROVALS}` });

interface Given {
  readonly count?: number | undefined;
  readonly from?: readonly string[] | undefined;
  readonly not_from?: readonly string[] | undefined;
  readonly fresh?: boolean | 'except-updates' | undefined;
  readonly committers?: boolean | undefined;
  readonly unknown_authors?: 'undecided' | undefined;
}

/** What a rule says of approvals, with what it leaves out filled in. */
const approvalsWanted = z
  .union(
    [
      amount,
      z.strictObject({
        count: amount.optional().describe('How many are needed; 1 when left out.'),
        from: peopleOrTeams
          .optional()
          .describe(
            'Whose approvals count: logins, teams (@organisation/team), or CODEOWNERS. Left out: whoever may write to the repository.',
          ),
        not_from: peopleOrTeams
          .refine((members) => !members.includes(CODE_OWNERS), { error: 'a login or a team, not CODEOWNERS' })
          .optional()
          .describe(
            'Whose approvals do not count, even where `from` names them: logins and teams (@organisation/team).',
          ),
        fresh: z
          .union([z.boolean(), z.literal('except-updates')], { error: 'true, false or except-updates' })
          .optional()
          .describe(
            'true: count only approvals of the newest commit that were given after the last force-push and change of base. except-updates: merges of the base branch that change nothing else do not matter.',
          ),
        committers: z
          .boolean({ error: 'true or false' })
          .optional()
          .describe(
            'true: also count approvals by people who committed to the pull request, or are named as co-authors. Never its author.',
          ),
        unknown_authors: z
          .literal('undecided', { error: '"undecided"' })
          .optional()
          .describe(
            'undecided: the rule cannot be judged while a commit has an author, committer or co-author without a known account. Left out: they are only named.',
          ),
      }),
    ],
    {
      error:
        'a whole number, or a mapping with `count`, `from`, `not_from`, `fresh`, `committers` and `unknown_authors`',
    },
  )
  .transform((value) => {
    const given: Given = typeof value === 'number' ? { count: value } : value;
    const members = given.from?.filter((member) => member !== CODE_OWNERS);
    return {
      count: given.count ?? 1,
      from: given.from,
      notFrom: { names: given.not_from ?? [], ...splitTeams(given.not_from ?? []) },
      fresh: given.fresh ?? false,
      committers: given.committers ?? false,
      strict: given.unknown_authors === 'undecided',
      codeOwners: given.from?.includes(CODE_OWNERS) ?? false,
      ...splitTeams(members ?? []),
    };
  });

type Wanted = z.output<typeof approvalsWanted>;

export const approvals = definePredicate({
  description:
    "Enough people approve of the pull request. The latest word of each person counts, and never the author's own, nor that of somebody who committed to it or is named as a co-author.",
  actor: 'others',
  schema: approvalsWanted,
  needs: ({ codeOwners, teams, notFrom, committers, fresh }) => ({
    reviews: true,
    lastChange: fresh !== false,
    teams: [...teams, ...notFrom.teams],
    ...(committers ? {} : { commits: true, authors: true, cleanMerges: true }),
    ...(fresh === 'except-updates' ? { commits: true, updates: true } : {}),
    ...(codeOwners ? { codeOwners: true, changedFiles: true } : {}),
  }),
  judge(wanted, _options, facts) {
    const authors = authorsOf(facts.commits, facts.people, facts.commits.cleanMerges);
    const approvals = currentApprovals(facts.reviews.reviews, facts.pullRequest.author);
    const counted = countApprovals(approvals, wanted, facts, authors);
    const {
      outcome,
      found,
      given = 0,
    }: ApprovalOutcome = facts.reviews.complete
      ? outcomeOfApprovals(wanted, counted, facts)
      : { outcome: 'undecided', found: say`reviews that could not be read in full` };
    const unknownAge = wanted.fresh !== false && facts.reviews.lastChange.kind === 'unread';
    // Anybody who approves could have made a commit that was not read.
    const mayBeAnybody = !authors.complete || (wanted.strict && authors.unknown.length > 0);
    const unsure = outcome === 'matched' && (unknownAge || (!wanted.committers && mayBeAnybody));
    return {
      outcome: unsure ? 'undecided' : outcome,
      expected: approvalsOf(wanted, count(wanted.count, 'approval')),
      ...(given > 0 && given < wanted.count
        ? { awaited: approvalsOf(wanted, count(wanted.count - given, 'more approval')) }
        : {}),
      found: say`${found}${notCounted(counted.excluded)}${unknownAge ? UNKNOWN_AGE : []}${aboutCommits(wanted, facts, authors)}`,
      remedy: remedyOf(wanted),
    };
  },
});

/** Approvals in force, by what a rule makes of them, whomever it wants them from. */
interface Counted {
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

function countApprovals(
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
    excluded,
  };
}

type Made = Author | SeenAuthor;

const WHY_AUTHOR: Readonly<Record<Made['as'], string>> = {
  author: 'who committed to this pull request',
  committer: 'who committed to this pull request',
  'co-author': 'named as a co-author of this pull request',
  seen: 'who made a commit of this pull request that was there before',
};

/** Why an approval does not count: the first reason there is. */
function exclusionOf(
  { author, sha, submittedAt, official, bot }: CurrentApproval,
  wanted: Wanted,
  facts: Facts,
  made: Made | undefined,
  isMachine: IsMachine,
): string | undefined {
  const login = author.toLowerCase();
  if (isMachine({ login, bot }) && !wanted.people.some((named) => named.toLowerCase() === login)) {
    return 'a bot that the policy does not name';
  }
  if (isMember(author, wanted.notFrom, facts.teams) === true) {
    return 'whose approval the policy does not count';
  }
  if (wanted.from === undefined && !official) {
    return 'who may not write to the repository';
  }
  if (!wanted.committers && made !== undefined) {
    return WHY_AUTHOR[made.as];
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

function notCounted(excluded: readonly Excluded[]): Text {
  return [...new Set(excluded.map(({ why }) => why))].flatMap((why) => {
    const logins = excluded.filter((approval) => approval.why === why).map(({ author }) => author);
    return say` (not counted: ${quotedList(logins)}, ${[why]})`;
  });
}

interface ApprovalOutcome {
  readonly outcome: Outcome;
  readonly found: Text;
  /** How many of the approvals wanted are there; absent where each owned file needs its own. */
  readonly given?: number;
}

/** Whether the approvals that count are enough, from the people whom the rule wants. */
function outcomeOfApprovals(wanted: Wanted, counted: Counted, facts: Facts): ApprovalOutcome {
  if (wanted.codeOwners) {
    return outcomeByOwners(wanted, counted, facts);
  }
  const from = wanted.from === undefined ? undefined : { people: wanted.people, teams: wanted.teams };
  const { outcome, counting, unreadable } = approvalsAmong(wanted, from, counted, facts);
  const found = say`${approvedBy(counting)}${couldNotRead(outcome, unreadable)}`;
  return { outcome, found, given: counting.length };
}

function outcomeByOwners(wanted: Wanted, counted: Counted, facts: Facts): ApprovalOutcome {
  const { codeOwners } = facts;
  if (codeOwners.kind === 'unread') {
    return { outcome: 'undecided', found: say`a CODEOWNERS file that could not be read` };
  }
  if (codeOwners.kind === 'unusable') {
    return { outcome: 'undecided', found: say`a CODEOWNERS file that cannot be read: ${[codeOwners.reason]}` };
  }
  if (codeOwners.kind === 'absent') {
    return {
      outcome: 'undecided',
      found: say`no CODEOWNERS file on the base branch, so the change has no known owners`,
    };
  }
  const ownersOf = readCodeOwners(codeOwners.text, codeOwners.dialect);
  if (ownersOf === undefined) {
    return { outcome: 'undecided', found: say`a CODEOWNERS file that is too large, or has a pattern that is too long` };
  }

  // Each owned file needs its own owners' approval; files with the same owners are one question.
  const groups = ownersOfChange(facts.changedFiles.files, ownersOf);
  const answers = groups.map(({ owners, paths }) => {
    const teams = [...wanted.teams, ...owners.filter(isTeam).map(bareOwner)];
    const people = [...wanted.people, ...owners.filter((owner) => !isTeam(owner)).map(bareOwner)];
    return { paths, owners, ...approvalsAmong(wanted, { people, teams }, counted, facts) };
  });
  const failed =
    answers.find(({ outcome }) => outcome === 'unmatched') ?? answers.find(({ outcome }) => outcome === 'undecided');
  if (failed !== undefined) {
    const missing = say`${approvedBy(failed.counting)} for ${quotedList(failed.paths, 3)}, owned by ${quotedList(failed.owners)}`;
    return { outcome: failed.outcome, found: say`${missing}${couldNotRead(failed.outcome, failed.unreadable)}` };
  }
  const said = approvedBy(counted.certain);
  if (!facts.changedFiles.complete) {
    return { outcome: 'undecided', found: say`${said}; the list of changed files is not complete` };
  }
  if (groups.length === 0) {
    return { outcome: 'matched', found: say`no changed file that has an owner in ${codeOwners.path}` };
  }
  return { outcome: 'matched', found: say`${said}; every owned file has its owners' approval` };
}

interface ApprovalsAmong {
  readonly outcome: Outcome;
  /** Logins of those whose approval counts, and who are among the people wanted. */
  readonly counting: readonly string[];
  /** Teams whose members could have changed the answer. */
  readonly unreadable: readonly string[];
}

/** Whether enough of those who approved are wanted; undecided where it depends on a team that could not be read. */
function approvalsAmong(
  { count, notFrom }: Wanted,
  from: Group | undefined,
  counted: Counted,
  { teams }: Facts,
): ApprovalsAmong {
  const isWanted = (login: string) => (from === undefined ? true : isMember(login, from, teams));
  const counting = counted.certain.filter((login) => isWanted(login) === true);
  const possible = [...counted.certain, ...counted.unknown].filter((login) => isWanted(login) !== false);
  const outcome = counting.length >= count ? 'matched' : possible.length >= count ? 'undecided' : 'unmatched';
  return { outcome, counting, unreadable: unreadableTeams([...(from?.teams ?? []), ...notFrom.teams], teams) };
}

function couldNotRead(outcome: Outcome, teams: readonly string[]): Text {
  return outcome !== 'undecided' || teams.length === 0
    ? []
    : say`; the members of ${quotedList(teams)} could not be read`;
}

function approvedBy(logins: readonly string[]): Text {
  return logins.length === 0
    ? say`no approval that counts`
    : say`${count(logins.length, 'approval')}, by ${quotedList(logins)}`;
}

interface OwnedFiles {
  readonly owners: readonly string[];
  readonly paths: readonly string[];
}

/** The changed paths that have owners, gathered by the set of their owners. */
function ownersOfChange(files: readonly ChangedFile[], ownersOf: OwnersOf): readonly OwnedFiles[] {
  const groups = new Map<string, { owners: readonly string[]; paths: string[] }>();
  for (const path of files.flatMap(pathsOf)) {
    const owners = ownersOf(path);
    if (owners.length === 0) {
      continue;
    }
    const key = owners.join(' ').toLowerCase();
    const group = groups.get(key) ?? { owners, paths: [] };
    group.paths.push(path);
    groups.set(key, group);
  }
  return [...groups.values()];
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
