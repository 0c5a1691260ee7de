import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** How many deliveries a worker processes at once: Gatehouse's own default. */
export const CONCURRENCY = 4;

const WORK_MS = Number(process.env['WORK_MS']);
const PROCESSED_FILE = process.env['PROCESSED_FILE'] ?? '';

/** Stands in for requests to a forge. The line that it leaves survives the death of the process. */
export async function work(deliveryId: string): Promise<void> {
  await sleep(WORK_MS);
  appendFileSync(PROCESSED_FILE, `${deliveryId}\n`);
}
