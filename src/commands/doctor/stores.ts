import { once } from 'node:events';
import type pg from 'pg';
import { isSentinelUrl } from '../../common/sentinel-url.ts';
import { detectPooling, type Pooling } from '../../db/pooler.ts';
import { TRANSACTION_POOLING, USE_SESSIONS } from '../../db/pooler-error.ts';
import { makeRedisProbe, type RedisProbe } from '../../db/redis-probe.ts';
import { readSchemaState, SCHEMA_VERSION, type SchemaState } from '../../db/schema.ts';
import { onConnection } from '../../db/transaction.ts';
import { makeJobQueue } from '../../jobs/queue/engine.ts';
import { QUEUES } from '../../jobs/queues.ts';
import { makeLog } from '../../log.ts';
import { reasonOf } from '../failures.ts';
import { bounded, type Finding, ok, skipped, wrong } from './finding.ts';

/** As long as a delivery waits for the database. */
const LIMIT_MS = 4_000;

/** The oldest versions that docs/operations.md names. */
const MIN_POSTGRESQL = 14;
const MIN_REDIS = [6, 2] as const;

/** Seconds. GitHub refuses the signature of an App whose clock is a minute fast. */
const MAX_CLOCK_DIFFERENCE_S = 30;

export const DATABASE_CHECKS = ['database schema', 'database rights', 'clock'] as const;

export interface DatabaseReport {
  readonly findings: readonly Finding[];
  /** Whether its tables can be read. */
  readonly usable: boolean;
}

/** `now` is the clock of this machine, in milliseconds since 1970. */
export async function checkDatabase(
  databaseUrl: string,
  pool: pg.Pool,
  now: () => number = Date.now,
): Promise<DatabaseReport> {
  let server: Server;
  let pooling: Pooling;
  try {
    server = await onConnection(pool, LIMIT_MS, (client) => readServer(client, now));
    pooling = await detectPooling(databaseUrl);
  } catch (error) {
    const action = 'check DATABASE_URL, the network policy and whether the database is up';
    return {
      findings: [wrong('database', reasonOf(error), action), ...skipped(DATABASE_CHECKS, 'no database')],
      usable: false,
    };
  }
  const schema = await bounded('database schema', () => checkSchema(pool));
  const usable = schema.every(({ result }) => result === 'ok');
  const rights = usable
    ? await bounded('database rights', () => onConnection(pool, LIMIT_MS, (client) => checkRights(client, server)))
    : skipped(['database rights'], 'the schema does not fit');
  return { findings: [databaseOf(server, pooling), ...schema, ...rights, clockOf(server)], usable };
}

interface Server {
  readonly version: string;
  readonly number: number;
  readonly readOnly: boolean;
  /** How many seconds its clock is ahead of this one. */
  readonly ahead: number;
}

