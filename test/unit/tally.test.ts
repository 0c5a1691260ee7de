import { join } from 'node:path';
import { FOLDER } from '../helpers/groups.ts';
import { makeTally } from '../helpers/tally.ts';
import test from '../helpers/test.ts';

const A = { testFile: 'a.test.ts' };
const B = { testFile: 'b.test.ts' };

test('tests that never ended, and hooks that failed, are failures', (t) => {
  const tally = makeTally();
  for (const title of ['one', 'two', 'three']) {
    tally.note({ type: 'selected-test', ...A, title });
  }
  tally.note({ type: 'test-passed', ...A, title: 'one' });
  tally.note({ type: 'test-failed', ...A, title: 'two' });
  tally.note({ type: 'hook-failed', ...B, title: 'before' });
  t.deepEqual(tally.counts(), { passed: 1, failed: 3, skipped: 0 });
  t.deepEqual(tally.counts('b.test.ts'), { passed: 0, failed: 1, skipped: 0 });
});

test('skipped and unwritten tests are neither passed nor failed', (t) => {
  const tally = makeTally();
  tally.note({ type: 'selected-test', ...A, title: 'one', skip: true });
  tally.note({ type: 'selected-test', ...A, title: 'two', todo: true });
  t.deepEqual(tally.counts(), { passed: 0, failed: 0, skipped: 2 });
});

test('a file that is loaded is running, and has left nothing open', (t) => {
  const tally = makeTally();
  tally.note({ type: 'starting', ...A });
  t.deepEqual(tally.running(), [{ file: 'a.test.ts', titles: [] }]);
  t.deepEqual(tally.leftOpen(), []);
});

test('a file that does not end after the last test has left something open', (t) => {
  const tally = makeTally();
  tally.note({ type: 'selected-test', ...A, title: 'one' });
  tally.note({ type: 'selected-test', ...B, title: 'two' });
  tally.note({ type: 'test-passed', ...A, title: 'one' });
  t.deepEqual(tally.leftOpen(), [], 'the other may keep it waiting');
  tally.note({ type: 'test-passed', ...B, title: 'two' });
  tally.note({ type: 'worker-finished', ...B });
  t.deepEqual(tally.leftOpen(), ['a.test.ts']);
});

test('what goes wrong beside any test is reported with its file', (t) => {
  const tally = makeTally();
  tally.note({ type: 'worker-failed', ...A, nonZeroExitCode: 1 });
  tally.note({ type: 'worker-failed', ...A, signal: 'SIGSEGV' });
  tally.note({ type: 'unhandled-rejection', ...B, err: { message: 'no' } });
  tally.note({ type: 'timeout', period: 180_000 });
  t.deepEqual(tally.breakdowns(), [
    'a.test.ts: it ended with exit code 1',
    'a.test.ts: it ended with SIGSEGV',
    'b.test.ts: a rejection that no test handled: no',
    'no test ended for 180000 ms',
  ]);
});

test('a failure has the error, or the value that was thrown, and no colours', (t) => {
  const tally = makeTally();
  const red = (text: string) => `\u001B[31m${text}\u001B[39m`;
  tally.note({ type: 'test-failed', ...A, title: 'one', err: { name: 'Error', message: red('no') } });
  tally.note({ type: 'test-failed', ...A, title: 'two', err: { formattedError: red("'thrown'") }, logs: ['logged'] });
  t.deepEqual(
    tally.failures().map(({ text }) => text),
    ['Error: no', "'thrown'\nlogged"],
  );
});

test('what fails in a group is a failure of its own file, and counts there', (t) => {
  const tally = makeTally();
  const group = { testFile: join(FOLDER, 'stories-1.test.ts') };
  const titles = [
    'test/unit/a.test.ts › one › of two',
    'test/unit/b.test.ts › one › of two',
    'test/unit/b.test.ts › due',
  ];
  for (const title of titles) {
    tally.note({ type: 'selected-test', ...group, title });
  }
  tally.note({ type: 'test-passed', ...group, title: titles[0] ?? '' });
  tally.note({ type: 'test-failed', ...group, title: titles[1] ?? '', err: { name: 'Error', message: 'no' } });
  const b = join(FOLDER, '../../test/unit/b.test.ts');
  t.like(tally.failures(), [{ file: b, title: 'one › of two' }]);
  t.deepEqual(tally.counts(b), { passed: 0, failed: 2, skipped: 0 });
  t.deepEqual(tally.counts(), { passed: 1, failed: 2, skipped: 0 });
});
