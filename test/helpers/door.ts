import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { startService } from '../../src/composition/service.ts';
import { type Config, parseConfig, type Roles } from '../../src/config/config.ts';
import { type Log, makeLog } from '../../src/log.ts';
import { makeReviewWorkers } from '../../src/review/workers/review-workers.ts';
import { makeMigratedDatabase, openPool, sharedRedisUrl } from './database.ts';
import { PATIENCE } from './patience.ts';
import { watchJobs } from './settling.ts';
import { forgetDeliveries, share } from './share.ts';
import { signatureOf } from './signature.ts';
import { readStoredBodies } from './stored-bodies.ts';
import type { Test } from './test.ts';

export const SECRET = 'a secret for tests, long enough';
export const PREVIOUS_SECRET = 'the secret before the rotation';

export const DOOR: Roles = { door: true, worker: false };
export const WORKER: Roles = { door: false, worker: true };

/** A worker's threads take a quarter of a second of processor time to start: all workers of a test process share them. */
const workersOfTheProcess = makeReviewWorkers();

type RequestHeaders = Readonly<Record<string, string | undefined>>;

export interface StoredRow {
  readonly hookId: string;
  readonly deliveryId: string;
  readonly event: string;
  readonly repository: string | null;
  readonly pullRequest: number | null;
  readonly body: Buffer;
}

export type Environment = Readonly<Record<string, string>>;

/** What the door's configuration is in tests, on free ports and silent. */
function testConfig(env: Environment, roles: Roles): Config {
  const environment = {
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    WEBHOOK_SECRET: SECRET,
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'silent',
    ...env,
  };
  const parsed = parseConfig(environment, roles);
  if (!parsed.ok) {
    throw new Error(parsed.faults.join('\n'));
  }
  return parsed.config;
}

export interface DoorOptions {
  readonly log?: Log;
  /** Workers of its own, with so much processor time for a task: its metrics and its log tell of those that take longer. */
  readonly maxTaskMs?: number;
  /** 1 in a test that is about a limit on the stores or the forge. */
  readonly patience?: number;
}

export type Door = Awaited<ReturnType<typeof openDoor>>;

export async function openDoor(
  env: Environment = {},
  roles: Roles = DOOR,
  { log, maxTaskMs, patience = PATIENCE }: DoorOptions = {},
) {
  const fresh = env['DATABASE_URL'] === undefined ? await makeMigratedDatabase() : undefined;
  const databaseUrl = fresh?.url ?? env['DATABASE_URL'] ?? '';
  const redisUrl = env['REDIS_URL'] ?? (await sharedRedisUrl());
  const config = testConfig({ DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, ...env }, roles);
  const service = await startService(config, log ?? makeLog(config.logLevel), {
    workers: maxTaskMs === undefined ? workersOfTheProcess : undefined,
    maxTaskMs,
    patience,
    // All that was sent has been answered when a test ends.
    lingerMs: 0,
  });
  const database = openPool(databaseUrl);
  const settling = watchJobs(database, databaseUrl);
  const url = `http://127.0.0.1:${service.port}`;

  return {
    service,
    url,
    metricsUrl: `http://127.0.0.1:${service.metricsPort}/metrics`,
    database,
    databaseUrl,
    redisUrl,
    settling,
    /** Posts a body, signed unless `headers` says otherwise. An undefined header is left out. */
    post: (body: Uint8Array | string, headers?: RequestHeaders): Promise<Response> =>
      postWebhook(`${url}/webhook`, body, headers),
    deliveries: (): Promise<readonly StoredRow[]> => storedDeliveries(database),
    async jobs(): Promise<readonly { readonly key: string; readonly state: string }[]> {
      const { rows } = await database.query<{ key: string; state: string }>(
        'SELECT singleton_key AS key, state::text FROM gatehouse_jobs.job ORDER BY created_on, singleton_key',
      );
      return rows;
    },
    async [Symbol.asyncDispose]() {
      await service.drain();
      await settling.close();
      await database.end();
      await fresh?.drop();
    },
  };
}

/** One door for the serial tests of a file. Each that asks gets it without deliveries and jobs. */
export function shareDoor(test: Test, env: Environment = {}): () => Promise<Door> {
  return share(
    test,
    () => openDoor(env),
    ({ database }) => forgetDeliveries(database),
  );
}

export async function storedDeliveries(database: pg.Pool): Promise<readonly StoredRow[]> {
  const { rows } = await database.query<Omit<StoredRow, 'body'>>(
    `SELECT hook_id AS "hookId", delivery_id AS "deliveryId", event, repository, pull_request AS "pullRequest"
       FROM gatehouse.deliveries ORDER BY received_at, delivery_id`,
  );
  const key = ({ hookId, deliveryId }: Pick<StoredRow, 'hookId' | 'deliveryId'>) =>
    JSON.stringify([hookId, deliveryId]);
  const bodies = new Map((await readStoredBodies(database)).map((stored) => [key(stored), stored.body]));
  return rows.map((row) => ({ ...row, body: bodies.get(key(row)) ?? Buffer.alloc(0) }));
}

export function sign(body: Uint8Array | string, secret = SECRET): string {
  return signatureOf(body, secret);
}

async function postWebhook(url: string, body: Uint8Array | string, headers: RequestHeaders = {}): Promise<Response> {
  const all: RequestHeaders = {
    'content-type': 'application/json',
    'x-forge-event': 'pull_request',
    'x-forge-delivery': randomUUID(),
    'x-hub-signature-256': sign(body),
    ...headers,
  };
  const present = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return fetch(url, {
    method: 'POST',
    headers: present.map(([name, value]) => [name, value]),
    body: typeof body === 'string' ? body : new Uint8Array(body),
    signal: AbortSignal.timeout(30_000),
  });
}
