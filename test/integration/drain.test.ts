import { Agent, request } from 'node:http';
import type pg from 'pg';
import { makeMigratedDatabase, openPool, sharedRedisUrl } from '../helpers/database.ts';
import { within } from '../helpers/deadline.ts';
import { SECRET, sign, storedDeliveries } from '../helpers/door.ts';
import nightly from '../helpers/nightly.ts';
import { type GatehouseProcess, gatehouse } from '../helpers/process.ts';
import { startProxy, type TcpProxy } from '../helpers/proxy.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;

interface Service extends GatehouseProcess {
  /** Waits until so many small deliveries have arrived and are not answered. */
  inFlight(deliveries: number): Promise<void>;
}

/** Seconds of a drain that only a second signal ends, however long a test takes. */
const ENDLESS = 3_600;

/** What the door holds for a small delivery, in bytes. */
const HELD = 16 * 1024;

async function withProcess(
  drainSeconds: number,
  work: (service: Service, port: number, database: pg.Pool) => Promise<void>,
  /** On the way to the database. */
  throughProxy = async (databaseUrl: string) => databaseUrl,
): Promise<void> {
  const database = await makeMigratedDatabase();
  const pool = openPool(database.url);
  const service = gatehouse(['serve'], {
    DATABASE_URL: await throughProxy(database.url),
    REDIS_URL: await sharedRedisUrl(),
    WEBHOOK_SECRET: SECRET,
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    DRAIN_SECONDS: String(drainSeconds),
  });
  try {
    const { port, metricsPort } = await service.logged('Gatehouse is listening');
    const inFlight = (deliveries: number) =>
      until(async () => {
        const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        return page.includes(`\ngatehouse_inflight_bytes ${deliveries * HELD}\n`);
      });
    await work({ ...service, inFlight }, Number(port), pool);
  } finally {
    service.child.kill('SIGKILL');
    await service.ended();
    await pool.end();
    await database.drop();
  }
}

type Outcome = number | 'refused' | 'cut';

/** One delivery over a connection that is kept alive. `refused` is a connection that was never made. */
function deliver(agent: Agent, port: number, id: string): Promise<Outcome> {
  const body = JSON.stringify({ id });
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const outgoing = request(
    {
      agent,
      port,
      host: '127.0.0.1',
      path: '/webhook',
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body),
        'X-Forge-Event': 'ping',
        'X-Forge-Delivery': id,
        'X-Hub-Signature-256': sign(body),
      },
    },
    (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', () => resolve('cut'));
    },
  );
  outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'cut'));
  outgoing.end(body);
  return promise;
}

test('SIGTERM under steady load never loses or refuses a delivery', async (t) => {
  await withProcess(ENDLESS, async (service, port, database) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const outcomes = new Map<string, Outcome>();
    const answered = new Array<number>(16).fill(0);
    let sending = true;
    const client = async (_: number, name: number) => {
      for (let index = 0; sending; index++) {
        const id = `${name}-${index}`;
        outcomes.set(id, await deliver(agent, port, id));
        answered[name] = index + 1;
      }
    };
    const clients = answered.map(client);
    await until(() => outcomes.size > 200);
    service.child.kill('SIGTERM');
    await until(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 503);
    // A Service goes on sending to a pod for a while after it stopped being ready.
    const before = [...answered];
    await until(() => answered.every((count, name) => count > (before[name] ?? 0) + 1));
    sending = false;
    await Promise.all(clients);
    agent.destroy();

    t.deepEqual(new Set(outcomes.values()), new Set([200]));
    const stored = new Set((await storedDeliveries(database)).map(({ deliveryId }) => deliveryId));
    t.deepEqual(
      [...outcomes.keys()].filter((id) => !stored.has(id)),
      [],
    );
    t.is(stored.size, outcomes.size);
  });
});

