import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBody } from '../src/inbox/read-body.ts';
import { openPool } from '../test/helpers/database.ts';
import { onFreePort } from '../test/helpers/free-port.ts';
import { CONVENTIONAL_TITLES } from '../test/helpers/policies.ts';
import { gatehouse } from '../test/helpers/process.ts';
import type { Stores } from '../test/helpers/stores.ts';
import { type SimulatedForge, startSimulatedForge } from '../test/simulated-forge/simulated-forge.ts';
import { forkServer, SECRET } from './contenders.ts';
import { clearRedis, createMigrated } from './databases.ts';
import type { KillContender } from './kill-contenders.ts';
import { type KillDelivery, sendAtRate, sendUntilAcknowledged } from './kill-sender.ts';

/** How much is sent, and when the kill comes. */
export interface KillPlan {
  readonly rounds: number;
  readonly perSecond: number;
  readonly secondsBefore: number;
  readonly secondsAfter: number;
}

export interface KillResult {
  readonly sent: number;
  readonly acknowledged: number;
  /** Acknowledged, and not processed although the process was started again. */
  readonly gone: number;
  readonly refused: number;
}

const REPOSITORY = 'acme/widgets';
const HOOK_ID = '1';
const READY_MS = 60_000;
const POLL_MS = 250;

/** One of them with its own data, over the death of its process. */
interface Contestant {
  start(port: number): ChildProcess;
  /** Those that are done, the first ones included. */
  processed(): Promise<ReadonlySet<string>>;
  close(): Promise<void>;
}

/** Load, SIGKILL, a new process at once, the rest of the load; then it counts what was acknowledged and is never done. */
export async function killRound(contender: KillContender, stores: Stores, plan: KillPlan): Promise<KillResult> {
  const forge = await startSimulatedForge({ forge: 'github' });
  const [first, ...deliveries] = makeDeliveries(forge, 1 + plan.perSecond * (plan.secondsBefore + plan.secondsAfter));
  if (first === undefined) {
    throw new Error('there is nothing to send');
  }
  await clearRedis(stores.redis.url);
  const contestant =
    contender.server === 'gatehouse'
      ? await makeGatehouse(forge, stores, [first, ...deliveries])
      : await makeOther(contender, contender.server, stores);
  try {
    return await onFreePort(async (port) => {
      let child = contestant.start(port);
      try {
        await sendUntilAcknowledged(port, first, READY_MS);
        const sending = sendAtRate(port, deliveries, plan.perSecond);
        await sleep(plan.secondsBefore * 1_000);
        const died = once(child, 'exit');
        const kills = contender.killed.map((name) => stores[name].kill());
        child.kill('SIGKILL');
        await Promise.all([died, ...kills]);
        child = contestant.start(port);
        await Promise.all(contender.killed.map((name) => stores[name].start()));
        const { acknowledged, refused } = await sending;
        const gone = await countGone(contestant, acknowledged, contender.quietMs);
        return { sent: deliveries.length, acknowledged: acknowledged.size, gone, refused };
      } finally {
        child.kill('SIGKILL');
      }
    });
  } finally {
    await contestant.close();
    await forge.stop();
  }
}

/** Waits until all are processed, or until there has been no progress for so long. */
async function countGone(contestant: Contestant, acknowledged: ReadonlySet<string>, quietMs: number): Promise<number> {
  let before = -1;
  let progressAt = performance.now();
  for (;;) {
    const processed = await contestant.processed();
    const missing = [...acknowledged].filter((id) => !processed.has(id)).length;
    if (missing === 0 || performance.now() - progressAt > quietMs) {
      return missing;
    }
    if (processed.size !== before) {
      before = processed.size;
      progressAt = performance.now();
    }
    await sleep(POLL_MS);
  }
}

/**
 * Each about a pull request of its own, so that none is processed together with another, and by an author of its own:
 * one is judged 300 times an hour at most.
 */
function makeDeliveries(forge: SimulatedForge, count: number): readonly KillDelivery[] {
  // GitHub's hourly rate limit would be used up.
  forge.rateLimit.remaining = Number.MAX_SAFE_INTEGER;
  forge.createRepository(REPOSITORY, { '.gatehouse.yml': CONVENTIONAL_TITLES });
  return Array.from({ length: count }, (_, index) => {
    forge.commit(REPOSITORY, `topic-${index}`, { [`src/${index}.ts`]: 'one\n' });
    const number = forge.openPullRequest(REPOSITORY, {
      head: `topic-${index}`,
      title: 'feat: begin',
      author: `author-${index}`,
    });
    const id = randomUUID();
    const event = { kind: 'pull-request', number, action: 'opened' } as const;
    return { id, number, ...forge.webhook(REPOSITORY, event, { secret: SECRET, hookId: HOOK_ID, deliveryId: id }) };
  });
}

async function makeOther(
  { workMs }: KillContender,
  server: Exclude<KillContender['server'], 'gatehouse'>,
  { redis }: Stores,
): Promise<Contestant> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-kill-'));
  const file = join(folder, 'processed');
  return {
    start: (port) => forkServer(server, port, { REDIS_URL: redis.url, WORK_MS: String(workMs), PROCESSED_FILE: file }),
    processed: async () => new Set((await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean)),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Done is here: its bytes are stored as they were sent, and its pull request has its final status. */
async function makeGatehouse(
  forge: SimulatedForge,
  stores: Stores,
  deliveries: readonly KillDelivery[],
): Promise<Contestant> {
  const { url, redisUrl } = await createMigrated(stores, `kill_${randomUUID().replaceAll('-', '')}`, []);
  const pool = openPool(url);
  const processed = new Set<string>();

  return {
    start: (port) =>
      gatehouse(['serve', '--with-worker'], {
        DATABASE_URL: url,
        REDIS_URL: redisUrl,
        WEBHOOK_SECRET: SECRET,
        FORGE_URL: forge.url,
        FORGE_TOKEN: forge.token,
        PORT: String(port),
        METRICS_PORT: '0',
        HOST: '127.0.0.1',
        LOG_LEVEL: 'fatal',
      }).child,
    async processed() {
      for (const { id, number, body } of deliveries) {
        const { headSha } = forge.pull(REPOSITORY, number);
        const reviewed = forge.statuses(REPOSITORY, headSha).at(-1)?.state === 'success';
        if (reviewed && !processed.has(id)) {
          const read = await readBody(pool, { hookId: HOOK_ID, deliveryId: id });
          if (read.outcome === 'read' && read.body.equals(Buffer.from(body))) {
            processed.add(id);
          }
        }
      }
      return processed;
    },
    close: () => pool.end(),
  };
}
