import test from 'ava';
import { type AvaStats, countsOf, summarize } from '../helpers/summary.ts';

const NOTHING: AvaStats = {
  passedTests: 0,
  passedKnownFailingTests: 0,
  failedTests: 0,
  failedHooks: 0,
  remainingTests: 0,
  skippedTests: 0,
  todoTests: 0,
};

test('a run in which all passed says so and succeeds', (t) => {
  const counts = countsOf({ ...NOTHING, passedTests: 11, passedKnownFailingTests: 1 });
  t.deepEqual(summarize(counts, 0), { line: '12 passed, 0 failed', exitCode: 0 });
});

test('tests that never ended and hooks that failed are failures', (t) => {
  const counts = countsOf({ ...NOTHING, passedTests: 3, failedTests: 1, failedHooks: 1, remainingTests: 2 });
  t.deepEqual(summarize(counts, 1), { line: '3 passed, 4 failed', exitCode: 1 });
});

test('skipped and unwritten tests are named only where there are some', (t) => {
  const counts = countsOf({ ...NOTHING, passedTests: 3, skippedTests: 1, todoTests: 1 });
  t.deepEqual(summarize(counts, 0), { line: '3 passed, 0 failed, 2 skipped', exitCode: 0 });
});

test('a run in which nothing was executed has failed', (t) => {
  t.deepEqual(summarize(undefined, 0), { line: '0 passed, 1 failed', exitCode: 1 });
  t.deepEqual(summarize(countsOf({ ...NOTHING, skippedTests: 2 }), 0), {
    line: '0 passed, 1 failed, 2 skipped',
    exitCode: 1,
  });
});

test('a failure outside of any test is counted, and its exit code kept', (t) => {
  t.deepEqual(summarize({ passed: 5, failed: 0, skipped: 0 }, 130), { line: '5 passed, 1 failed', exitCode: 130 });
});

test("a failure that AVA's exit code does not show counts", (t) => {
  t.deepEqual(summarize({ passed: 5, failed: 2, skipped: 0 }, 0), { line: '5 passed, 2 failed', exitCode: 1 });
});
