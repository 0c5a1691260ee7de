import { GenericContainer, Wait } from 'testcontainers';
import { OWNER } from '../helpers/docker.ts';
import { onFreePort } from '../helpers/free-port.ts';

/** A PostgreSQL whose whole disk is a few megabytes of memory, in a container. */
export interface SmallDisk {
  readonly url: string;
  /** Leaves no byte free. */
  fill(): Promise<void>;
  free(): Promise<void>;
  close(): Promise<void>;
}

const DATA = '/var/lib/postgresql/data';
const BALLAST = `${DATA}/ballast`;
const SIZE = '160m';
/**
 * Fills four segments of the write-ahead log, which a checkpoint then keeps for later (min_wal_size). A server that finds no
 * room for a new segment ends, and loses what is only in memory here.
 */
const KEEP_SEGMENTS = [
  ...Array.from({ length: 4 }, () => ["SELECT pg_logical_emit_message(true, '', '')", 'SELECT pg_switch_wal()']).flat(),
  'CHECKPOINT',
].flatMap((statement) => ['--command', statement]);

export function startSmallDisk(): Promise<SmallDisk> {
  return onFreePort(startOn);
}

async function startOn(port: number): Promise<SmallDisk> {
  const container = await new GenericContainer('postgres:17-alpine')
    .withEnvironment({ POSTGRES_USER: 'gatehouse', POSTGRES_PASSWORD: 'gatehouse', POSTGRES_DB: 'gatehouse' })
    .withLabels(OWNER)
    .withTmpFs({ [DATA]: `rw,size=${SIZE}` })
    .withExposedPorts({ container: 5432, host: port })
    // Over TCP: while the image prepares its first database the server listens on a Unix socket only.
    .withWaitStrategy(Wait.forSuccessfulCommand('pg_isready --quiet --host=127.0.0.1 --username=gatehouse'))
    .withAutoCleanup(false)
    .start();
  await container.exec(['psql', '--quiet', '--username=gatehouse', '--dbname=gatehouse', ...KEEP_SEGMENTS]);
  const host = container.getHost() === 'localhost' ? '127.0.0.1' : container.getHost();
  return {
    url: `postgres://gatehouse:gatehouse@${host}:${port}/gatehouse`,
    async fill() {
      // Ends with an error, for that is when it is full.
      await container.exec(['dd', 'if=/dev/zero', `of=${BALLAST}`, 'bs=8k']);
    },
    async free() {
      await container.exec(['rm', '-f', BALLAST]);
    },
    async close() {
      await container.stop();
    },
  };
}
