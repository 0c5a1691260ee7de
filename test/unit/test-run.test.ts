import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FOLDER } from '../helpers/groups.ts';
import { NEVER_TWICE, refusal } from '../helpers/second-run.ts';
import { summarize } from '../helpers/summary.ts';
import { makeTally } from '../helpers/tally.ts';
import test from '../helpers/test.ts';

/** What `npm test` makes of what AVA says: nothing red may become green. */
const TESTS = fileURLToPath(new URL('..', import.meta.url));
const A = { testFile: join(TESTS, 'unit/a.test.ts') };
const B = { testFile: join(TESTS, 'unit/b.test.ts') };
const GROUP = { testFile: join(FOLDER, 'stories-1.test.ts') };
const ERROR = { name: 'Error', message: 'no' };

test('tests that failed or never ended, and hooks that failed, are counted', (t) => {
  const tally = makeTally();
  for (const title of ['one', 'two', 'three']) {
    tally.note({ type: 'selected-test', ...A, title });
  }
  tally.note({ type: 'selected-test', ...A, title: 'four', skip: true });
  tally.note({ type: 'selected-test', ...A, title: 'five', todo: true });
  tally.note({ type: 'test-passed', ...A, title: 'one' });
  tally.note({ type: 'test-failed', ...A, title: 'two' });
  tally.note({ type: 'hook-failed', ...B, title: 'before' });
  t.deepEqual(tally.counts(), { passed: 1, failed: 3, skipped: 2 });
  t.deepEqual(tally.counts(B.testFile), { passed: 0, failed: 1, skipped: 0 });
});

test('what fails in a group is a failure of its own file, and counts there', (t) => {
  const tally = makeTally();
  const titles = ['a.test.ts › one › of two', 'b.test.ts › one › of two', 'b.test.ts › due'];
  const [passed = '', failed = ''] = titles.map((title) => `test/unit/${title}`);
  for (const title of titles) {
    tally.note({ type: 'selected-test', ...GROUP, title: `test/unit/${title}` });
  }
  tally.note({ type: 'test-passed', ...GROUP, title: passed });
  tally.note({ type: 'test-failed', ...GROUP, title: failed, err: ERROR });
  t.like(tally.failures(), [{ file: B.testFile, title: 'one › of two' }]);
  t.deepEqual(tally.counts(B.testFile), { passed: 0, failed: 2, skipped: 0 });
  t.deepEqual(tally.counts(), { passed: 1, failed: 2, skipped: 0 });
});

test('what goes wrong beside any test is reported with its file', (t) => {
  const tally = makeTally();
  tally.note({ type: 'worker-failed', testFile: 'a', nonZeroExitCode: 1 });
  tally.note({ type: 'worker-failed', testFile: 'a', signal: 'SIGSEGV' });
  tally.note({ type: 'unhandled-rejection', testFile: 'b', err: { message: 'no' } });
  tally.note({ type: 'timeout', period: 180_000 });
  t.deepEqual(tally.breakdowns(), [
    'a: it ended with exit code 1',
    'a: it ended with SIGSEGV',
    'b: a rejection that no test handled: no',
    'no test ended for 180000 ms',
  ]);
});

/** Why a run in which a test of each of these files failed gets no second one. */
function refused(names: readonly string[], ...more: readonly Parameters<ReturnType<typeof makeTally>['note']>[0][]) {
  const tally = makeTally();
  for (const testFile of names.map((name) => join(TESTS, `${name}.test.ts`))) {
    tally.note({ type: 'test-failed', testFile, title: 'a title', err: ERROR });
    tally.note({ type: 'worker-finished', testFile });
  }
  for (const event of more) {
    tally.note(event);
  }
  return refusal({ tally, exitCode: 1 });
}

test('a second run never hides what may never happen, too many failures, or a run without an end', (t) => {
  const five = ['unit/a', 'unit/b', 'unit/c', 'unit/d', 'unit/e'];
  const finding = 'what failed may never happen: test/stories/crash.test.ts';
  const inGroup = { type: 'test-failed', ...GROUP, title: 'test/stories/crash.test.ts › a title', err: ERROR };
  t.is(refused(five), undefined);
  t.is(refused([...five, 'unit/f']), '6 files failed, and at most 5 run again');
  t.is(refused(['unit/a', 'stories/crash']), finding);
  t.is(refused(['unit/a'], inGroup, { type: 'worker-finished', ...GROUP }), finding);
  t.is(refused(['unit/a'], { type: 'selected-test', ...B, title: 'due' }), 'the run did not come to its end');
});

test('every test that never gets a second run exists', (t) => {
  const names = Object.values(NEVER_TWICE).flat();
  t.true(names.length > 0);
  t.deepEqual(
    names.filter((name) => !existsSync(join(TESTS, `${name}.test.ts`))),
    [],
  );
});

test('a run has failed by its last line and exit code if anything failed, or nothing was run', (t) => {
  const outcome = (passed: number, failed: number, skipped: number, exitCode: number) =>
    summarize({ counts: { passed, failed, skipped }, exitCode, closing: ['FLAKY: one'] });
  for (const [summary, line, exitCode] of [
    [outcome(12, 0, 0, 0), '12 passed, 0 failed', 0],
    [outcome(12, 0, 2, 0), '12 passed, 0 failed, 2 skipped', 0],
    [outcome(0, 0, 0, 0), '0 passed, 1 failed', 1],
    [outcome(0, 0, 2, 0), '0 passed, 1 failed, 2 skipped', 1],
    [outcome(5, 0, 0, 130), '5 passed, 1 failed', 130],
    [outcome(5, 2, 0, 0), '5 passed, 2 failed', 1],
  ] as const) {
    t.deepEqual(summary, { lines: `FLAKY: one\n${line}\n`, exitCode });
  }
});
