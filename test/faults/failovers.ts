import { setTimeout as sleep } from 'node:timers/promises';
import { openPool } from '../helpers/database.ts';
import { PGBOUNCER_IMAGE } from '../helpers/pgbouncer.ts';
import { endWaiting, POSTGRES_IMAGE, type PostgresServer, startStandby } from '../helpers/postgres-server.ts';
import { until } from '../helpers/until.ts';
import type { Case } from './case.ts';
import type { World } from './world.ts';

const ENDINGS = { cancelled: 'pg_cancel_backend', terminated: 'pg_terminate_backend' } as const;
const ENDED_TIMES = 10;
const INBOX = 'gatehouse inbox';

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
      await primary.destroy();
      // For some seconds the address leads to a server that never becomes the primary.
      world.databaseProxy.lead(follower.url);
      await until(() => isReadOnly(world.door.port));
      await sleep(3_000);
      await failOver(world, successor);
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
        await primary.destroy();
        await standby.start();
        await failOver(world, standby);
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
];

function primaryOf({ primary }: World): PostgresServer {
  if (primary === undefined) {
    throw new Error('this fault needs a primary of its own');
  }
  return primary;
}

/** The connections to other servers are left open. The new primary waits for no standby: ALTER SYSTEM is not replicated. */
async function failOver(world: World, successor: PostgresServer): Promise<void> {
  await successor.promote();
  world.databaseProxy.lead(successor.url);
  const url = new URL(successor.url);
  url.pathname = new URL(world.databaseUrl).pathname;
  await world.database.end();
  world.database = openPool(url.href);
}

async function isReadOnly(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined);
  return (await response?.text())?.includes('is read-only') ?? false;
}
