import * as z from 'zod';
import { compileName } from '../../facts/authors/names.ts';
import { type Check, type Checks, NOT_ENDED } from '../../forges/port/checks.ts';
import { either, quotedList, say, type Text } from '../text.ts';
import { judgeAll, type WantedAll } from './all-checks.ts';
import { definePredicate, type PredicateResult } from './predicate.ts';
import {
  namedChecks,
  newestStatuses,
  reportedBy,
  reportedByAny,
  resultOf,
  type SortedChecks,
} from './reported-checks.ts';
import { checked, nameFault, names, oneOrMore } from './values.ts';

/** All that the forges report. A commit status has the first three, and on Gitea and Forgejo the next two. */
const RESULTS = [
  'success',
  'failure',
  'error',
  'warning',
  'skipped',
  'neutral',
  'cancelled',
  'timed_out',
  'action_required',
  'stale',
  'startup_failure',
] as const;

/** Whoever is meant must be meant exactly: accounts of similar names are free to make. */
function reporterFault(name: string): string | undefined {
  if (/[*@/]/.test(name)) {
    return 'a reporter is one login, or an App written "name[bot]": no team, and no "*"';
  }
  return nameFault(name);
}

const RESULTS_OF_ALL = ['success', 'skipped', 'neutral'] as const;

const result = oneOrMore(z.enum(RESULTS, { error: `one of ${RESULTS.join(', ')}` }), 'a result');

const schema = z
  .strictObject(
    {
      name: names
        .optional()
        .describe(
          'The name of a commit status or check run, or a list. Case is ignored, and * stands for any characters. Each entry must be reported.',
        ),
      all: z
        .literal(true, { error: 'true' })
        .optional()
        .describe('In the place of name: everything that is reported about the commit, and at least one check.'),
      but: names
        .optional()
        .describe('With all: names that are left out, and Apps as name[bot] whose check suites are. * as in name.'),
      at_least: names
        .optional()
        .describe(
          'With all: names that must be reported, and Apps as name[bot] whose check suites must be. * as in name.',
        ),
      empty_suites: z
        .literal('wait', { error: '"wait"' })
        .optional()
        .describe('With all: waits for queued check suites without runs too, which many Apps leave forever.'),
      is: result
        .optional()
        .describe('The results that all of them must have. Default: success; with all, success, skipped and neutral.'),
      from: oneOrMore(checked('a login', reporterFault), 'a login')
        .optional()
        .describe(
          'Who reports them: logins, and Apps as name[bot]. Default: anyone who can set a commit status of that name.',
        ),
    },
    { error: 'a mapping with `name` or `all`, `is` and `from`' },
  )
  .meta({ id: 'checks' })
  .superRefine(({ name, all, but, at_least, empty_suites }, context) => {
    const fault = (message: string) => context.addIssue({ code: 'custom', message, params: { sentence: true } });
    if ((name === undefined) === (all === undefined)) {
      fault('checks takes either "name" or "all: true"');
    } else if (name !== undefined && (but ?? at_least ?? empty_suites) !== undefined) {
      fault('"but", "at_least" and "empty_suites" belong to "all: true", not to "name"');
    }
  })
  .transform(({ name, is, from, but, at_least, empty_suites }): Wanted => {
    if (name !== undefined) {
      return { kind: 'named', names: name, is: is ?? ['success'], from };
    }
    const emptySuites = empty_suites === 'wait';
    return { kind: 'all', but: but ?? [], atLeast: at_least ?? [], emptySuites, is: is ?? RESULTS_OF_ALL, from };
  });

interface WantedNames {
  readonly kind: 'named';
  readonly names: readonly string[];
  readonly is: readonly string[];
  readonly from: readonly string[] | undefined;
}

type Wanted = WantedNames | WantedAll;

export const checks = definePredicate({
  description:
    'Commit statuses and check runs that others report on the newest commit: those of some names, or all. Each name must be reported, and all that match must have one of the results. Until they have ended, the rule waits for them.',
  actor: 'others',
  schema,
  needs: () => ({ checks: [] }),
  judge: (wanted, _options, facts) =>
    wanted.kind === 'all' ? judgeAll(wanted, facts.checks) : judgeNamed(wanted, facts.checks),
});

function judgeNamed(wanted: WantedNames, checks: Checks): PredicateResult {
  return resultOf(sorted(wanted, checks.checks), checks, {
    is: wanted.is,
    from: wanted.from,
    expected: expectedOf(wanted),
    toAvoid: say`${wanted.names.length === 1 ? [] : ['One of ']}${quotedList(wanted.names)} must report a result other than ${either(wanted.is)}.`,
  });
}

function sorted({ names: given, is: accepted, from }: WantedNames, newestFirst: readonly Check[]): SortedChecks {
  const matchers = given.map((name) => ({ name, matcher: compileName(name) }));
  const isMeant = reportedByAny(from);
  const current = newestStatuses(
    newestFirst.filter((check) => isMeant(check) && matchers.some(({ matcher }) => matcher.matches(check.name))),
  );
  const ended = current.filter(({ state }) => state !== NOT_ENDED);
  return {
    missing: matchers
      .filter(({ matcher }) => !current.some(({ name }) => matcher.matches(name)))
      .map(({ name }) => name),
    running: current.filter(({ state }) => state === NOT_ENDED),
    others: ended.filter(({ state }) => !accepted.includes(state)),
    fitting: ended.filter(({ state }) => accepted.includes(state)),
  };
}

function expectedOf({ names: given, is, from }: WantedNames): Text {
  return say`${namedChecks(given)} with the result ${either(is)}${reportedBy(from)}`;
}
