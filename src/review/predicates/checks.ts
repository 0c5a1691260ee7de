import * as z from 'zod';
import { type Check, NOT_ENDED } from '../../forges/port/checks.ts';
import { compileName } from '../authors/names.ts';
import { joinTexts, quotedList, say, type Text } from '../text.ts';
import { definePredicate, type Outcome } from './predicate.ts';
import { checked, nameFault, names, oneOrMore } from './values.ts';

const CHECKS_SHOWN = 5;

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

const schema = z
  .strictObject(
    {
      name: names.describe(
        'The name of a commit status or check run, or a list. Case is ignored, and * stands for any characters. Each entry must be reported.',
      ),
      is: oneOrMore(z.enum(RESULTS, { error: `one of ${RESULTS.join(', ')}` }), 'a result')
        .optional()
        .describe('The results that all of them must have; success when left out.'),
      from: oneOrMore(checked('a login', reporterFault), 'a login')
        .optional()
        .describe(
          'Who reports them: logins, and Apps as name[bot]. Left out: whoever may set a commit status of that name.',
        ),
    },
    { error: 'a mapping with `name`, `is` and `from`' },
  )
  .transform(({ name, is = ['success'], from }) => ({ names: name, is, from }));

type Wanted = z.output<typeof schema>;

export const checks = definePredicate({
  description:
    'Commit statuses and check runs that others report on the newest commit. Each name must be reported, and all that match must have one of the results. Until they have ended, the rule waits for them.',
  actor: 'others',
  schema,
  needs: () => ({ checks: true }),
  judge(wanted, _options, facts) {
    const { missing, running, others, fitting } = sorted(wanted, facts.checks.checks);
    const unfinished = [...missing, ...running.map(({ name }) => name)];
    const outcome = facts.checks.complete ? outcomeOf(unfinished, others, fitting) : 'undecided';
    return {
      outcome,
      expected: expectedOf(wanted),
      found: facts.checks.complete
        ? foundOf({ missing, running, others, fitting })
        : say`checks that could not be read in full`,
      awaited:
        outcome === 'matched'
          ? say`another result of ${namedChecks(fitting.map(({ name }) => name))}`
          : namedChecks([...others.map(({ name }) => name), ...unfinished]),
      remedy: {
        toMatch: say`Wait until ${quotedList(wanted.names)} is reported as ${anyOfResults(wanted.is)}${reportedBy(wanted.from)}; run it again if it has failed.`,
        toAvoid: say`${quotedList(wanted.names)} must have another result than ${anyOfResults(wanted.is)}.`,
      },
    };
  },
});

interface Sorted {
  /** Names that nobody has reported. */
  readonly missing: readonly string[];
  readonly running: readonly Check[];
  /** With another result than those wanted. */
  readonly others: readonly Check[];
  readonly fitting: readonly Check[];
}

function sorted({ names: given, is, from }: Wanted, newestFirst: readonly Check[]): Sorted {
  const matchers = given.map((name) => ({ name, matcher: compileName(name) }));
  const reporters = from && new Set(from.map((name) => name.toLowerCase()));
  const counting = newestFirst.filter(
    ({ name, reporter }) =>
      (reporters === undefined || reporters.has(reporter.toLowerCase())) &&
      matchers.some(({ matcher }) => matcher.matches(name)),
  );
  // A commit status belongs to its name, whoever has set it last; a check run to its App as well.
  const statuses = new Set<string>();
  const current = counting.filter(({ kind, name }) => {
    const key = name.toLowerCase();
    const replaced = kind === 'status' && statuses.has(key);
    if (kind === 'status') {
      statuses.add(key);
    }
    return !replaced;
  });
  const accepted: readonly string[] = is;
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

/** One other result decides it. Nothing reported is not a result: it would let through what is only slow. */
function outcomeOf(unfinished: readonly string[], others: readonly Check[], fitting: readonly Check[]): Outcome {
  if (others.length > 0) {
    return 'unmatched';
  }
  return unfinished.length > 0 || fitting.length === 0 ? 'awaited' : 'matched';
}

function expectedOf({ names: given, is, from }: Wanted): Text {
  return say`${namedChecks(given)} with the result ${anyOfResults(is)}${reportedBy(from)}`;
}

function anyOfResults(results: readonly string[]): Text {
  return joinTexts(
    results.map((result) => say`${result}`),
    ' or ',
  );
}

function reportedBy(from: readonly string[] | undefined): Text {
  return from === undefined ? [] : say`, reported by ${quotedList(from)}`;
}

function namedChecks(given: readonly string[]): Text {
  return say`${[given.length === 1 ? 'the check' : 'the checks']} ${quotedList(given, CHECKS_SHOWN)}`;
}

function foundOf({ missing, running, others, fitting }: Sorted): Text {
  const shown = others.length > 0 ? others : [...running, ...(missing.length > 0 ? [] : fitting)];
  const reported = shown
    .slice(0, CHECKS_SHOWN)
    .flatMap(({ name, state, reporter }, index) => [
      ...(index === 0 ? [] : [', ']),
      ...say`${name} with ${state} by ${reporter}`,
    ]);
  const more = shown.length > CHECKS_SHOWN ? say` and ${shown.length - CHECKS_SHOWN} more` : [];
  const absent =
    missing.length === 0 ? [] : say`${shown.length > 0 ? [', '] : []}no report of ${quotedList(missing, CHECKS_SHOWN)}`;
  return [...reported, ...more, ...absent];
}
