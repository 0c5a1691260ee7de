import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { detectPooling } from '../../src/db/pooler.ts';
import { docker, startServer } from './docker.ts';
import { onFreePort } from './free-port.ts';
import { until } from './until.ts';

export const PGBOUNCER_IMAGE = 'edoburu/pgbouncer:v1.24.1-p1';

export type PoolMode = 'session' | 'transaction' | 'statement';

export function startPgBouncer(databaseUrl: string, mode: PoolMode): Promise<PgBouncer> {
  return onFreePort((port) => startOn(port, databaseUrl, mode));
}

export type PgBouncer = Awaited<ReturnType<typeof startOn>>;

async function startOn(port: number, databaseUrl: string, mode: PoolMode) {
  const to = new URL(databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const name = to.pathname.slice(1);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = host=127.0.0.1 port=${to.port} user=${to.username}${to.password && ` password=${to.password}`}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
    { mode: 0o644 },
  );
  const volume = `${folder}/pgbouncer.ini:/etc/pgbouncer/pgbouncer.ini:ro`;
  const id = await startServer(['--network', 'host', '--volume', volume, PGBOUNCER_IMAGE], 'process up');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  const untilAnswers = () =>
    until(() =>
      detectPooling(url.href).then(
        () => true,
        () => false,
      ),
    );
  await untilAnswers();
  return {
    url: url.href,
    async kill() {
      await docker(['kill', id]);
    },
    async start() {
      await docker(['start', id]);
      await untilAnswers();
    },
    async [Symbol.asyncDispose]() {
      await docker(['rm', '--force', '--volumes', id]);
      await rm(folder, { recursive: true });
    },
  };
}
