import { availableParallelism } from 'node:os';
import { countsOf } from './test/helpers/summary.ts';
import { watchForOpenFiles } from './test/helpers/watch-for-open-files.ts';

const config = {
  files: ['test/**/*.test.ts'],
  extensions: ['ts'],
  timeout: '180s',
  // Most test files wait for stores and forges longer than they compute.
  concurrency: 2 * availableParallelism(),
};

// Under test/run.ts AVA reports how far it is. Its own output is for people: it leaves passes out once one test failed.
async function report({ events }) {
  // A runner that was killed has taken the stores with it: stop too. Listening must not keep AVA from ending.
  process.once('disconnect', () => process.exit(1));
  process.channel?.unref();
  const watch = watchForOpenFiles((message) => {
    process.stderr.write(`${message}\n`);
    process.kill(process.pid, 'SIGINT');
  });
  for await (const event of events) {
    watch(event);
    if (event.type === 'stats' && process.connected) {
      process.send(countsOf(event.stats));
    }
  }
}

export default process.send
  ? { ...config, nonSemVerExperiments: { observeRunsFromConfig: true }, observeRun: report }
  : config;
