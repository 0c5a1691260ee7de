import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { docker, startServer, tryDocker } from './docker.ts';
import { onFreePort } from './free-port.ts';
import { until } from './until.ts';

export const POSTGRES_IMAGE = 'postgres:17';
const ADDRESS = '127.0.0.1';
const USER = 'gatehouse';
const DATA = '/tmp/data';
const DATABASE = 'postgres';
const SYNCHRONOUS = 'sync';
/** A standby goes on with "read-only connections". */
const READY = 'database system is ready to accept ';

export function startPrimary(): Promise<PostgresServer> {
  return onFreePort((port) => startOn(port, `initdb --pgdata=${DATA} --username=${USER} --auth=trust >/dev/null`));
}

/** From a base backup. With `synchronous` the primary waits for it at each commit from now on. */
export async function startStandby(
  primary: PostgresServer,
  { synchronous = false }: { readonly synchronous?: boolean } = {},
): Promise<PostgresServer> {
  const name = `standby_${randomUUID().replaceAll('-', '')}`;
  const from = new URL(primary.url);
  const prepare =
    `pg_basebackup --pgdata=${DATA} --write-recovery-conf --checkpoint=fast ` +
    `--dbname='host=${ADDRESS} port=${from.port} user=${USER} application_name=${name}'`;
  const standby = await onFreePort((port) => startOn(port, prepare));
  if (synchronous) {
    await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await primary.query('SELECT pg_reload_conf()');
  }
  const state = synchronous ? SYNCHRONOUS : 'async';
  await until(async () => {
    const { rowCount } = await primary.query(
      "SELECT FROM pg_stat_replication WHERE application_name = $1 AND state = 'streaming' AND sync_state = $2",
      [name, state],
    );
    return rowCount === 1;
  });
  return standby;
}

export type Ending = 'pg_cancel_backend' | 'pg_terminate_backend';

/** Ends, with a function of PostgreSQL, the backends that wait for a synchronous standby. Returns how many did. */
export async function endWaiting(
  server: Pick<PostgresServer, 'query'> | pg.Pool,
  end: Ending,
  application: string,
): Promise<number> {
  const { rowCount } = await server.query(
    `SELECT ${end}(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = $1`,
    [application],
  );
  return rowCount ?? 0;
}

export type PostgresServer = Awaited<ReturnType<typeof startOn>>;

/**
 * A PostgreSQL of one's own in a container, as a primary or as a streaming standby of one. `prepare` makes the data of the
 * first start. The network is the machine's own.
 */
async function startOn(port: number, prepare: string) {
  const command = [
    `umask 077; [ -s ${DATA}/PG_VERSION ] || ${prepare} || exit 1
     exec postgres -D ${DATA} -c port=${port} -c listen_addresses=${ADDRESS} -c unix_socket_directories=/tmp`,
  ];
  const options = ['--network', 'host', '--user', 'postgres', '--entrypoint', 'sh', POSTGRES_IMAGE, '-c'];
  const id = await startServer([...options, ...command], READY);
  const url = `postgres://${USER}@${ADDRESS}:${port}/${DATABASE}`;
  /** A connection for each, as servers come and go. */
  const query = async (text: string, values: string[] = []) => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    return client.query(text, values).finally(() => client.end());
  };
  const untilAnswers = () =>
    until(() =>
      query('SELECT 1').then(
        () => true,
        () => false,
      ),
    );
  return {
    url,
    query,
    async kill() {
      await docker(['kill', id]);
    },
    async start() {
      await docker(['start', id]);
      await untilAnswers();
    },
    /** A standby becomes a primary. Resolves when it can write. */
    async promote() {
      await query('SELECT pg_promote()');
    },
    async destroy() {
      await tryDocker(['rm', '--force', '--volumes', id]);
    },
  };
}
