import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { openJudging } from '../../src/composition/judging.ts';
import { parseForgeConfig } from '../../src/config/config.ts';
import { makeReviewWorkers } from '../../src/review/workers/review-workers.ts';
import test from '../helpers/test.ts';

test('a command with an invalid POLICY_FILE leaves no worker behind', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-judging-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'policy.yml');
  await writeFile(file, 'version: 1\nrules: nothing\n');
  const parsed = parseForgeConfig({ FORGE_TOKEN: 'a-token', POLICY_FILE: file });
  if (!parsed.ok) {
    throw new Error(parsed.faults.join());
  }
  const started: Worker[] = [];
  const collect = (worker: Worker) => started.push(worker);
  process.on('worker', collect);
  t.teardown(() => process.off('worker', collect));
  await t.throwsAsync(openJudging(parsed.config, makeReviewWorkers({ size: 1 })), {
    name: 'ConfigurationError',
    message: /^POLICY_FILE cannot be used/,
  });
  t.true(started.length > 0, 'the policy was parsed in a worker');
  // A worker that has ended has no id.
  t.deepEqual([...new Set(started.map(({ threadId }) => threadId))], [-1]);
});
