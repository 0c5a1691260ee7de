import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FOLDER } from '../helpers/groups.ts';
import { keepFindings, NEVER_TWICE, refusal } from '../helpers/second-run.ts';
import { makeTally } from '../helpers/tally.ts';
import test from '../helpers/test.ts';

const TESTS = fileURLToPath(new URL('..', import.meta.url));

/** A run in which a test of each of these files failed. */
function failed(...names: readonly string[]) {
  const tally = makeTally();
  for (const testFile of names.map((name) => join(TESTS, name))) {
    tally.note({ type: 'selected-test', testFile, title: 'a title' });
    tally.note({ type: 'test-failed', testFile, title: 'a title', err: { name: 'Error', message: 'no' } });
    tally.note({ type: 'worker-finished', testFile });
  }
  return { tally, exitCode: 1 };
}

test('every test that never gets a second run exists', (t) => {
  const names = Object.values(NEVER_TWICE).flat();
  t.true(names.length > 0);
  for (const name of names) {
    t.true(existsSync(join(TESTS, `${name}.test.ts`)), name);
  }
});

test('what may never happen never gets a second run', (t) => {
  t.is(
    refusal(failed('unit/a.test.ts', 'stories/crash.test.ts')),
    'what failed may never happen: test/stories/crash.test.ts',
  );
});

test('what may never happen never gets a second run in a group either', (t) => {
  const run = failed('unit/a.test.ts');
  const group = { testFile: join(FOLDER, 'stories-1.test.ts'), title: 'test/stories/crash.test.ts › a title' };
  run.tally.note({ type: 'test-failed', ...group, err: { name: 'Error', message: 'no' } });
  run.tally.note({ type: 'worker-finished', ...group });
  t.is(refusal(run), 'what failed may never happen: test/stories/crash.test.ts');
});

test('five files that failed run again, and six do not', (t) => {
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `unit/${name}.test.ts`);
  t.is(refusal(failed(...names)), undefined);
  t.is(refusal(failed(...names, 'unit/f.test.ts')), '6 files failed, and at most 5 run again');
});

test('a run with tests that never ended gets no second one', (t) => {
  const run = failed('unit/a.test.ts');
  run.tally.note({ type: 'selected-test', testFile: join(TESTS, 'unit/b.test.ts'), title: 'due' });
  t.is(refusal(run), 'the run did not come to its end');
});

test('a finding is kept with its seed, its log and what ran beside it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'findings-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const { tally } = failed('unit/a.test.ts');
  tally.note({ type: 'starting', testFile: join(TESTS, 'stories/burst.test.ts') });
  tally.note({
    type: 'test-failed',
    testFile: join(TESTS, 'stories/crash.test.ts'),
    title: 'a title',
    err: { name: 'Error', message: '\u001B[31mseed: 42\u001B[39m' },
    logs: ['logged'],
  });
  const [line = '', ...more] = keepFindings(tally.failures(), { commit: 'abc' }, folder);
  t.deepEqual(more, []);
  const [, kept = ''] = /^FINDING: test\/stories\/crash\.test\.ts › a title \(kept in (.*)\)$/.exec(line) ?? [];
  t.is(
    readFileSync(join(TESTS, '..', kept), 'utf8'),
    `test/stories/crash.test.ts › a title\ncommit: abc\nbeside: test/stories/burst.test.ts\n\nError: seed: 42\nlogged\n`,
  );
});
