import { compileName } from '../../facts/authors/names.ts';
import { type Check, type CheckSuite, type Checks, NOT_ENDED, QUEUED } from '../../forges/port/checks.ts';
import { either, quotedList, say, type Text } from '../text.ts';
import type { PredicateResult } from './predicate.ts';
import { newestStatuses, reportedBy, reportedByAny, resultOf, type SortedChecks } from './reported-checks.ts';

/** `checks: { all: true }` */
export interface WantedAll {
  readonly kind: 'all';
  readonly but: readonly string[];
  readonly atLeast: readonly string[];
  /** Whether it waits for queued check suites without runs. */
  readonly emptySuites: boolean;
  readonly is: readonly string[];
  readonly from: readonly string[] | undefined;
}

export function judgeAll(wanted: WantedAll, checks: Checks): PredicateResult {
  const { is, from } = wanted;
  return resultOf(sorted(wanted, checks), checks, {
    is,
    from,
    expected: say`all checks${withAndWithout(wanted)} with the result ${either(is)}${reportedBy(from)}`,
    toAvoid: say`A check must report a result other than ${either(is)}.`,
  });
}

function withAndWithout({ but, atLeast }: WantedAll): Text {
  const without = but.length === 0 ? [] : say` but ${quotedList(but)}`;
  return atLeast.length === 0 ? without : say`${without}, at least ${quotedList(atLeast)},`;
}

function sorted(wanted: WantedAll, { checks, suites }: Checks): SortedChecks {
  const { is, from, but, atLeast } = wanted;
  const isMeant = reportedByAny(from);
  const leftOut = matchesAny(but);
  const counted = newestStatuses(checks.filter(isMeant)).filter(({ name }) => !leftOut(name));
  const ended = counted.filter(({ state }) => state !== NOT_ENDED);
  const meantSuites = suites.filter((suite) => isMeant(suite) && !leftOut(suite.reporter));
  return {
    missing: atLeast.filter((name) => {
      const { matches } = compileName(name);
      return !counted.some((check) => matches(check.name)) && !meantSuites.some(({ reporter }) => matches(reporter));
    }),
    running: [
      ...counted.filter(({ state }) => state === NOT_ENDED),
      ...meantSuites.filter((suite) => isOpen(suite, wanted, counted)).map(asCheck),
    ],
    others: [
      ...ended.filter(({ state }) => !is.includes(state)),
      ...meantSuites.filter((suite) => hasFailedItself(suite, is)).map(asCheck),
    ],
    fitting: ended.filter(({ state }) => is.includes(state)),
  };
}

/**
 * Beside its runs: between two jobs a workflow is in progress, and none of its runs is. Where one of them is shown,
 * that says more.
 */
function isOpen(
  { reporter, state }: CheckSuite,
  { emptySuites, atLeast }: WantedAll,
  counted: readonly Check[],
): boolean {
  if (state === QUEUED) {
    return emptySuites || matchesAny(atLeast)(reporter);
  }
  return state === NOT_ENDED && !counted.some((run) => run.reporter === reporter && run.state === NOT_ENDED);
}

/**
 * With a result that none of its runs explains, such as of a workflow whose file cannot be read, or that nobody let
 * run.
 */
function hasFailedItself({ state, runs }: CheckSuite, is: readonly string[]): boolean {
  const accepts = (result: string) => is.includes(result) || result === NOT_ENDED || result === QUEUED;
  return !accepts(state) && runs.every(accepts);
}

/** Under the name of its App: it has none of its own. */
function asCheck({ reporter, state }: CheckSuite): Pick<Check, 'name' | 'reporter' | 'state'> {
  return { name: reporter, reporter, state };
}

function matchesAny(names: readonly string[]): (name: string) => boolean {
  const matchers = names.map(compileName);
  return (name) => matchers.some((matcher) => matcher.matches(name));
}
