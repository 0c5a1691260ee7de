import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { makeShortLocks } from '../../src/db/short-locks.ts';
import { signalProcess } from '../helpers/processes.ts';
import type { Case } from './case.ts';
import { FAILOVERS } from './failovers.ts';
import { untilReady, type World } from './world.ts';

const DISK_FULL = '53100';
const CLOCK = new URL('./clock.ts', import.meta.url).href;

export const CASES: readonly Case[] = [
  ...FAILOVERS,
  {
    name: 'door killed (SIGKILL), three times',
    short: true,
    async make(world) {
      for (let time = 0; time < 3; time++) {
        world.door.process.child.kill('SIGKILL');
        await world.door.process.ended();
        world.door = await world.startDoor();
        world.balancer.targets = [world.door.port];
        await sleep(500);
      }
    },
  },
  {
    name: 'worker killed (SIGKILL)',
    short: true,
    async make(world) {
      world.worker.process.child.kill('SIGKILL');
      await world.worker.process.ended();
      await sleep(1_000);
      world.worker = await world.startWorker();
    },
  },
  {
    name: 'PostgreSQL killed (SIGKILL) and started again',
    short: true,
    async make({ stores }) {
      await stores.database.kill();
      await sleep(2_000);
      await stores.database.start();
    },
  },
  {
    name: 'PostgreSQL paused for 10 s',
    async make({ stores }) {
      await stores.database.pause();
      await sleep(10_000);
      await stores.database.resume();
    },
  },
  {
    name: 'Redis killed (SIGKILL) and started again',
    async make({ stores }) {
      await stores.redis.kill();
      await sleep(4_000);
      await stores.redis.start();
    },
  },
  {
    name: 'Redis paused for 6 s',
    async make({ stores }) {
      await stores.redis.pause();
      await sleep(6_000);
      await stores.redis.resume();
    },
  },
  {
    name: 'clients’ connections reset, every 50 ms',
    short: true,
    make: ({ balancer }) => repeatedly(60, 50, () => balancer.cut()),
  },
  {
    name: 'database connections reset, every 100 ms',
    short: true,
    make: ({ databaseProxy }) => repeatedly(30, 100, () => databaseProxy.cut()),
  },
  {
    name: 'database slow: 200 ms more each way, for 5 s',
    async make({ databaseProxy }) {
      await databaseProxy.delay(200);
      await sleep(5_000);
      await databaseProxy.pass();
    },
  },
  {
    name: 'disk full: a real one of 160 MiB, filled for 5 s',
    images: ['postgres:17-alpine'],
    options: { smallDisk: true },
    async make({ smallDisk, database }) {
      await smallDisk?.fill();
      // What a full disk refuses first is a table that has to grow.
      const growing = database.query(
        'CREATE TABLE grows AS SELECT repeat(md5(i::text), 50) FROM generate_series(1, 5000) i',
      );
      const refused = await growing.then(
        () => undefined,
        (error: { code?: string }) => error.code,
      );
      if (refused !== DISK_FULL) {
        throw new Error(`expected a full disk, but PostgreSQL says ${refused}`);
      }
      await sleep(5_000);
      await smallDisk?.free();
    },
  },
  {
    name: 'disk full: SQLSTATE 53100 from every INSERT, for 3 s (raised by a trigger)',
    async make({ database }) {
      await database.query(`
        CREATE FUNCTION gatehouse.disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER disk_full BEFORE INSERT ON gatehouse.deliveries EXECUTE FUNCTION gatehouse.disk_full()`);
      await sleep(3_000);
      await database.query('DROP FUNCTION gatehouse.disk_full CASCADE');
    },
  },
  {
    name: 'every connection of PostgreSQL taken, and the pools’ own cut, for 4 s',
    async make({ databaseUrl, databaseProxy }) {
      const taken: pg.Client[] = [];
      const take = async () => {
        const client = new pg.Client({ connectionString: databaseUrl });
        client.on('error', () => {});
        await client.connect();
        taken.push(client);
      };
      const takeAll = async () => {
        for (;;) {
          await take();
        }
      };
      // The processes lose what they hold, and find nothing when they restart.
      databaseProxy.reset();
      await sleep(500);
      await takeAll().catch(() => {});
      await databaseProxy.pass();
      await sleep(4_000);
      await Promise.all(taken.map((client) => client.end()));
    },
  },
  {
    name: 'deliveries locked: every transaction waits, for 6 s',
    async make({ databaseUrl }) {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query('BEGIN; LOCK TABLE gatehouse.deliveries IN EXCLUSIVE MODE');
      await sleep(6_000);
      await client.query('ROLLBACK');
      await client.end();
    },
  },
  {
    name: 'a migration of deliveries beside a session that reads them, for 10 s',
    short: true,
    async make({ databaseUrl }) {
      const reader = new pg.Client({ connectionString: databaseUrl });
      const migration = new pg.Client({ connectionString: databaseUrl });
      await Promise.all([reader.connect(), migration.connect()]);
      await reader.query('BEGIN; SELECT count(*) FROM gatehouse.deliveries');
      const locks = await makeShortLocks(migration, databaseUrl, () => {});
      const migrated = locks.run(() => migration.query('ALTER TABLE gatehouse.deliveries ADD COLUMN note text'));
      await sleep(10_000);
      await reader.query('COMMIT');
      await migrated;
      await locks.close();
      await Promise.all([reader.end(), migration.end()]);
    },
  },
  {
    name: 'rolling restart of two doors, SIGTERM, twice around',
    short: true,
    async make(world) {
      let other = await world.startDoor();
      world.balancer.targets = [world.door.port, other.port];
      for (let turn = 0; turn < 4; turn++) {
        const [old, stays] = turn % 2 === 0 ? [world.door, other] : [other, world.door];
        const fresh = await world.startDoor();
        world.balancer.targets = [stays.port, fresh.port];
        old.process.child.kill('SIGTERM');
        const { code } = await old.process.ended();
        if (code !== 0) {
          throw new Error(`a door that was asked to stop ended with ${code}`);
        }
        if (turn % 2 === 0) {
          world.door = fresh;
        } else {
          other = fresh;
        }
      }
    },
  },
  {
    name: 'clocks jump: an hour ahead, then two hours back, every second',
    options: { env: { NODE_OPTIONS: `--import ${CLOCK}` } },
    make: ({ door, worker }) =>
      repeatedly(6, 1_000, () => {
        for (const { process } of [door, worker]) {
          signalProcess(process.child.pid ?? 0, 'SIGUSR2');
        }
      }),
  },
];

async function repeatedly(times: number, everyMs: number, act: () => void): Promise<void> {
  for (let time = 0; time < times; time++) {
    act();
    await sleep(everyMs);
  }
}

/** By their health, since readiness bears short faults. */
export async function untilRecovered({ balancer, worker }: World): Promise<void> {
  const ports = [...balancer.targets, worker.port];
  await Promise.all(ports.flatMap((port) => [untilReady(port), untilReady(port, '/health')]));
}