test('clients that continue after the listener has closed get no false 200', async (t) => {
  await withProcess(1, async (service, port, database) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const outcomes = new Map<string, Outcome>();
    const client = async (name: number) => {
      for (let index = 0; outcomes.get(`${name}-${index - 1}`) !== 'refused'; index++) {
        const id = `${name}-${index}`;
        outcomes.set(id, await deliver(agent, port, id));
      }
    };
    const clients = Array.from({ length: 16 }, (_, name) => client(name));
    await until(() => outcomes.size > 200);
    service.child.kill('SIGTERM');
    await Promise.all(clients);
    agent.destroy();

    const { code, stdout } = await service.ended();
    t.is(code, 0);
    t.true(stdout.includes('"msg":"drained"'), stdout);
    const stored = new Set((await storedDeliveries(database)).map(({ deliveryId }) => deliveryId));
    const acknowledged = [...outcomes].filter(([, outcome]) => outcome === 200).map(([id]) => id);
    t.true(acknowledged.length > 200);
    t.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    );
  });
});

test('on SIGTERM readiness is 503 at once, and webhooks are still answered', async (t) => {
  await withProcess(ENDLESS, async (service, port) => {
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(`${url}/health/ready`)).status === 200);
    t.is((await fetch(`${url}/health/live`)).headers.get('connection'), 'keep-alive');
    service.child.kill('SIGTERM');
    await service.logged('received a signal, stopping');
    const ready = await fetch(`${url}/health/ready`);
    t.is(ready.status, 503);
    t.deepEqual(await ready.json(), {
      status: 'error',
      info: { database: { status: 'up' }, redis: { status: 'up' } },
      error: { service: { status: 'down', message: 'is shutting down' } },
    });
    const live = await fetch(`${url}/health/live`);
    t.is(live.status, 200);
    t.is(live.headers.get('connection'), 'close', 'so that whoever keeps connections takes the next request elsewhere');
    t.is(await deliver(new Agent(), port, 'while-draining'), 200);
    // A second signal ends it at once.
    service.child.kill('SIGTERM');
    t.is((await service.ended()).code, 143);
  });
});

test('a delivery in flight when the listener closes is stored and acknowledged', async (t) => {
  await withProcess(0, async (service, port, database) => {
    const body = '{"slow":true}';
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const outgoing = request(
      {
        port,
        host: '127.0.0.1',
        path: '/webhook',
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          'X-Forge-Event': 'ping',
          'X-Forge-Delivery': 'slow',
          'X-Hub-Signature-256': sign(body),
        },
      },
      (response) => resolve(response.statusCode ?? 0),
    );
    outgoing.on('error', () => resolve('cut'));
    outgoing.write(body.slice(0, 3));
    await service.inFlight(1);
    service.child.kill('SIGTERM');
    const isRefused = () =>
      fetch(`http://127.0.0.1:${port}/health/live`).then(
        () => false,
        () => true,
      );
    await until(isRefused);
    outgoing.end(body.slice(3));
    t.is(await promise, 200);
    t.is((await service.ended()).code, 0);
    t.is((await storedDeliveries(database)).length, 1);
  });
});

nightly('with a hung database the drain still ends, and the process exits', async (t) => {
  let proxy: TcpProxy | undefined;
  const throughProxy = async (databaseUrl: string) => {
    proxy = await startProxy(databaseUrl);
    return proxy.url;
  };
  const work = async (service: Service, port: number, database: pg.Pool) => {
    // Connections of every kind are open.
    await until(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 200);
    t.is(await deliver(new Agent(), port, 'before'), 200);
    await proxy?.hang();
    const waiting = ['one', 'two', 'three'].map((id) => deliver(new Agent(), port, id));
    await service.inFlight(3);
    service.child.kill('SIGTERM');
    t.deepEqual(await Promise.all(waiting), [503, 503, 503]);
    t.is((await within(20_000, 'it did not end', service.ended())).code, 0);
    t.is((await storedDeliveries(database)).length, 1);
  };
  await withProcess(0, work, throughProxy);
  // What it kept back finds its way, and its connections their end.
  await proxy?.pass();
  await until(() => proxy?.open === 0);
  await proxy?.close();
});
