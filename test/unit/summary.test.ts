import { summarize } from '../helpers/summary.ts';
import test from '../helpers/test.ts';

const outcome = (passed: number, failed: number, skipped: number, exitCode: number) => ({
  counts: { passed, failed, skipped },
  exitCode,
  closing: [],
});

test('a run in which all passed says so and succeeds', (t) => {
  t.deepEqual(summarize(outcome(12, 0, 0, 0)), { lines: '12 passed, 0 failed\n', exitCode: 0 });
});

test('the count is the last of the closing lines', (t) => {
  const flaky = { ...outcome(12, 0, 2, 0), closing: ['FLAKY: a.test.ts › one'] };
  t.is(summarize(flaky).lines, 'FLAKY: a.test.ts › one\n12 passed, 0 failed, 2 skipped\n');
});

test('a run in which nothing was executed has failed', (t) => {
  t.deepEqual(summarize(outcome(0, 0, 0, 0)), { lines: '0 passed, 1 failed\n', exitCode: 1 });
  t.deepEqual(summarize(outcome(0, 0, 2, 0)), { lines: '0 passed, 1 failed, 2 skipped\n', exitCode: 1 });
});

test('a failure outside of any test is counted, and its exit code kept', (t) => {
  t.deepEqual(summarize(outcome(5, 0, 0, 130)), { lines: '5 passed, 1 failed\n', exitCode: 130 });
});

test("a failure that AVA's exit code does not show counts", (t) => {
  t.deepEqual(summarize(outcome(5, 2, 0, 0)), { lines: '5 passed, 2 failed\n', exitCode: 1 });
});
