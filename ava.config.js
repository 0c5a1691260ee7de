import { availableParallelism } from 'node:os';

const config = {
  // Named by test/run.ts, which makes groups of them, and where files are no part of `npm test`.
  files: process.env.TEST_FILES?.split(',') ?? ['test/**/*.test.ts'],
  extensions: ['ts'],
  timeout: '180s',
  // Most test files wait for stores and forges longer than they compute.
  concurrency: 2 * availableParallelism(),
  // In processes: a thread that crashes ends those of all other files.
  workerThreads: false,
};

/** Of AVA's own bookkeeping, which test/run.ts has no use for. */
const NOT_SENT = new Set(['stats', 'declared-test', 'test-register-log-reference', 'worker-stdout', 'worker-stderr']);

// Under test/run.ts AVA reports how far it is. Its own output is for people: it leaves passes out once one test failed.
async function report({ events }) {
  // A runner that was killed has taken the stores with it: stop too. Listening must not keep AVA from ending.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  for await (const { type, testFile, title, skip, todo, err, logs, signal, nonZeroExitCode, period } of events) {
    if (process.connected && !NOT_SENT.has(type)) {
      const { originalError, ...told } = err ?? {};
      process.send({ type, testFile, title, skip, todo, err: err && told, logs, signal, nonZeroExitCode, period });
    }
  }
}

export default process.send
  ? { ...config, nonSemVerExperiments: { observeRunsFromConfig: true }, observeRun: report }
  : config;
