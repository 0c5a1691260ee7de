import { stripVTControlCharacters } from 'node:util';

/** What AVA says while it runs: the parts of its events that are looked at. ava.config.js sends them to the test runner. */
export interface AvaEvent {
  readonly type: string;
  /** Path. */
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

/** A test or a hook that failed. */
export interface Failure {
  /** As the event named it. */
  readonly file: string;
  readonly title: string;
  /** The error and what the test logged, for people. */
  readonly text: string;
  /** Other files that ran when it failed. */
  readonly beside: readonly string[];
}

/** A file that has begun and has not ended. */
export interface Running {
  readonly file: string;
  /** Of its tests that have begun or are due; none while it is loaded. */
  readonly titles: readonly string[];
}

/** Of one run of AVA, from its events so far. */
export interface Tally {
  note(event: AvaEvent): void;
  /** Of one file, or of all. */
  counts(file?: string): Counts;
  failures(): readonly Failure[];
  /** What went wrong beside any test: a file that crashed, hung or could not be loaded. For people. */
  breakdowns(): readonly string[];
  running(): readonly Running[];
  /** Files whose tests are all over and which have not ended, while no test of another file is due. */
  leftOpen(): readonly string[];
}

interface File {
  readonly failures: Failure[];
  readonly pending: Set<string>;
  passed: number;
  skipped: number;
  ended: boolean;
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

export function makeTally(): Tally {
  const files = new Map<string, File>();
  const breakdowns: string[] = [];

  const running = (): readonly Running[] =>
    [...files].filter(([, { ended }]) => !ended).map(([file, { pending }]) => ({ file, titles: [...pending] }));

  const fileOf = (name: string): File => {
    const file = files.get(name) ?? { failures: [], pending: new Set(), passed: 0, skipped: 0, ended: false };
    files.set(name, file);
    return file;
  };

  return {
    note(event) {
      const { type, testFile, title = '' } = event;
      const breakdown = breakdownOf(event);
      if (breakdown !== undefined) {
        breakdowns.push(breakdown);
      }
      if (testFile === undefined) {
        return;
      }
      const file = fileOf(testFile);
      if (type === 'selected-test' && (event.skip || event.todo)) {
        file.skipped += 1;
      } else if (type === 'selected-test') {
        file.pending.add(title);
      } else if (type === 'test-passed') {
        file.pending.delete(title);
        file.passed += 1;
      } else if (type === 'test-failed' || type === 'hook-failed') {
        file.pending.delete(title);
        const beside = running()
          .map((other) => other.file)
          .filter((other) => other !== testFile);
        file.failures.push({ file: testFile, title, text: textOf(event), beside });
      } else if (type === 'worker-finished' || type === 'worker-failed') {
        file.ended = true;
      }
    },
    counts: (only) =>
      [...files]
        .filter(([name]) => only === undefined || name === only)
        .map(([, { passed, failures, pending, skipped }]) => ({
          passed,
          failed: failures.length + pending.size,
          skipped,
        }))
        .reduce(plus, NOTHING),
    failures: () => [...files.values()].flatMap(({ failures }) => failures),
    breakdowns: () => breakdowns,
    running,
    leftOpen: () => {
      const due = [...files.values()].some(({ pending }) => pending.size > 0);
      const over = ([, file]: [string, File]) => !file.ended && file.passed + file.failures.length > 0;
      return due ? [] : [...files].filter(over).map(([name]) => name);
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

function textOf({ err = {}, logs = [] }: AvaEvent): string {
  const details = (err.formattedDetails ?? []).map(({ label, formatted }) => `${label}\n${formatted}`);
  // What was thrown and is no error has its formatted value alone.
  const error = err.formattedError ?? `${err.name}: ${err.message}`;
  const parts = [error, ...details, err.stack, ...logs];
  return stripVTControlCharacters(parts.filter((part) => part !== undefined).join('\n'));
}