async function readServer(client: pg.ClientBase, now: () => number): Promise<Server> {
  const before = now();
  const { rows } = await client.query<Omit<Server, 'ahead'> & { time: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
            current_setting('transaction_read_only')::boolean AS "readOnly",
            (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS time`,
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error('the database answered without a row');
  }
  // It was read at some moment between the two.
  return { ...row, ahead: (row.time - (before + now()) / 2) / 1_000 };
}

function databaseOf({ version, number }: Server, pooling: Pooling): Finding {
  if (pooling === 'transactions') {
    return wrong('database', `DATABASE_URL ${TRANSACTION_POOLING}`, USE_SESSIONS);
  }
  const behind = pooling === 'sessions' ? ', behind a connection pooler in session mode' : '';
  return number / 10_000 >= MIN_POSTGRESQL
    ? ok('database', `PostgreSQL ${version}${behind}`)
    : wrong('database', `PostgreSQL ${version} is too old`, `upgrade it to ${MIN_POSTGRESQL} or newer`);
}

function clockOf({ ahead }: Server): Finding {
  const seconds = Math.round(Math.abs(ahead));
  const message = `the database’s clock is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} this machine’s`;
  return seconds <= MAX_CLOCK_DIFFERENCE_S
    ? ok('clock', message)
    : wrong('clock', message, 'synchronize both with a time server (NTP)');
}

const SCHEMA_FINDINGS: Readonly<Record<Exclude<SchemaState, 'read-only' | 'usable'>, Finding>> = {
  behind: wrong(
    'database schema',
    `it is older than version ${SCHEMA_VERSION}, or there is none`,
    'run gatehouse migrate of this version',
  ),
  'too-new': wrong(
    'database schema',
    `it is newer than this version can use (${SCHEMA_VERSION})`,
    'run the newer version of Gatehouse',
  ),
};

async function checkSchema(pool: pg.Pool): Promise<readonly Finding[]> {
  const state = await onConnection(pool, LIMIT_MS, readSchemaState);
  if (state === 'behind' || state === 'too-new') {
    return [SCHEMA_FINDINGS[state]];
  }
  const jobs = makeJobQueue(pool, QUEUES, makeLog('silent'));
  try {
    const fault = await jobs.fault();
    return [
      fault === undefined
        ? ok('database schema', `version ${SCHEMA_VERSION}, with its job queues`)
        : wrong('database schema', fault, 'run gatehouse migrate of this version'),
    ];
  } finally {
    await jobs.stop();
  }
}

/** The record is only added to; what migrations write is only read. */
const LACKING = `
  SELECT format('%s on %I.%I', privilege, schema.nspname, relation.relname) AS lacking
    FROM pg_class AS relation JOIN pg_namespace AS schema ON schema.oid = relation.relnamespace,
         unnest(CASE WHEN relation.relname IN ('migrations', 'schema_compatibility', 'version') THEN '{SELECT}'::text[]
                     WHEN relation.relname LIKE 'audit\\_%' THEN '{SELECT,INSERT}'
                     ELSE '{SELECT,INSERT,UPDATE,DELETE}' END) AS privilege
   WHERE schema.nspname IN ('gatehouse', 'gatehouse_jobs') AND relation.relkind IN ('r', 'p')
     AND NOT has_table_privilege(relation.oid, privilege)
  UNION ALL
  SELECT 'CREATE on schema gatehouse' WHERE NOT has_schema_privilege('gatehouse', 'CREATE')
  UNION ALL
  SELECT 'membership in the role that owns ' || relation.oid::regclass FROM pg_class AS relation
   WHERE relation.oid = 'gatehouse.audit_verdicts'::regclass AND NOT pg_has_role(relation.relowner, 'USAGE')
   ORDER BY lacking`;

const MAX_SHOWN = 3;

async function checkRights(client: pg.ClientBase, { readOnly }: Server): Promise<readonly Finding[]> {
  if (readOnly) {
    const action = 'connect to the primary: DATABASE_URL leads to a standby, or default_transaction_read_only is on';
    return [wrong('database rights', 'the database is read-only', action)];
  }
  const { rows } = await client.query<{ lacking: string }>(LACKING);
  if (rows.length === 0) {
    return [ok('database rights', 'may read and write its tables')];
  }
  const shown = rows.slice(0, MAX_SHOWN).map(({ lacking }) => lacking);
  const more = rows.length > MAX_SHOWN ? [`${rows.length - MAX_SHOWN} more`] : [];
  const action = 'use the user that ran gatehouse migrate, or grant them';
  return [wrong('database rights', `the user lacks ${[...shown, ...more].join(', ')}`, action)];
}

export async function checkRedis(url: string): Promise<readonly Finding[]> {
  const probe = makeRedisProbe(url, LIMIT_MS);
  try {
    return await bounded('redis', async () => [await readRedis(probe, isSentinelUrl(url))], LIMIT_MS);
  } finally {
    probe.close();
  }
}

const CHECK_ADDRESS = 'check REDIS_URL, the network policy and whether Redis is up';

async function readRedis(probe: RedisProbe, bySentinel: boolean): Promise<Finding> {
  try {
    await once(probe.redis, 'ready');
  } catch (error) {
    return wrong('redis', reasonOf(error), CHECK_ADDRESS);
  }
  const { version, mode } = await probe.server();
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  if (version !== undefined && (major < MIN_REDIS[0] || (major === MIN_REDIS[0] && minor < MIN_REDIS[1]))) {
    return wrong('redis', `Redis ${version} is too old`, `upgrade it to ${MIN_REDIS.join('.')} or newer`);
  }
  const fault = await probe.check();
  if (fault !== undefined) {
    return wrong('redis', `it ${fault.reason}`, fault.action ?? CHECK_ADDRESS);
  }
  const met = bySentinel ? 'the primary, found by Sentinel' : mode;
  const commands = version === undefined ? [] : [`with the commands of Redis ${version}`];
  return ok('redis', ['answers', ...commands, ...(met === undefined ? [] : [met])].join(', '));
}
