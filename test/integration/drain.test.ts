import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import type pg from 'pg';
import { makeMigratedDatabase, openPool, sharedRedisUrl } from '../helpers/database.ts';
import { within } from '../helpers/deadline.ts';
import { SECRET, sign, storedDeliveries } from '../helpers/door.ts';
import nightly from '../helpers/nightly.ts';
import { type GatehouseProcess, gatehouse, portsOf } from '../helpers/process.ts';
import { startProxy, type TcpProxy } from '../helpers/proxy.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;

interface Service extends GatehouseProcess {
  readonly port: number;
  readonly url: string;
  /** What is stored. */
  readonly database: pg.Pool;
  /** Waits until so many small deliveries have arrived and are not answered. */
  inFlight(deliveries: number): Promise<void>;
}

/** Seconds of a drain that only a second signal ends, however long a test takes. */
const ENDLESS = 3_600;

/** What the door holds for a small delivery, in bytes. */
const HELD = 16 * 1024;

/** A process on stores of its own, which has ended afterwards. */
async function withGatehouse(
  command: string,
  env: Readonly<Record<string, string>>,
  work: (process: GatehouseProcess, database: pg.Pool) => Promise<void>,
  /** On the way to the database. */
  throughProxy = async (databaseUrl: string) => databaseUrl,
): Promise<void> {
  const { url, drop } = await makeMigratedDatabase();
  const database = openPool(url);
  const process = gatehouse([command], {
    DATABASE_URL: await throughProxy(url),
    REDIS_URL: await sharedRedisUrl(),
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    ...env,
  });
  try {
    await work(process, database);
  } finally {
    process.child.kill('SIGKILL');
    await process.ended();
    await database.end();
    await drop();
  }
}

function withDoor(
  drainSeconds: number,
  work: (service: Service) => Promise<void>,
  throughProxy?: (databaseUrl: string) => Promise<string>,
): Promise<void> {
  const listening = async (process: GatehouseProcess, database: pg.Pool) => {
    const { port, metricsPort } = await portsOf(process);
    const inFlight = (deliveries: number) =>
      until(async () => {
        const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
        return page.includes(`\ngatehouse_inflight_bytes ${deliveries * HELD}\n`);
      });
    await work({ ...process, port, url: `http://127.0.0.1:${port}`, database, inFlight });
  };
  const env = { WEBHOOK_SECRET: SECRET, DRAIN_SECONDS: String(drainSeconds) };
  return withGatehouse('serve', env, listening, throughProxy);
}

type Outcome = number | 'refused' | 'cut';

/** One delivery whose bytes are sent later. `refused` is a connection that was never made. */
function begin(agent: Agent, port: number, id: string) {
  const body = JSON.stringify({ id });
  const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'X-Forge-Event': 'ping',
    'X-Forge-Delivery': id,
    'X-Hub-Signature-256': sign(body),
  };
  const options = { agent, port, host: '127.0.0.1', path: '/webhook', method: 'POST', headers };
  const outgoing = request(options, (response) => {
    response.resume();
    response.on('end', () => resolve(response.statusCode ?? 0));
    response.on('error', () => resolve('cut'));
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'cut'));
  return { outgoing, body, outcome };
}

function deliver(port: number, id: string, agent = new Agent()): Promise<Outcome> {
  const { outgoing, body, outcome } = begin(agent, port, id);
  outgoing.end(body);
  return outcome;
}

/** Sixteen clients that deliver over connections that are kept alive, each until it is told to stop or is refused. */
async function startLoad(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const outcomes = new Map<string, Outcome>();
  const answered = new Array<number>(16).fill(0);
  let sending = true;
  const client = async (_: number, name: number) => {
    for (let outcome: Outcome = 200; sending && outcome !== 'refused'; ) {
      const id = `${name}-${answered[name]}`;
      outcome = await deliver(port, id, agent);
      outcomes.set(id, outcome);
      answered[name] = (answered[name] ?? 0) + 1;
    }
  };
  const clients = Promise.all(answered.map(client));
  await until(() => outcomes.size > 200);
  return {
    answered,
    stop: () => {
      sending = false;
    },
    async ended() {
      await clients;
      agent.destroy();
      return outcomes;
    },
  };
}

