import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { removeGroups, writeGroup } from '../helpers/groups.ts';
import { runAva } from '../helpers/run-ava.ts';
import { runAgain } from '../helpers/second-run.ts';
import test from '../helpers/test.ts';

/** A first run of planted files, of test/runner, as `npm test` would have it: each by itself, or in one group. */
async function plant(t: ExecutionContext, names: readonly string[], isGroup = false, ...options: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'planted-'));
  t.teardown(() => rm(folder, { recursive: true }));
  t.teardown(removeGroups);
  const planted = names.map((name) => `test/runner/${name}.ts`);
  const run = (files: readonly string[], signal?: AbortSignal) => {
    const env = { TEST_FILES: isGroup ? files.join() : 'test/runner/*.ts', PLANTED_TRACE: join(folder, 'trace') };
    return runAva([...files, ...options], env, { output: 'ignore', ...(signal && { signal }) });
  };
  const first = await run(isGroup ? [writeGroup('runner', planted)] : planted);
  const again = async () => {
    const { counts, exitCode, closing } = await runAgain(first, (file, signal) => run([file], signal));
    return { ends: [exitCode, counts.passed, counts.failed], closing: [...closing].sort().join('\n') };
  };
  return { first, again };
}

const FLAKY = 'FLAKY: test/runner/flaky.ts › fails in the first run only';
const BROKEN = 'test/runner/broken.ts failed twice';

/** The exit code; and how many tests have passed and failed after the second run, where no race decides it. */
for (const [title, { files, isGroup, ends, closing }] of Object.entries({
  'a test that fails once is named as flaky, and the run has passed': {
    ...{ files: ['flaky'], isGroup: false, ends: [0, 2, 0] },
    closing: new RegExp(`^${FLAKY}$`),
  },
  'a test that fails twice never passes, whatever else is flaky': {
    ...{ files: ['flaky', 'broken'], isGroup: false, ends: [1, 2, 1] },
    closing: new RegExp(`^${FLAKY}\n${BROKEN}$`),
  },
  'a file that crashes is named, never stops another, and gets no second run': {
    ...{ files: ['crashing', 'flaky'], isGroup: false, ends: [1, 1, 2] },
    closing: /^no file runs again: .*crashing\.ts: it ended with SIGKILL$/,
  },
  'an exception that no test caught never gets a second run': {
    ...{ files: ['exiting'], isGroup: false, ends: [1] },
    closing: /^no file runs again: .*exiting.ts: an exception that no test caught: thrown by a timer$/,
  },
  'of a group, each file that failed runs once more by itself': {
    ...{ files: ['flaky', 'broken'], isGroup: true, ends: [1, 2, 1] },
    closing: new RegExp(`^${FLAKY}\n${BROKEN}$`),
  },
  'a group that crashes names the test that ran, and gets no second run': {
    ...{ files: ['crashing', 'flaky'], isGroup: true, ends: [1] },
    closing: /^no file runs again: .*SIGKILL, in test\/runner\/crashing\.ts › ends its own process$/,
  },
})) {
  test.serial(title, async (t) => {
    const { first, again } = await plant(t, files, isGroup);
    t.is(first.exitCode, 1);
    const second = await again();
    t.deepEqual(second.ends.slice(0, ends.length), ends);
    t.regex(second.closing, closing);
  });
}

test.serial('a refuted property never passes the second time, and says by what', async (t) => {
  const { first, again } = await plant(t, ['refuted']);
  const [{ text } = { text: '' }] = first.tally.failures();
  t.regex(text, /^Error: Property failed after \d+ tests\n\{ seed: \d+, .*\nCounterexample: \[5\]$/m);
  t.deepEqual(await again(), { ends: [1, 0, 1], closing: 'test/runner/refuted.ts failed twice' });
});

test.serial('a hang never gets a second run, and is named', async (t) => {
  const { first, again } = await plant(t, ['hanging'], false, '--timeout=5s');
  t.is(first.endedBy, 'No test ended for 5000 ms while these ran:\n  test/runner/hanging.ts\n    never ends');
  t.deepEqual(await again(), { ends: [1, 0, 1], closing: 'no file runs again: the run did not come to its end' });
});

test.serial('a run that crashes says so, and gets no second run', async (t) => {
  const { first, again } = await plant(t, ['killing']);
  // Whether AVA has heard of the file by then is a race; a hang, above, names what ran.
  t.regex(first.endedBy ?? '', /^AVA was ended by SIGKILL while these ran:/);
  t.is((await again()).ends[0], 137);
});

test.serial('a file of a group that cannot be loaded, or declares nothing, never goes unseen', async (t) => {
  const { first } = await plant(t, ['unloadable', 'empty', 'broken'], true);
  t.deepEqual(
    first.tally.failures().map(({ file, title }) => `${basename(file)} › ${title}`),
    ['unloadable.ts › can be loaded', 'empty.ts › has tests', 'broken.ts › fails in every run'],
  );
});
