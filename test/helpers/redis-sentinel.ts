import { Redis } from 'ioredis';
import { docker, startServer, tryDocker } from './docker.ts';
import { onFreePort } from './free-port.ts';
import { until } from './until.ts';

export const REDIS_IMAGE = 'redis:8';
const ADDRESS = '127.0.0.1';
const NAME = 'mymaster';
const READY = 'Ready to accept connections';

/** A primary, a replica and a Sentinel that watches them, in containers whose network is the machine's own. */
export interface SentinelGroup extends AsyncDisposable {
  /** A REDIS_URL. */
  readonly url: string;
  /** SIGKILL to the present primary. Resolves when the Sentinel names another one that can write. */
  failOver(): Promise<void>;
}

export async function startSentinelGroup(): Promise<SentinelGroup> {
  await using started = new AsyncDisposableStack();
  const ids = new Map<number, string>();
  const run = (ready: string, commandOn: (port: number) => string) =>
    onFreePort(async (port) => {
      const command = ['--entrypoint', 'sh', REDIS_IMAGE, '-c', commandOn(port)];
      const id = await startServer(['--network', 'host', ...command], ready);
      started.defer(async () => {
        await tryDocker(['rm', '--force', '--volumes', id]);
      });
      ids.set(port, id);
      return port;
    });
  const server = (port: number, more = '') =>
    `exec redis-server --bind ${ADDRESS} --port ${port} --save '' --repl-diskless-sync-delay 0 ${more}`;
  const first = await run(READY, server);
  const second = await run(READY, (port) => server(port, `--replicaof ${ADDRESS} ${first}`));
  await until(async () => String(await ask(second, 'INFO', 'replication')).includes('master_link_status:up'));
  const sentinel = await run('+monitor master', (port) => {
    const settings = [
      `bind ${ADDRESS}`,
      `port ${port}`,
      `sentinel monitor ${NAME} ${ADDRESS} ${first} 1`,
      `sentinel down-after-milliseconds ${NAME} 1000`,
      `sentinel failover-timeout ${NAME} 5000`,
    ];
    return `printf '${settings.join('\\n')}\\n' > /tmp/sentinel.conf && exec redis-server /tmp/sentinel.conf --sentinel`;
  });
  // It learns of the replica from the primary, and then it can fail over.
  await until(async () => String(await ask(sentinel, 'SENTINEL', 'replicas', NAME)).includes(String(second)));
  const primary = async () =>
    Number(((await ask(sentinel, 'SENTINEL', 'get-master-addr-by-name', NAME)) as string[])[1]);
  const owned = started.move();
  return {
    url: `redis+sentinel://${ADDRESS}:${sentinel}/${NAME}/0`,
    async failOver() {
      const before = await primary();
      await docker(['kill', ids.get(before) ?? '']);
      await until(async () => {
        const now = await primary();
        return now !== before && (await ask(now, 'SET', 'gatehouse:any', '1').catch(() => undefined)) === 'OK';
      });
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function ask(port: number, command: string, ...args: string[]): Promise<unknown> {
  const redis = new Redis({
    host: ADDRESS,
    port,
    lazyConnect: true,
    retryStrategy: () => null,
    enableReadyCheck: false,
  });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.call(command, ...args);
  } finally {
    redis.disconnect();
  }
}
