import { hash } from 'node:crypto';
import type pg from 'pg';
import { withTimeout } from '../common/timeout.ts';
import type { LackingCheck } from '../db/lacking.ts';
import { isDataFault } from '../db/sqlstate.ts';
import { commitTransaction, onConnection, TransactionTimeoutError } from '../db/transaction.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { withDays } from './days.ts';
import { BEGIN_GUARDED, insertDeliveries } from './deliveries.ts';
import { type Delivery, deliveryKey, type ReceivedDelivery } from './delivery.ts';
import { makeGroupCommit } from './group-commit.ts';
import { type PackedBodies, packBodies, prepareBody, type WaitingBody, weightOf } from './pack-bodies.ts';
import type { StoringHealth } from './storing-health.ts';

/** `accepted` and `duplicate` mean that the delivery is in the database, committed. */
export type Acceptance =
  | { readonly outcome: 'accepted'; readonly repeatedBody: boolean }
  | { readonly outcome: 'duplicate' }
  | { readonly outcome: 'refused'; readonly reason: 'deadline' | 'database' };

export interface Inbox<Job> {
  accept(delivery: ReceivedDelivery<Job>): Promise<Acceptance>;
  /** Resolves when everything that was handed in has been answered. */
  idle(): Promise<void>;
}

export interface InboxDependencies<Job> {
  /** Its connections send statements without waiting: see `makeInboxPool`. */
  readonly pool: pg.Pool;
  /** Also of what only a worker needs: nothing is acknowledged that no worker can act on. */
  readonly refuseLacking: LackingCheck;
  /** What adds the jobs, and whatever belongs to them, in the deliveries' own transaction. */
  readonly jobStatements: (jobs: readonly Job[]) => Promise<readonly pg.QueryConfig[]>;
  /** Notifies the workers, after the commit, that there are jobs. Must not throw or wait. */
  readonly wakeWorkers: (jobs: readonly Job[]) => void;
  /** Called with the outcome of each delivery. */
  readonly storing: Pick<StoringHealth, 'stored' | 'failed'>;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Multiplies {@link ACCEPT_DEADLINE_MS}. */
  readonly patience?: number;
}

/** From being handed in to the answer; Gitea and Forgejo give up after 5 s. */
const ACCEPT_DEADLINE_MS = 4_000;
const MAX_BATCH_DELIVERIES = 128;
const MAX_BATCH_BYTES = 4 * 1024 * 1024;

/** What waits for its batch. */
interface Submission<Job> extends Delivery, Omit<ReceivedDelivery<Job>, 'body'> {
  readonly body: WaitingBody;
}

type Stored = Exclude<Acceptance, { outcome: 'refused' }>;