async function idsOf(database: pg.Pool): Promise<readonly string[]> {
  return (await storedDeliveries(database)).map(({ deliveryId }) => deliveryId).sort();
}

test('SIGTERM under steady load never loses or refuses a delivery', async (t) => {
  await withDoor(ENDLESS, async ({ child, port, url, database }) => {
    const { answered, stop, ended } = await startLoad(port);
    child.kill('SIGTERM');
    await until(async () => (await fetch(`${url}/health/ready`)).status === 503);
    // A Service goes on sending to a pod for a while after it stopped being ready.
    const before = [...answered];
    await until(() => answered.every((count, name) => count > (before[name] ?? 0) + 1));
    stop();
    const outcomes = await ended();
    t.deepEqual(new Set(outcomes.values()), new Set([200]));
    t.deepEqual(await idsOf(database), [...outcomes.keys()].sort());
  });
});

test('clients that continue after the listener has closed get no false 200', async (t) => {
  await withDoor(1, async (service) => {
    const load = await startLoad(service.port);
    service.child.kill('SIGTERM');
    const acknowledged = [...(await load.ended())].filter(([, outcome]) => outcome === 200).map(([id]) => id);
    const { code, stdout } = await service.ended();
    t.is(code, 0);
    t.true(stdout.includes('"msg":"drained"'), stdout);
    const stored = new Set(await idsOf(service.database));
    t.true(acknowledged.length > 200);
    t.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    );
  });
});

test('on SIGTERM readiness is 503 at once, and webhooks are still answered', async (t) => {
  await withDoor(ENDLESS, async (service) => {
    const { port, url } = service;
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
    t.is(await deliver(port, 'while-draining'), 200);
    // A second signal ends it at once.
    service.child.kill('SIGTERM');
    t.is((await service.ended()).code, 143);
  });
});

test('a delivery in flight when the listener closes is stored and acknowledged', async (t) => {
  await withDoor(0, async (service) => {
    const { outgoing, body, outcome } = begin(new Agent(), service.port, 'slow');
    outgoing.write(body.slice(0, 3));
    await service.inFlight(1);
    service.child.kill('SIGTERM');
    const isRefused = () =>
      fetch(`${service.url}/health/live`).then(
        () => false,
        () => true,
      );
    await until(isRefused);
    outgoing.end(body.slice(3));
    t.is(await outcome, 200);
    t.is((await service.ended()).code, 0);
    t.deepEqual(await idsOf(service.database), ['slow']);
  });
});

nightly('with a hung database the drain still ends, and the process exits', async (t) => {
  let proxy: TcpProxy | undefined;
  const throughProxy = async (databaseUrl: string) => {
    proxy = await startProxy(databaseUrl);
    return proxy.url;
  };
  const work = async (service: Service) => {
    const { port, url } = service;
    // Connections of every kind are open.
    await until(async () => (await fetch(`${url}/health/ready`)).status === 200);
    t.is(await deliver(port, 'before'), 200);
    await proxy?.hang();
    const waiting = ['one', 'two', 'three'].map((id) => deliver(port, id));
    await service.inFlight(3);
    service.child.kill('SIGTERM');
    t.deepEqual(await Promise.all(waiting), [503, 503, 503]);
    t.is((await within(20_000, 'it did not end', service.ended())).code, 0);
    t.deepEqual(await idsOf(service.database), ['before']);
  };
  await withDoor(0, work, throughProxy);
  // What it kept back finds its way, and its connections their end.
  await proxy?.pass();
  await until(() => proxy?.open === 0);
  await proxy?.close();
});

const WORKER = {
  FORGE: 'gitea',
  FORGE_URL: 'http://127.0.0.1:9',
  FORGE_TOKEN: 'never-used',
  DRAIN_SECONDS: '0',
};

test('a worker that gets SIGTERM while it starts exits with 0', async (t) => {
  await withGatehouse('work', WORKER, async ({ child, ended, logged }) => {
    await logged('Gatehouse is listening');
    child.kill('SIGTERM');
    t.is((await ended()).code, 0);
  });
});

test('a worker whose port is in use logs it and exits with 1', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await withGatehouse('work', { ...WORKER, PORT: String(port) }, async ({ ended }) => {
    const { code, stdout } = await ended();
    t.is(code, 1);
    t.regex(stdout, /EADDRINUSE/);
  });
  other.close();
});
