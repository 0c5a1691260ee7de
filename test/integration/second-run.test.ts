import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { removeGroups, writeGroup } from '../helpers/groups.ts';
import { runAva } from '../helpers/run-ava.ts';
import { runAgain } from '../helpers/second-run.ts';
import test from '../helpers/test.ts';

/** A first run of planted files, of test/runner, as `npm test` would have it. */
async function plant(t: ExecutionContext, names: readonly string[], ...options: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'planted-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const env = { TEST_FILES: 'test/runner/*.ts', PLANTED_TRACE: join(folder, 'trace') };
  const run = (files: readonly string[], signal?: AbortSignal) =>
    runAva([...files, ...options], env, { output: 'ignore', ...(signal && { signal }) });
  const first = await run(names.map((name) => `test/runner/${name}.ts`));
  return { first, again: () => runAgain(first, (file, signal) => run([file], signal)) };
}

/** The same, of one group. */
async function plantGroup(t: ExecutionContext, names: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'planted-'));
  t.teardown(() => rm(folder, { recursive: true }));
  t.teardown(removeGroups);
  const group = writeGroup(
    'runner',
    names.map((name) => `test/runner/${name}.ts`),
  );
  const run = (file: string, signal?: AbortSignal) =>
    runAva(
      [file],
      { TEST_FILES: file, PLANTED_TRACE: join(folder, 'trace') },
      { output: 'ignore', ...(signal && { signal }) },
    );
  const first = await run(group);
  return { first, again: () => runAgain(first, run) };
}

test.serial('a test that fails once is named as flaky, and the run has passed', async (t) => {
  const { first, again } = await plant(t, ['flaky']);
  t.is(first.exitCode, 1);
  t.deepEqual(first.tally.counts(), { passed: 1, failed: 1, skipped: 0 });
  t.deepEqual(await again(), {
    counts: { passed: 2, failed: 0, skipped: 0 },
    exitCode: 0,
    closing: ['FLAKY: test/runner/flaky.ts › fails in the first run only'],
  });
});

test.serial('a test that fails twice never passes, whatever else is flaky', async (t) => {
  const { again } = await plant(t, ['flaky', 'broken']);
  const { counts, exitCode, closing } = await again();
  t.is(exitCode, 1);
  t.deepEqual(counts, { passed: 2, failed: 1, skipped: 0 });
  t.deepEqual([...closing].sort(), [
    'FLAKY: test/runner/flaky.ts › fails in the first run only',
    'test/runner/broken.ts failed twice',
  ]);
});

test.serial('a refuted property never passes the second time, and says by what', async (t) => {
  const { first, again } = await plant(t, ['refuted']);
  const [{ text } = { text: '' }] = first.tally.failures();
  t.regex(text, /^Error: Property failed after \d+ tests\n\{ seed: \d+, .*\nCounterexample: \[5\]$/m);
  const { exitCode, closing } = await again();
  t.is(exitCode, 1);
  t.deepEqual(closing, ['test/runner/refuted.ts failed twice']);
});

test.serial('a hang never gets a second run, and is named', async (t) => {
  const { first, again } = await plant(t, ['hanging'], '--timeout=5s');
  t.is(first.endedBy, 'No test ended for 5000 ms while these ran:\n  test/runner/hanging.ts\n    never ends');
  const { counts, exitCode, closing } = await again();
  t.is(exitCode, 1);
  t.deepEqual(counts, { passed: 0, failed: 1, skipped: 0 });
  t.deepEqual(closing, ['no file runs again: the run did not come to its end']);
});

test.serial('a file that crashes is named, never stops another, and gets no second run', async (t) => {
  const { again } = await plant(t, ['crashing', 'flaky']);
  const { counts, exitCode, closing } = await again();
  t.is(exitCode, 1);
  t.deepEqual(counts, { passed: 1, failed: 2, skipped: 0 });
  t.regex(closing.join('\n'), /^no file runs again: .*crashing\.ts: it ended with SIGKILL$/);
});

test.serial('a run that crashes says so, and gets no second run', async (t) => {
  const { first, again } = await plant(t, ['killing']);
  // Whether AVA has heard of the file by then is a race; a hang, above, names what ran.
  t.regex(first.endedBy ?? '', /^AVA was ended by SIGKILL while these ran:/);
  t.is((await again()).exitCode, 137);
});

test.serial('an exception that no test caught never gets a second run', async (t) => {
  const { again } = await plant(t, ['exiting']);
  const { exitCode, closing } = await again();
  t.is(exitCode, 1);
  t.regex(
    closing.join('\n'),
    /^no file runs again: .*exiting.ts: an exception that no test caught: thrown by a timer$/,
  );
});

test.serial('of a group, each file that failed runs once more by itself', async (t) => {
  const { first, again } = await plantGroup(t, ['flaky', 'broken']);
  t.deepEqual(first.tally.counts(), { passed: 1, failed: 2, skipped: 0 });
  const { counts, closing } = await again();
  t.deepEqual(counts, { passed: 2, failed: 1, skipped: 0 });
  t.deepEqual([...closing].sort(), [
    'FLAKY: test/runner/flaky.ts › fails in the first run only',
    'test/runner/broken.ts failed twice',
  ]);
});

test.serial('a group that crashes names the test that ran, and gets no second run', async (t) => {
  const { again } = await plantGroup(t, ['crashing', 'flaky']);
  const { exitCode, closing } = await again();
  t.is(exitCode, 1);
  t.regex(closing.join('\n'), /^no file runs again: .*SIGKILL, in test\/runner\/crashing\.ts › ends its own process$/);
});

test.serial('a file of a group that cannot be loaded, or declares nothing, never goes unseen', async (t) => {
  const { first } = await plantGroup(t, ['unloadable', 'empty', 'broken']);
  t.deepEqual(
    first.tally.failures().map(({ file, title }) => `${basename(file)} › ${title}`),
    ['unloadable.ts › can be loaded', 'empty.ts › has tests', 'broken.ts › fails in every run'],
  );
});
