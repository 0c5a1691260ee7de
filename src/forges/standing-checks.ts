import { type Check, type CheckSuite, NOT_ENDED } from './port/checks.ts';

/**
 * Which of several reports of one name count. What is newer replaces what is older only where the same source reports
 * again, and where it tried at all: a workflow that is skipped after an edit of the title says nothing of the failure
 * before it. Over several sources all count.
 */

export interface ReportedRun extends Check {
  /** A newer one has a higher id. */
  readonly id: number;
  /** In milliseconds since 1970; not a number where the forge does not say it. */
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface ReportedSuite extends Pick<CheckSuite, 'reporter' | 'state'> {
  /** A newer one has a higher id. */
  readonly id: number;
  /** Suites of one source report the same things again. */
  readonly source: string;
  /** Of a workflow several jobs may have one name. Of another App, the newest run is instead of those before it. */
  readonly isWorkflow: boolean;
  readonly runs: readonly ReportedRun[];
}

interface Standing {
  readonly runs: readonly ReportedRun[];
  readonly suites: readonly CheckSuite[];
}

/** The check runs and check suites of a commit that count, in whatever order they are given. The runs are newest first. */
export function standingChecks(reported: readonly ReportedSuite[]): Standing {
  const sources = Map.groupBy(reported, ({ source }) => source);
  const standing = [...sources.values()].map(standingOfSource);
  return {
    runs: standing.flatMap(({ runs }) => runs).toSorted((one, other) => other.id - one.id),
    suites: standing.flatMap(({ suites }) => suites),
  };
}

function standingOfSource(reported: readonly ReportedSuite[]): Standing {
  const chosen = new Map<string, readonly ReportedRun[]>();
  const suites: CheckSuite[] = [];
  const anyRan = reported.some(({ runs }) => weightOfAll(runs) === RAN);
  for (const suite of reported.toSorted((one, other) => other.id - one.id)) {
    const own = runsByName(suite);
    const newerRan = [...chosen.values()].some((runs) => weightOfAll(runs) === RAN);
    const isReplaced =
      newerRan && own.every(([name, runs]) => weightOfAll(chosen.get(name) ?? []) >= weightOfAll(runs));
    // Ended before it had a job, it says nothing of what ran.
    const isNothing = anyRan && own.length === 0 && weightOf(suite) < RAN;
    if (!isReplaced && !isNothing) {
      const runs = own.flatMap(([, counted]) => counted.map(({ state }) => state));
      suites.push({ reporter: suite.reporter, state: suite.state, runs });
    }
    for (const [name, runs] of own) {
      if (weightOfAll(runs) > weightOfAll(chosen.get(name) ?? [])) {
        chosen.set(name, runs);
      }
    }
  }
  return { runs: [...chosen.values()].flat(), suites };
}

type Named = readonly (readonly [name: string, runs: readonly ReportedRun[]])[];

/** Those of a suite that count, by their name. */
function runsByName(suite: ReportedSuite): Named {
  if (!suite.isWorkflow) {
    return byName(suite.runs).map(([name, runs]) => [name, lastThatRan(runs)]);
  }
  const endedWell = GOOD.has(suite.state);
  const all = byName(endedWell ? suite.runs : inAttempts(suite.runs));
  const last = all.map(([name, runs]) => [name, lastAttempts(runs)] as const);
  const isKnown = endedWell || hasFailedBy(suite, last);
  return all.map((one, index) => {
    const [name, runs] = last[index] ?? one;
    return isKnown || runs.some(({ state }) => state === NOT_ENDED) ? [name, runs] : one;
  });
}

function byName(runs: readonly ReportedRun[]): Named {
  const newestFirst = runs.toSorted((one, other) => other.id - one.id);
  return [...Map.groupBy(newestFirst, ({ name }) => name)];
}

/**
 * Jobs that run one after the other look like attempts of one. But a suite has the result of its last attempt: where
 * none of these runs has failed, what failed was no earlier attempt. Before it has ended nobody knows.
 */
function hasFailedBy(suite: ReportedSuite, last: Named): boolean {
  const explains = (run: ReportedRun) => !GOOD.has(run.state) && weightOf(run) >= weightOf(suite);
  return suite.state !== NOT_ENDED && last.some(([, runs]) => runs.some(explains));
}

/** Each as if it had begun with what ran at that time: another attempt begins only when nothing runs any more. */
function inAttempts(runs: readonly ReportedRun[]): readonly ReportedRun[] {
  let begun = Number.NEGATIVE_INFINITY;
  let ended = Number.NEGATIVE_INFINITY;
  return runs
    .toSorted((one, other) => one.startedAt - other.startedAt)
    .map((run) => {
      begun = run.startedAt > ended ? run.startedAt : begun;
      // Not a number from where something has not ended: nothing is after that.
      ended = Math.max(ended, run.startedAt, run.endedAt);
      return { ...run, startedAt: Math.min(begun, run.startedAt) };
    });
}

/**
 * Jobs of one name stand side by side, unless one is a later attempt of the other: it can only begin when that has
 * ended. What another attempt did not run is listed in it again, with the old times.
 */
function lastAttempts(runs: readonly ReportedRun[]): readonly ReportedRun[] {
  return runs.filter((run) => !runs.some((other) => isInstead(other, run)));
}

function isInstead(one: ReportedRun, other: ReportedRun): boolean {
  if (isAfter(one, other)) {
    return weightOf(one) >= weightOf(other);
  }
  return isAfter(other, one) && weightOf(one) > weightOf(other);
}

/** Certainly: not if a time is not known, nor within one second. */
function isAfter(later: ReportedRun, earlier: ReportedRun): boolean {
  return later.startedAt > Math.max(earlier.startedAt, earlier.endedAt);
}

/** Of each name and reporter of commit statuses the one that counts. Forges compare names and logins without case. */
export function standingStatuses(newestFirst: readonly Check[]): readonly Check[] {
  const sources = Map.groupBy(newestFirst, ({ name, reporter }) =>
    JSON.stringify([name.toLowerCase(), reporter.toLowerCase()]),
  );
  const standing = new Set([...sources.values()].flatMap(lastThatRan));
  return newestFirst.filter((status) => standing.has(status));
}

/** At most one. Whoever reports something new under a name may never end what came before. */
function lastThatRan<T extends Check>(newestFirst: readonly T[]): readonly T[] {
  const known = newestFirst.filter(({ state }, index) => index === 0 || state !== NOT_ENDED);
  const most = weightOfAll(known);
  return known.filter((one) => weightOf(one) === most).slice(0, 1);
}

const GOOD: ReadonlySet<string> = new Set(['success', 'neutral', 'skipped']);

const NONE = -1;
/** It ended before it tried anything: its conditions did not hold. */
const IDLE = 0;
/** It was ended by something else, and may have begun: what is only skipped must not hide that. */
const BROKEN_OFF = 1;
/** It ended by itself, or has not ended yet. */
const RAN = 2;

const WEIGHTS: Readonly<Record<string, number>> = {
  skipped: IDLE,
  neutral: IDLE,
  cancelled: BROKEN_OFF,
  stale: BROKEN_OFF,
};

function weightOf({ state }: Pick<Check, 'state'>): number {
  return WEIGHTS[state] ?? RAN;
}

/** Of runs of one name that stand side by side. */
function weightOfAll(runs: readonly Check[]): number {
  return runs.reduce((most, run) => Math.max(most, weightOf(run)), NONE);
}
