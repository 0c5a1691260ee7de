import type pg from 'pg';
import type { DeliveryRecovery, FailedDelivery } from '../../forges/port/delivery-recovery.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Log } from '../../log.ts';
import { doneUntil, recordDone } from '../tables/progress.ts';

/** GitHub keeps deliveries for three days ("Redelivering webhooks"). */
const MEMORY_MS = 3 * 24 * 60 * 60_000;
/** A delivery appears in the list some time after it was made. */
const OVERLAP_MS = 10 * 60_000;
const MAX_ATTEMPTS = 3;
/** GitHub accepts about 80 writes a minute: thousands at once would hold up the next resync for hours. */
const MAX_REDELIVERIES = 300;

/** Requests a redelivery of what the forge could not deliver, the newest first. The forge's list is the only memory. */
export async function recoverDeliveries(deliveries: DeliveryRecovery, pool: pg.Pool, log: Log): Promise<void> {
  const start = Date.now();
  const last = await doneUntil(pool, 'recover-deliveries');
  const since = new Date(Math.max(start - MEMORY_MS, (last?.getTime() ?? 0) - OVERLAP_MS));
  try {
    const failed = await deliveries.failed(since);
    const refused = failed.filter(isRefused);
    if (refused.length > 0) {
      const statuses = [...new Set(refused.map(({ status }) => status))];
      log.error({ deliveries: refused.length, statuses }, 'deliveries were refused: the door’s log says why');
    }
    const waiting = failed.filter((delivery) => delivery.attempts < MAX_ATTEMPTS && !isRefused(delivery));
    for (const delivery of waiting.slice(0, MAX_REDELIVERIES)) {
      const isTaken = await deliveries.redeliver(delivery);
      log.info(
        { delivery },
        isTaken ? 'a failed delivery: redelivery requested' : 'a failed delivery is not sent again',
      );
    }
    // The next list reaches back to all attempts at those that wait, so that they can be counted.
    const firstSent = waiting.map(({ firstSentAt }) => Date.parse(firstSentAt));
    await recordDone(pool, 'recover-deliveries', new Date(Math.min(start, ...firstSent)));
  } catch (err) {
    if (!(err instanceof ForgeError)) {
      throw err;
    }
    log.warn({ reason: err.message }, 'failed deliveries could not be requested again: the next resync tries');
  }
}

/** The same would be refused again until somebody changes the webhook or a setting. */
function isRefused({ status }: FailedDelivery): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
