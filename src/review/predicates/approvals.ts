import * as z from 'zod';
import type { Facts, LastChange } from '../facts.ts';
import { count, quotedList, say, type Text } from '../text.ts';
import { ownersOfChange } from './approvals-owners.ts';
import { bareOwner, isTeam, readCodeOwners } from './code-owners.ts';
import { type Committers, committersOf } from './committers.ts';
import { type CurrentApproval, currentApprovals } from './current-approvals.ts';
import { definePredicate, type Outcome, type PredicateResult } from './predicate.ts';
import { peopleOrTeams, splitTeams } from './values.ts';

const MAX_APPROVALS = 20;
const CODE_OWNERS = 'CODEOWNERS';
const SHA_SHOWN = 10;
const COMMITS_SHOWN = 3;
const UNKNOWN_AGE = say`; the force-pushes and changes of base could not be read`;

const amount = z
  .int({ error: 'a whole number' })
  .min(1, { error: 'a whole number from 1' })
  .max(MAX_APPROVALS, { error: `a whole number up to ${MAX_APPROVALS}` });

interface Given {
  readonly count?: number | undefined;
  readonly from?: readonly string[] | undefined;
  readonly fresh?: boolean | undefined;
  readonly committers?: boolean | undefined;
}

const schema = z
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
        fresh: z
          .boolean({ error: 'true or false' })
          .optional()
          .describe(
            'Count only approvals of the newest commit that were given after the last force-push and change of base.',
          ),
        committers: z
          .boolean({ error: 'true or false' })
          .optional()
          .describe('true: also count approvals by people who committed to the pull request. Never its author.'),
      }),
    ],
    { error: 'a whole number, or a mapping with `count`, `from`, `fresh` and `committers`' },
  )
  .transform((value) => {
    const given: Given = typeof value === 'number' ? { count: value } : value;
    const members = given.from?.filter((member) => member !== CODE_OWNERS);
    return {
      count: given.count ?? 1,
      from: given.from,
      fresh: given.fresh ?? false,
      committers: given.committers ?? false,
      codeOwners: given.from?.includes(CODE_OWNERS) ?? false,
      ...splitTeams(members ?? []),
    };
  });

type Wanted = z.output<typeof schema>;

export const approvals = definePredicate({
  description:
    "Enough people approve of the pull request. The latest word of each person counts, and never the author's own, nor that of somebody who committed to it.",
  actor: 'others',
  schema,
  needs: ({ codeOwners, teams, committers, fresh }) => ({
    reviews: true,
    lastChange: fresh,
    teams,
    ...(committers ? {} : { commits: true, cleanMerges: true }),
    ...(codeOwners ? { codeOwners: true, changedFiles: true } : {}),
  }),
  judge(wanted, _options, facts) {
    const committers = committersOf(facts.commits);
    const approvals = currentApprovals(facts.reviews.reviews, facts.pullRequest.author);
    const excluded = approvals.flatMap((approval) => {
      const why = exclusionOf(approval, wanted, facts, committers);
      return why === undefined ? [] : [{ author: approval.author, why }];
    });
    const logins = approvals
      .map(({ author }) => author)
      .filter((login) => !excluded.some(({ author }) => author === login));
    const { outcome, found } = facts.reviews.complete
      ? weigh(wanted, logins, facts)
      : { outcome: 'undecided' as const, found: say`reviews that could not be read in full` };
    const unknownAge = wanted.fresh && facts.reviews.lastChange.kind === 'unread';
    // Anybody who approves could have made a commit that was not read.
    const unknownCommitters = !wanted.committers && !facts.commits.complete;
    const unsure = outcome === 'matched' && (unknownAge || unknownCommitters);
    return {
      outcome: unsure ? 'undecided' : outcome,
      expected: expectedOf(wanted),
      found: say`${found}${notCounted(excluded)}${unknownAge ? UNKNOWN_AGE : []}${aboutCommits(wanted, facts, committers)}`,
      remedy: remedyOf(wanted),
    };
  },
});

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
  if (wanted.from === undefined && !official) {
    return 'who may not write to the repository';
  }
  if (!wanted.committers && committers.logins.has(login)) {
    return 'who committed to this pull request';
  }
  if (wanted.fresh && sha !== facts.pullRequest.head.sha) {
    return 'given for an earlier commit';
  }
  return wanted.fresh && isBefore(submittedAt, facts.reviews.lastChange)
    ? 'given before the last force-push or change of base'
    : undefined;
}

