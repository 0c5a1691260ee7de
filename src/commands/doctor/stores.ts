import { once } from 'node:events';
import { RECORD } from '../../audit/partitions.ts';
import { shorten } from '../../common/shorten.ts';
import { findLacking } from '../../db/lacking.ts';
import { detectPooling } from '../../db/pooler.ts';
import { TRANSACTION_POOLING, USE_SESSIONS } from '../../db/pooler-error.ts';
import { makeRedisProbe } from '../../db/redis-probe.ts';
import { lackingRights } from '../../db/rights.ts';
import { readSchemaState, SCHEMA_VERSION } from '../../db/schema.ts';
import { onConnection } from '../../db/transaction.ts';
import { DAYS } from '../../inbox/days.ts';
import { makeJobQueue } from '../../jobs/queue/engine.ts';
import { QUEUES } from '../../jobs/queues.ts';
import { makeLog } from '../../log.ts';
import { reasonOf } from '../failures.ts';
import { type Check, type Context, needed, ok, type Result, Skip, wrong } from './check.ts';

/** As long as a delivery waits for the database. */
const LIMIT_MS = 4_000;
/** There is an answer to wait for on each right. */
const RIGHTS_LIMIT_MS = 14_000;
/** The oldest version that docs/operations.md names. */
const MIN_POSTGRESQL = 14;
const MAX_SHOWN_CHARACTERS = 200;

export const STORE_CHECKS: readonly Check[] = [
  { title: 'database', run: checkDatabase },
  { title: 'database schema', run: checkSchema },
  { title: 'database rights', run: checkRights },
  { title: 'redis', run: checkRedis },
];

async function checkDatabase(context: Context): Promise<Result> {
  const pool = needed(context.pool, 'no DATABASE_URL');
  try {
    const { rows } = await onConnection(pool, LIMIT_MS, (client) =>
      client.query<{ version: string; number: number; readOnly: boolean }>(
        `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
                current_setting('transaction_read_only')::boolean AS "readOnly"`,
      ),
    );
    const { version, number, readOnly } = needed(rows[0], 'no answer');
    const pooling = await detectPooling(needed(context.databaseUrl, 'no DATABASE_URL'));
    context.readOnly = readOnly;
    if (pooling === 'transactions') {
      return wrong(`DATABASE_URL ${TRANSACTION_POOLING}`, USE_SESSIONS);
    }
    const behind = pooling === 'sessions' ? ', behind a connection pooler in session mode' : '';
    return number / 10_000 >= MIN_POSTGRESQL
      ? ok(`PostgreSQL ${version}${behind}`)
      : wrong(`PostgreSQL ${version} is too old`, `upgrade it to ${MIN_POSTGRESQL} or newer`);
  } catch (error) {
    return wrong(reasonOf(error), 'check DATABASE_URL, the network policy and whether the database is up');
  }
}

async function checkRights({ pool, readOnly }: Context): Promise<Result> {
  const database = needed(pool, 'no DATABASE_URL');
  if (needed(readOnly, 'no database')) {
    const action = 'connect to the primary: DATABASE_URL leads to a standby, or default_transaction_read_only is on';
    return wrong('the database is read-only', action);
  }
  const tried = onConnection(database, RIGHTS_LIMIT_MS, (client) => lackingRights(client, [DAYS, RECORD]));
  const lacking = await tried.catch((error: unknown) => {
    // Such as a lock, or a table of another version.
    throw new Skip(`cannot try them: ${reasonOf(error)}`);
  });
  const shown = shorten(lacking.join(', '), MAX_SHOWN_CHARACTERS);
  return lacking.length === 0
    ? ok('the user has all that the service needs')
    : wrong(`the user lacks ${shown}`, 'grant it, or use the user that ran gatehouse migrate');
}

async function checkSchema({ pool, readOnly }: Context): Promise<Result> {
  const database = needed(pool, 'no DATABASE_URL');
  needed(readOnly, 'no database');
  const migrate = 'run this version’s gatehouse migrate';
  const state = await onConnection(database, LIMIT_MS, readSchemaState);
  if (state === 'behind') {
    return wrong(`it is older than version ${SCHEMA_VERSION}, or missing`, migrate);
  }
  if (state === 'too-new') {
    return wrong(`it is newer than this version can use (${SCHEMA_VERSION})`, 'run the newer version of Gatehouse');
  }
  const lacking = await onConnection(database, LIMIT_MS, findLacking);
  if (lacking !== undefined) {
    return wrong(lacking, 'run the build that made it, or restore a whole backup');
  }
  const jobs = makeJobQueue(database, QUEUES, makeLog('silent'));
  try {
    const fault = await jobs.fault();
    return fault === undefined ? ok(`version ${SCHEMA_VERSION}, with its job queues`) : wrong(fault, migrate);
  } finally {
    await jobs.stop();
  }
}

async function checkRedis({ redisUrl }: Context): Promise<Result> {
  const checkAddress = 'check REDIS_URL, the network policy and whether Redis is up';
  const probe = makeRedisProbe(needed(redisUrl, 'no REDIS_URL'), LIMIT_MS);
  try {
    await once(probe.redis, 'ready');
    const fault = await probe.check();
    return fault === undefined
      ? ok('answers, and accepts writes')
      : wrong(`it ${fault.reason}`, fault.action ?? checkAddress);
  } catch (error) {
    return wrong(reasonOf(error), checkAddress);
  } finally {
    probe.close();
  }
}
