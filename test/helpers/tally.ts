import { stripVTControlCharacters } from 'node:util';
import { isGroup, splitTitle } from './groups.ts';

/** What AVA says while it runs: the parts of its events that are looked at. ava.config.js sends them to the test runner. */
export interface AvaEvent {
  readonly type: string;
  readonly testFile?: string;
  readonly title?: string;
  readonly skip?: boolean;
  readonly todo?: boolean;
  /** Of a test, a hook or a file that failed, as AVA serializes it. */
  readonly err?: {
    readonly name?: string;
    readonly message?: string;
    readonly stack?: string;
    readonly formattedError?: string;
    readonly formattedDetails?: readonly { readonly label: string; readonly formatted: string }[];
  };
  readonly logs?: readonly string[];
  readonly signal?: string;
  readonly nonZeroExitCode?: number;
  /** Milliseconds without an event, after which AVA gave up. */
  readonly period?: number;
}

export interface Counts {
  readonly passed: number;
  /** Failed tests and hooks, and tests that were begun or due and never ended. */
  readonly failed: number;
  readonly skipped: number;
}

export interface Failure {
  /** As the event named it; in a group, the test file that the group has loaded. */
  readonly file: string;
  readonly title: string;
  /** The error and what the test logged, for people. */
  readonly text: string;
  /** Other files that ran when it failed. */
  readonly beside: readonly string[];
}

export interface Running {
  readonly file: string;
  /** Of its tests that have begun or are due; none while it is loaded. */
  readonly titles: readonly string[];
}

/** What AVA calls a file: a test file by itself, or a group. */
interface Process {
  readonly pending: Set<string>;
  hasResults: boolean;
  ended: boolean;
}

interface Result {
  readonly file: string;
  readonly what: keyof Counts;
}

const BREAKDOWNS: Readonly<Record<string, string>> = {
  'internal-error': 'AVA failed',
  interrupt: 'the run was interrupted',
  'missing-ava-import': 'it has no tests',
  'process-exit': 'a test ended the process',
  'shared-worker-error': 'a shared worker failed',
  'uncaught-exception': 'an exception that no test caught',
  'unhandled-rejection': 'a rejection that no test handled',
};

export type Tally = ReturnType<typeof makeTally>;

/** Of one run of AVA, from its events so far. */
export function makeTally() {
  const processes = new Map<string, Process>();
  const results: Result[] = [];
  const failures: Failure[] = [];
  const breakdowns: string[] = [];

  const running = (): readonly Running[] =>
    [...processes].filter(([, { ended }]) => !ended).map(([file, { pending }]) => ({ file, titles: [...pending] }));

  const processOf = (name: string): Process => {
    const process = processes.get(name) ?? { pending: new Set(), hasResults: false, ended: false };
    processes.set(name, process);
    return process;
  };

  return {
    note(event: AvaEvent) {
      const { type, testFile, title = '' } = event;
      const process = testFile === undefined ? undefined : processOf(testFile);
      const breakdown = breakdownOf(event);
      if (breakdown !== undefined) {
        breakdowns.push(breakdown + placeIn(testFile, process));
      }
      if (testFile === undefined || process === undefined) {
        return;
      }
      const own = splitTitle(testFile, title);
      if (type === 'selected-test' && (event.skip || event.todo)) {
        results.push({ file: own.file, what: 'skipped' });
      } else if (type === 'selected-test') {
        process.pending.add(title);
      } else if (type === 'test-passed') {
        process.pending.delete(title);
        process.hasResults = true;
        results.push({ file: own.file, what: 'passed' });
      } else if (type === 'test-failed' || type === 'hook-failed') {
        process.pending.delete(title);
        process.hasResults = true;
        results.push({ file: own.file, what: 'failed' });
        const beside = running()
          .filter((other) => other.file !== testFile)
          .map((other) => splitTitle(other.file, other.titles[0] ?? '').file);
        failures.push({ ...own, text: textOf(event), beside });
      } else if (type === 'worker-finished' || type === 'worker-failed') {
        process.ended = true;
      }
    },
    counts(only?: string): Counts {
      const due = [...processes].flatMap(([name, { pending }]) =>
        [...pending].map((title): Result => ({ file: splitTitle(name, title).file, what: 'failed' })),
      );
      const of = [...results, ...due].filter(({ file }) => only === undefined || file === only);
      const count = (what: keyof Counts) => of.filter((result) => result.what === what).length;
      return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
    },
    failures: (): readonly Failure[] => failures,
    /** What went wrong beside any test: a file that crashed, hung or could not be loaded. For people. */
    breakdowns: (): readonly string[] => breakdowns,
    running,
    /** Files whose tests are all over and which have not ended, while no test of another file is due. */
    leftOpen: (): readonly string[] => {
      const due = [...processes.values()].some(({ pending }) => pending.size > 0);
      const over = ([, process]: [string, Process]) => !process.ended && process.hasResults;
      return due ? [] : [...processes].filter(over).map(([name]) => name);
    },
  };
}

export const NOTHING: Counts = { passed: 0, failed: 0, skipped: 0 };

export function plus(a: Counts, b: Counts): Counts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

export function minus(a: Counts, b: Counts): Counts {
  return { passed: a.passed - b.passed, failed: a.failed - b.failed, skipped: a.skipped - b.skipped };
}

function breakdownOf({ type, testFile, err, signal, nonZeroExitCode, period }: AvaEvent): string | undefined {
  if (type === 'timeout') {
    return `no test ended for ${period} ms`;
  }
  if (type === 'worker-failed') {
    return `${testFile}: it ended with ${signal ?? (nonZeroExitCode === undefined ? err?.message : `exit code ${nonZeroExitCode}`)}`;
  }
  const what = BREAKDOWNS[type];
  return what && [testFile, what, err?.message].filter((part) => part !== undefined).join(': ');
}

/** In a group one test runs at a time, in the order in which they were selected. */
function placeIn(testFile = '', process?: Process): string {
  const [title] = process?.pending ?? [];
  return isGroup(testFile) && title !== undefined ? `, in ${title}` : '';
}

function textOf({ err = {}, logs = [] }: AvaEvent): string {
  const details = (err.formattedDetails ?? []).map(({ label, formatted }) => `${label}\n${formatted}`);
  // What was thrown and is no error has its formatted value alone.
  const error = err.formattedError ?? `${err.name}: ${err.message}`;
  const parts = [error, ...details, err.stack, ...logs];
  return stripVTControlCharacters(parts.filter((part) => part !== undefined).join('\n'));
}
