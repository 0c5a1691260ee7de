import { checks as checksFact } from '../../facts/checks.ts';
import type { Check, Checks } from '../../forges/port/checks.ts';
import { capitalised, either, joinTexts, quotedList, say, type Text, unreadText } from '../text.ts';
import type { Outcome, PredicateResult } from './predicate.ts';

/** What the two kinds of the predicate `checks` have in common. */

const CHECKS_SHOWN = 5;

/** A check, or in the name of its App a check suite. */
type Reported = Pick<Check, 'name' | 'reporter' | 'state' | 'url'>;

export interface SortedChecks {
  /** Names that nobody has reported. */
  readonly missing: readonly string[];
  readonly running: readonly Reported[];
  /** With another result than those wanted. */
  readonly others: readonly Reported[];
  readonly fitting: readonly Reported[];
}

/** Whether one of these accounts reported it; without any, whoever did. */
export function reportedByAny(from: readonly string[] | undefined): (by: { readonly reporter: string }) => boolean {
  const reporters = from && new Set(from.map((name) => name.toLowerCase()));
  return ({ reporter }) => reporters === undefined || reporters.has(reporter.toLowerCase());
}

/** A commit status belongs to its name, whoever has set it last. Check runs all stay. */
export function newestStatuses(newestFirst: readonly Check[]): readonly Check[] {
  const seen = new Set<string>();
  return newestFirst.filter(({ kind, name }) => {
    const key = name.toLowerCase();
    const replaced = kind === 'status' && seen.has(key);
    if (kind === 'status') {
      seen.add(key);
    }
    return !replaced;
  });
}

interface Words extends Pick<PredicateResult, 'expected'> {
  /** The results that are wanted. */
  readonly is: readonly string[];
  readonly from: readonly string[] | undefined;
  readonly toAvoid: Text;
}

export function resultOf(
  found: SortedChecks,
  { complete, lacking }: Pick<Checks, 'complete' | 'lacking'>,
  { is, from, expected, toAvoid }: Words,
): PredicateResult {
  const { missing, running, others, fitting } = found;
  const unfinished = [...missing, ...running.map(({ name }) => name)];
  const outcome = complete ? outcomeOf(unfinished, others, fitting) : 'undecided';
  const awaited = [...others.map(({ name }) => name), ...unfinished];
  return {
    outcome,
    expected,
    found: complete ? foundOf(found) : unreadChecks(lacking),
    awaited:
      outcome === 'matched'
        ? say`another result of ${namedChecks(fitting.map(({ name }) => name))}`
        : say`${namedChecks(awaited)}${adviceOn(others, is)}`,
    remedy: { toMatch: remedyOf(found, { is, from }), toAvoid },
  };
}

function unreadChecks(lacking: string | undefined): Text {
  const unread = unreadText(checksFact, ' in full');
  return lacking === undefined ? unread : say`${unread}, because Gatehouse lacks the permission ${lacking}`;
}

/** What a rule may well accept. That a check was broken off is only a reason to run it again. */
const ACCEPTABLE: readonly string[] = ['skipped', 'neutral'];
const UNTRIED: readonly string[] = [...ACCEPTABLE, 'cancelled', 'stale'];

/** Of checks that nobody would think of running again, because they have not failed. */
function adviceOn(others: readonly Reported[], is: readonly string[]): Text {
  const untried = others.filter(({ state }) => UNTRIED.includes(state));
  if (untried.length === 0) {
    return [];
  }
  const it = untried.length === 1 ? 'it' : 'them';
  const states = [...new Set(untried.map(({ state }) => state))];
  const said = states.map((state) => {
    const names = untried.filter((check) => check.state === state).map(({ name }) => name);
    return say`${quotedList(names, CHECKS_SHOWN)} ${[names.length === 1 ? 'was' : 'were']} ${[state]}`;
  });
  const wanted = [...is, ...states].join(', ');
  const allow = states.every((state) => ACCEPTABLE.includes(state))
    ? say`, or allow ${[it]} with ${`is: [${wanted}]`}`
    : [];
  return say` (${joinTexts(said, ', ')}: run ${[it]} again${allow})`;
}

/** One other result decides it. Nothing reported is not a result: it would let through what is only slow. */
function outcomeOf(unfinished: readonly string[], others: readonly Reported[], fitting: readonly Reported[]): Outcome {
  if (others.length > 0) {
    return 'unmatched';
  }
  return unfinished.length > 0 || fitting.length === 0 ? 'awaited' : 'matched';
}

function remedyOf({ missing, running, others }: SortedChecks, { is, from }: Pick<Words, 'is' | 'from'>): Text {
  const names = (some: readonly Reported[]) => some.map(({ name }) => name);
  const failed = others.filter(({ state }) => state !== 'success' && !UNTRIED.includes(state));
  const untried = others.filter((check) => !failed.includes(check));
  const unfinished = [...names(untried), ...missing, ...names(running)];
  return joinTexts(
    [
      failed.length === 0 ? [] : say`Fix what fails in ${quotedList(names(failed), CHECKS_SHOWN)}, or run it again.`,
      failed.length > 0 && unfinished.length === 0
        ? []
        : say`${capitalised(namedChecks(unfinished))} must report ${either(is)}${from === undefined ? [] : say` (by ${either(from)})`}${adviceOn(others, is)}.`,
      missing.length === 0
        ? []
        : say`If ${[missing.length === 1 ? 'it doesn’t' : 'they don’t']} start, ask the people who run your CI.`,
    ],
    ' ',
  );
}

export function reportedBy(from: readonly string[] | undefined): Text {
  return from === undefined ? [] : say`, reported by ${either(from)}`;
}

export function namedChecks(given: readonly string[]): Text {
  const names = [...new Set(given)];
  if (names.length === 0) {
    return say`a first check`;
  }
  return say`${[names.length === 1 ? 'the check' : 'the checks']} ${quotedList(names, CHECKS_SHOWN)}`;
}

function foundOf({ missing, running, others, fitting }: SortedChecks): Text {
  const isOpen = missing.length > 0 || running.length > 0;
  const shown = others.length > 0 ? [...others, ...running] : [...running, ...(isOpen ? [] : fitting)];
  const reported = shown
    .slice(0, CHECKS_SHOWN)
    .flatMap(({ name, state, reporter, url }, index) => [
      ...(index === 0 ? [] : ['; ']),
      { quoted: name, ...(url !== undefined && { url }) },
      ...say` is ${state}, reported by ${reporter}`,
    ]);
  const more = shown.length > CHECKS_SHOWN ? say` and ${shown.length - CHECKS_SHOWN} more` : [];
  const absent =
    missing.length === 0
      ? []
      : say`${shown.length > 0 ? ['; '] : []}${quotedList(missing, CHECKS_SHOWN)} not reported yet`;
  const said = [...reported, ...more, ...absent];
  return said.length > 0 ? said : say`no check`;
}
