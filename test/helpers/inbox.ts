import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { makeLackingCheck } from '../../src/db/lacking.ts';
import { makeInboxPool } from '../../src/db/pool.ts';
import type { ReceivedDelivery } from '../../src/inbox/delivery.ts';
import { makeInbox } from '../../src/inbox/inbox.ts';
import { makeStoringHealth } from '../../src/inbox/storing-health.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { makeMigratedDatabase, openPool } from './database.ts';
import { PATIENCE } from './patience.ts';
import { forgetDeliveries, share } from './share.ts';
import type { Test } from './test.ts';

/** One that no other is like, unless `change` says otherwise. */
export function delivery(change: Partial<ReceivedDelivery<string>> = {}): ReceivedDelivery<string> {
  const { repository = 'acme/widgets' } = change;
  return {
    hookId: '',
    deliveryId: randomUUID(),
    event: 'pull_request',
    repository,
    pullRequest: 7,
    resynced: repository === null ? [] : [repository],
    job: undefined,
    body: Buffer.from(`{"at":"${randomUUID()}"}`),
    ...change,
  };
}

type JobStatements<Job> = (jobs: readonly Job[]) => Promise<readonly pg.QueryConfig[]>;

/** An inbox without workers, whose log and metrics nobody reads. */
export function inboxOn<Job>(
  pool: pg.Pool,
  jobStatements: JobStatements<Job>,
  { wakeWorkers = () => {}, patience = PATIENCE } = {},
) {
  return makeInbox<Job>({
    pool,
    refuseLacking: makeLackingCheck(),
    jobStatements,
    wakeWorkers,
    storing: makeStoringHealth(() => {}),
    metrics: makeMetrics(),
    log: makeLog('silent'),
    patience,
  });
}

interface InboxOptions {
  readonly jobStatements?: JobStatements<string>;
  readonly prepare?: (pool: pg.Pool) => Promise<unknown>;
  /** Of the inbox alone: less in a test of its deadline, which the database's own limits then never forestall. */
  readonly patience?: number;
}

export async function openInbox({
  jobStatements = async () => [],
  prepare = async () => {},
  patience = PATIENCE,
}: InboxOptions = {}) {
  const database = await makeMigratedDatabase();
  const preparing = openPool(database.url);
  await prepare(preparing);
  await preparing.end();
  const pool = makeInboxPool(database.url, makeLog('silent'), PATIENCE);
  let wakeups = 0;
  const wakeWorkers = () => {
    wakeups += 1;
  };
  const inbox = inboxOn(pool, jobStatements, { wakeWorkers, patience });
  return {
    inbox,
    pool,
    databaseUrl: database.url,
    wakeups: () => wakeups,
    async [Symbol.asyncDispose]() {
      await inbox.idle();
      assertNoLeak(pool);
      await pool.end();
      await database.drop();
    },
  };
}

/** One inbox for the serial tests of a file. Each that asks gets it without deliveries. */
export function shareInbox(test: Test) {
  return share(
    test,
    () => openInbox(),
    ({ pool }) => forgetDeliveries(pool),
  );
}

function assertNoLeak(pool: pg.Pool): void {
  if (pool.totalCount !== pool.idleCount) {
    throw new Error(`${pool.totalCount - pool.idleCount} clients were not released`);
  }
}