export function makeInbox<Job>({
  pool,
  refuseLacking,
  jobStatements,
  wakeWorkers,
  storing,
  metrics,
  log,
  patience = 1,
}: InboxDependencies<Job>): Inbox<Job> {
  const deadlineMs = ACCEPT_DEADLINE_MS * patience;
  const answering = new Set<Promise<Acceptance>>();

  /** Deliveries and jobs in one transaction. */
  function write(unique: readonly Submission<Job>[], packed: PackedBodies) {
    return onConnection(pool, deadlineMs, async (client) => {
      await refuseLacking(client);
      // Two round trips, or one where no job can follow, and not one for every statement: while many deliveries arrive,
      // each answer waits for its turn behind them.
      const begun = client.query(BEGIN_GUARDED);
      const inserted = insertDeliveries(client, unique, packed);
      if (unique.every(({ job }) => job === undefined)) {
        const [, stored] = await Promise.all([begun, inserted, commitTransaction(client)]);
        return { stored, jobs: [] };
      }
      const [, stored] = await Promise.all([begun, inserted]);
      const jobs = unique.flatMap((submission) =>
        submission.job !== undefined && stored.has(deliveryKey(submission)) ? [submission.job] : [],
      );
      const statements = jobs.length > 0 ? await jobStatements(jobs) : [];
      await Promise.all([...statements.map((statement) => client.query(statement)), commitTransaction(client)]);
      return { stored, jobs };
    });
  }

  /** Repeats within the batch are answered as duplicates. */
  async function store(submissions: readonly Submission<Job>[]): Promise<Stored[]> {
    const firstByKey = new Map<string, Submission<Job>>();
    for (const submission of submissions) {
      const key = deliveryKey(submission);
      if (!firstByKey.has(key)) {
        firstByKey.set(key, submission);
      }
    }
    // In one order everywhere: two transactions that insert the same keys crosswise would deadlock.
    const unique = [...firstByKey].sort(byKey).map(([, submission]) => submission);
    const packed = await packBodies(unique.map(({ body }) => body));

    const stopTimer = metrics.commitSeconds.startTimer();
    const { stored, jobs } = await withDays(pool, deadlineMs, () => write(unique, packed));
    stopTimer();
    if (jobs.length > 0) {
      wakeWorkers(jobs);
    }

    return submissions.map((submission) => {
      const key = deliveryKey(submission);
      const row = firstByKey.get(key) === submission ? stored.get(key) : undefined;
      return row === undefined ? { outcome: 'duplicate' } : { outcome: 'accepted', repeatedBody: row.repeatedBody };
    });
  }

  /**
   * Tries a batch again once, since a commit may have failed for a connection that was lost meanwhile;
   * what did get committed is then found to be a duplicate. A row that the database rejects is isolated
   * by storing each on its own, so that it cannot fail the others.
   */
  async function commit(submissions: readonly Submission<Job>[]): Promise<PromiseSettledResult<Stored>[]> {
    try {
      return fulfilled(await store(submissions));
    } catch (err) {
      if (err instanceof TransactionTimeoutError) {
        throw err;
      }
      log.warn({ err, deliveries: submissions.length }, 'a batch of deliveries could not be stored, trying again');
      if (!isDataFault(err)) {
        const stored = await store(submissions);
        // What the first attempt committed has not been announced yet. An extra wake-up does no harm.
        const jobs = submissions.flatMap(({ job }) => (job === undefined ? [] : [job]));
        if (jobs.length > 0) {
          wakeWorkers(jobs);
        }
        return fulfilled(stored);
      }
    }
    return storeOneByOne(submissions);
  }

  async function storeOneByOne(submissions: readonly Submission<Job>[]): Promise<PromiseSettledResult<Stored>[]> {
    const results: PromiseSettledResult<Stored>[] = [];
    for (const submission of submissions) {
      const [result] = await Promise.allSettled([storeOne(submission)]);
      // A database that hangs now would hang for each of them.
      if (result.status === 'rejected' && result.reason instanceof TransactionTimeoutError) {
        throw result.reason;
      }
      results.push(result);
    }
    return results;
  }

  async function storeOne(submission: Submission<Job>): Promise<Stored> {
    const [stored] = await store([submission]);
    if (stored === undefined) {
      throw new Error('a delivery was stored without a result');
    }
    return stored;
  }

  const queue = makeGroupCommit<Submission<Job>, Stored>(
    { maxItems: MAX_BATCH_DELIVERIES, maxWeight: MAX_BATCH_BYTES, weigh: ({ body }) => weightOf(body) },
    commit,
  );

  return {
    async accept(delivery) {
      const handedInAt = performance.now();
      let isItsFault = false;
      const answer = beforeDeadline(deadlineMs, (signal) =>
        submit(delivery, signal, () => {
          isItsFault = true;
        }),
      );
      answering.add(answer);
      try {
        const acceptance = await answer;
        if (acceptance.outcome !== 'refused') {
          storing.stored();
        } else if (!isItsFault) {
          storing.failed(handedInAt);
        }
        return acceptance;
      } finally {
        answering.delete(answer);
      }
    },

    async idle() {
      while (answering.size > 0) {
        await Promise.allSettled(answering);
      }
      await queue.idle();
    },
  };

  async function submit(
    { body, ...delivery }: ReceivedDelivery<Job>,
    signal: AbortSignal,
    onRejectedRow: () => void,
  ): Promise<Acceptance> {
    try {
      const submission = {
        ...delivery,
        sha256: hash('sha256', body),
        body: await prepareBody(body),
      };
      return await queue.add(submission, signal);
    } catch (err) {
      if (isDataFault(err)) {
        onRejectedRow();
      }
      if (!signal.aborted) {
        log.error({ err, delivery: delivery.deliveryId }, 'a delivery could not be stored');
      }
      return { outcome: 'refused', reason: signal.aborted ? 'deadline' : 'database' };
    }
  }
}

/** Answers in time whatever happens. What was already on its way to the database may still be stored. */
async function beforeDeadline(
  deadlineMs: number,
  work: (signal: AbortSignal) => Promise<Acceptance>,
): Promise<Acceptance> {
  const deadline = new AbortController();
  return withTimeout(deadlineMs, work(deadline.signal), () => {
    deadline.abort(new Error('the delivery waited too long'));
    return { outcome: 'refused', reason: 'deadline' };
  });
}

function fulfilled<T>(values: readonly T[]): PromiseSettledResult<T>[] {
  return values.map((value) => ({ status: 'fulfilled', value }));
}

function byKey([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : Number(left > right);
}
