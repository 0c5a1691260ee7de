import * as z from 'zod';
import { type Author, authorsOf } from '../../facts/authors/authors.ts';
import { namesPeople } from '../../facts/authors/names.ts';
import type { Facts } from '../../facts/table.ts';
import { neededMembers } from '../../facts/teams.ts';
import type { YesNo } from '../../forges/port/yes-no.ts';
import { joinTexts, quotedList, say, type Text } from '../text.ts';
import { definePredicate, type Outcome } from './predicate.ts';
import { isMember } from './team-members.ts';
import { peopleOrTeams, splitTeams } from './values.ts';

const SHOWN = 5;
const SHA_SHOWN = 10;

const yes = z.literal(true, { error: 'true' }).optional();
const members = peopleOrTeams.refine((names) => !names.includes('CODEOWNERS'), {
  error: 'a login or a team, not CODEOWNERS',
});
const wantedContributors = z.union(
  [
    members.transform((from) => ({
      ...{ from, author: false, bots: false, unknown: false, only: false },
      firstTime: false,
      coAuthors: true,
    })),
    z
      .strictObject({
        from: members
          .optional()
          .describe(
            'Logins, teams (@organisation/team), and e-mail addresses of people without a known account. * stands for any characters.',
          ),
        author: yes.describe('The author of the pull request.'),
        bots: yes.describe('Accounts that are programs: the forge, the operator or the policy says so.'),
        unknown: yes.describe('People of whom no account is known.'),
        first_time: yes.describe(
          'The author of the pull request, with nothing committed to the repository before. Only GitHub tells.',
        ),
        only: yes.describe('true: all of them are such people, and not only one.'),
        co_authors: z
          .literal('ignore', { error: '"ignore"' })
          .optional()
          .describe('ignore: people named only in commit messages do not count.'),
      })
      .refine(({ only: _, co_authors: __, ...asked }) => Object.values(asked).some((value) => value !== undefined), {
        error: 'at least one of from, author, bots, unknown and first_time',
      })
      .refine(({ only, first_time }) => only === undefined || first_time === undefined, {
        error: '`only` without `first_time`, which is about one person',
      })
      .transform(
        ({ from = [], author = false, bots = false, unknown = false, first_time, only = false, co_authors }) => ({
          ...{ from, author, bots, unknown, only },
          firstTime: first_time ?? false,
          coAuthors: co_authors !== 'ignore',
        }),
      ),
  ],
  {
    error:
      'logins and teams, or a mapping with `from`, `author`, `bots`, `unknown`, `first_time`, `only` and `co_authors`',
  },
);
type Wanted = z.output<typeof wantedContributors>;

export const contributors = definePredicate({
  description:
    'Who made the commits: their authors, committers and co-authors, and who pushed them. One of them is among these people, or with `only` all of them are.',
  actor: 'author',
  schema: wantedContributors,
  needs: ({ from }) => ({ commits: ['authors'], ...neededMembers('authors', splitTeams(from).teams) }),
  judge(wanted, _options, facts) {
    const { people, complete } = authorsOf(facts.commits, facts.people);
    const isWanted = wantedIn(wanted, facts);
    const asked = wanted.coAuthors ? people : people.filter(({ as }) => as !== 'co-author');
    const answers = asked.map((person) => ({ person, is: isWanted(person) }));
    const of = (is: boolean | undefined) => answers.filter((answer) => answer.is === is).map(({ person }) => person);
    const first = wanted.firstTime ? facts.pullRequest.firstTime : 'no';
    const outcome = wanted.only
      ? outcomeOf(of(false).length > 0, of(undefined).length > 0 || !complete, 'unmatched')
      : outcomeOf(
          of(true).length > 0 || first === 'yes',
          of(undefined).length > 0 || !complete || first === 'unknown',
          'matched',
        );
    const whom = describe(wanted);
    return {
      outcome,
      expected: wanted.only
        ? say`no one but ${whom} among the authors of the commits`
        : say`${whom} among the authors of the commits`,
      found: say`${named(wanted.only ? of(false) : of(true), facts, first === 'yes')}${doubts(of(undefined), complete, first)}`,
      remedy: {
        toMatch: wanted.only
          ? say`Open a pull request without the commits of anyone but ${whom}.`
          : say`Ask ${whom} to make one of the commits.`,
        toAvoid: say`Open a pull request without the commits of ${whom}.`,
      },
    };
  },
});

/** `decided`: somebody is there who decides it; `unsure`: there may be. */
function outcomeOf(decided: boolean, unsure: boolean, ifDecided: 'matched' | 'unmatched'): Outcome {
  const otherwise = ifDecided === 'matched' ? 'unmatched' : 'matched';
  return decided ? ifDecided : unsure ? 'undecided' : otherwise;
}

/** Whether somebody is one of those wanted; undefined where an account or a team that is not known decides it. */
function wantedIn(
  { from, author: opener, bots, unknown }: Wanted,
  { teams, pullRequest }: Facts,
): (author: Author) => boolean | undefined {
  const group = splitTeams(from);
  const isNamed = namesPeople(group.people);
  return (author) => {
    const { login, machine } = author;
    const isOpener = opener && login?.toLowerCase() === pullRequest.author.toLowerCase();
    if (isOpener || (bots && machine) || isNamed(author)) {
      return true;
    }
    if (login === null && !machine) {
      return unknown || undefined;
    }
    return isMember(login ?? '', { people: [], teams: group.teams }, teams);
  };
}

function describe({ from, author, bots, unknown, firstTime }: Wanted): Text {
  return joinTexts(
    [
      quotedList(from),
      author ? ['the author of the pull request'] : [],
      bots ? ['a bot'] : [],
      unknown ? ['someone without a known account'] : [],
      firstTime ? ['someone who contributes for the first time'] : [],
    ],
    ' or ',
  );
}

function named(authors: readonly Author[], { pullRequest }: Facts, first: boolean): Text {
  const names = authors.map(({ sha, login, named: address }) => `${login ?? address} (${sha.slice(0, SHA_SHOWN)})`);
  const all = [...new Set([...names, ...(first ? [pullRequest.author] : [])])];
  return all.length === 0 ? say`no one else` : quotedList(all, SHOWN);
}

const FIRST_UNKNOWN = say`; the forge does not say whether the author has committed before: leave out those whom the rule is not about, as with ${"not: { author: '@organisation/*' }"}`;

function doubts(unsure: readonly Author[], complete: boolean, first: YesNo): Text {
  const names = unsure.map(({ login, named: address }) => login ?? address);
  return [
    ...(names.length === 0 ? [] : say`; who ${quotedList([...new Set(names)], SHOWN)} is could not be read`),
    ...(complete ? [] : say`; not all authors of the commits could be read`),
    ...(first === 'unknown' ? FIRST_UNKNOWN : []),
  ];
}