/** Forges tell times in seconds: of two things in the same second, the approval may have come first. */
function isBefore(submittedAt: string, lastChange: LastChange): boolean {
  return lastChange.kind === 'change' && !(Date.parse(submittedAt) > Date.parse(lastChange.at));
}

type Weighed = Pick<PredicateResult, 'outcome' | 'found'>;

function weigh(wanted: Wanted, logins: readonly string[], facts: Facts): Weighed {
  const said = approvedBy(logins);
  if (wanted.from === undefined) {
    return { outcome: logins.length >= wanted.count ? 'matched' : 'unmatched', found: said };
  }
  if (!wanted.codeOwners) {
    const { outcome, counting, unreadable } = enough(wanted, logins, facts);
    return { outcome, found: say`${approvedBy(counting)}${couldNotRead(outcome, unreadable)}` };
  }
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
    return { paths, owners, ...enough({ count: wanted.count, people, teams }, logins, facts) };
  });
  const failed =
    answers.find(({ outcome }) => outcome === 'unmatched') ?? answers.find(({ outcome }) => outcome === 'undecided');
  if (failed !== undefined) {
    const missing = say`${approvedBy(failed.counting)} for ${quotedList(failed.paths, 3)}, owned by ${quotedList(failed.owners)}`;
    return { outcome: failed.outcome, found: say`${missing}${couldNotRead(failed.outcome, failed.unreadable)}` };
  }
  if (!facts.changedFiles.complete) {
    return { outcome: 'undecided', found: say`${said}; the list of changed files is not complete` };
  }
  if (groups.length === 0) {
    return { outcome: 'matched', found: say`no changed file that has an owner in ${codeOwners.path}` };
  }
  return { outcome: 'matched', found: say`${said}; every owned file has its owners' approval` };
}

/** Whether enough of those who approved are among the people and teams, and which teams could have changed the answer. */
function enough(
  wanted: { readonly count: number; readonly people: readonly string[]; readonly teams: readonly string[] },
  logins: readonly string[],
  facts: Facts,
): { readonly outcome: Outcome; readonly counting: readonly string[]; readonly unreadable: readonly string[] } {
  const accepted = new Set(wanted.people.map((login) => login.toLowerCase()));
  const unreadable = wanted.teams.filter((team) => !facts.teams.has(team));
  for (const team of wanted.teams) {
    for (const member of facts.teams.get(team) ?? []) {
      accepted.add(member.toLowerCase());
    }
  }
  const counting = logins.filter((login) => accepted.has(login.toLowerCase()));
  // Only those who approved could be members of a team that cannot be read.
  const couldBe = unreadable.length > 0 && logins.length >= wanted.count;
  const outcome = counting.length >= wanted.count ? 'matched' : couldBe ? 'undecided' : 'unmatched';
  return { outcome, counting, unreadable };
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

function notCounted(excluded: readonly { readonly author: string; readonly why: string }[]): Text {
  return [...new Set(excluded.map(({ why }) => why))].flatMap((why) => {
    const logins = excluded.filter((approval) => approval.why === why).map(({ author }) => author);
    return say` (not counted: ${quotedList(logins)}, ${[why]})`;
  });
}

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

function expectedOf(wanted: Wanted): Text {
  const fresh = wanted.fresh ? say`, given for the newest commit` : [];
  if (wanted.from === undefined) {
    return say`${count(wanted.count, 'approval')}${fresh}`;
  }
  const others = wanted.from.filter((member) => member !== CODE_OWNERS);
  const owners =
    others.length === 0
      ? say`the code owners of each changed file`
      : say`the code owners of each changed file or ${quotedList(others)}`;
  return say`${count(wanted.count, 'approval')} from ${wanted.codeOwners ? owners : quotedList(wanted.from)}${fresh}`;
}

function remedyOf(wanted: Wanted): PredicateResult['remedy'] {
  const whom = wanted.from === undefined ? say`people who may write to the repository` : quotedList(wanted.from);
  return {
    toMatch: say`Ask ${whom} for a review; ${count(wanted.count, 'approval')} needed${wanted.fresh ? say` after the last push or change of base` : []}.`,
    toAvoid: say`This rule requires fewer than ${count(wanted.count, 'approval')}: dismiss one.`,
  };
}
