import { setTimeout as sleep } from 'node:timers/promises';
import { openPool } from '../helpers/database.ts';
import { PGBOUNCER_IMAGE } from '../helpers/pgbouncer.ts';
import { endWaiting, POSTGRES_IMAGE, type PostgresServer, startStandby } from '../helpers/postgres-server.ts';
import { until } from '../helpers/until.ts';
import type { Case } from './case.ts';
import type { Running, World } from './world.ts';

const ENDINGS = { cancelled: 'pg_cancel_backend', terminated: 'pg_terminate_backend' } as const;
const ENDED_TIMES = 10;
const INBOX = 'gatehouse inbox';
/** Door and worker have a dozen connections each, and each may wait once. */
const MAX_WAITING = 24;
/** The backup has no transaction that was not over when it was made. */
const REDELIVERED_BEFORE_MS = 1_000;

/** What a database on several servers does. */
export const FAILOVERS: readonly Case[] = [
  {
    name: 'failover, with connections left open to a server that stays a standby',
    images: [POSTGRES_IMAGE],
    options: { primary: true },
    async make(world) {
      const primary = primaryOf(world);
      const follower = await startStandby(primary);
      world.resources.defer(() => follower.destroy());
      const successor = await startStandby(primary, { synchronous: true });
      world.resources.defer(() => successor.destroy());
      const second = await world.startDoor();
      world.balancer.targets = [world.door.port, second.port];
      await primary.destroy();
      // For some seconds the address leads to a server that never becomes the primary.
      world.databaseProxy.lead(follower.url);
      await until(() => healthSays(world.door, 'is read-only'));
      await sleep(3_000);
      await successor.promote();
      await moveTo(world, successor);
    },
  },
  ...Object.entries(ENDINGS).map(
    ([how, end]): Case => ({
      name: `failover of a synchronous pair, after waits for the standby were ${how}`,
      images: [POSTGRES_IMAGE],
      options: { primary: true },
      async make(world) {
        const primary = primaryOf(world);
        const standby = await startStandby(primary, { synchronous: true });
        world.resources.defer(() => standby.destroy());
        await sleep(1_000);
        await standby.kill();
        for (let time = 0; time < ENDED_TIMES; time++) {
          await until(async () => (await endWaiting(primary, end, INBOX)) > 0);
        }
        await until(() => healthSays(world.door, 'cannot store deliveries'));
        await primary.destroy();
        await standby.start();
        await standby.promote();
        await moveTo(world, standby);
      },
    }),
  ),
  {
    name: 'PgBouncer in session mode killed (SIGKILL) and started again',
    images: [PGBOUNCER_IMAGE],
    options: { pooler: true },
    async make({ pooler }) {
      await pooler?.kill();
      await sleep(2_000);
      await pooler?.start();
    },
  },
  {
    name: 'PgBouncer before a primary whose synchronous standby is away for 15 s',
    images: [POSTGRES_IMAGE, PGBOUNCER_IMAGE],
    options: { primary: true, pooler: true },
    async make(world) {
      const primary = primaryOf(world);
      const standby = await startStandby(primary, { synchronous: true });
      world.resources.defer(() => standby.destroy());
      await standby.kill();
      await until(() => healthSays(world.door, 'cannot store deliveries'));
      const end = performance.now() + 15_000;
      while (performance.now() < end) {
        // No timeout ends such a wait: what is given up has to be cancelled, over the pooler.
        const { rowCount } = await primary.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        if ((rowCount ?? 0) > MAX_WAITING) {
          throw new Error(`${rowCount} backends wait for the standby`);
        }
        await sleep(500);
      }
      await standby.start();
    },
  },
  {
    name: 'database lost, and restored from a backup; what came since is redelivered',
    images: [POSTGRES_IMAGE],
    options: { primary: true },
    async make(world) {
      const primary = primaryOf(world);
      const backup = await startStandby(primary);
      world.resources.defer(() => backup.destroy());
      const since = performance.now();
      await backup.promote();
      await sleep(5_000);
      world.worker.process.child.kill('SIGTERM');
      await world.worker.process.ended();
      await primary.destroy();
      await until(() => healthSays(world.door, 'database'));
      await moveTo(world, backup);
      world.worker = await world.startWorker();
      await world.client.redeliver(since - REDELIVERED_BEFORE_MS);
    },
  },
];

function primaryOf({ primary }: World): PostgresServer {
  if (primary === undefined) {
    throw new Error('this fault needs a primary of its own');
  }
  return primary;
}

/** The connections to other servers are left open. The new primary waits for no standby: ALTER SYSTEM is not replicated. */
async function moveTo(world: World, successor: PostgresServer): Promise<void> {
  world.databaseProxy.lead(successor.url);
  const url = new URL(successor.url);
  url.pathname = new URL(world.databaseUrl).pathname;
  await world.database.end();
  world.database = openPool(url.href);
}

async function healthSays({ port }: Running, words: string): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
  return response?.status === 503 && (await response.text()).includes(words);
}
