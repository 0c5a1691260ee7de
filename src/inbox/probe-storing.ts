import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { commitTransaction, onConnection } from '../db/transaction.ts';
import { withDays } from './days.ts';
import { BEGIN_GUARDED, insertDeliveries, WRITE_RECORD } from './deliveries.ts';

/** Incompressible, so that it needs the disk space of a usual delivery. */
const BODY_BYTES = 4 * 1024;

/**
 * Does what storing a delivery with a job does, takes both back, and commits a record that nobody reads. So it meets
 * what a delivery meets: locks, a full disk, missing rights, a standby that does not answer. Throws when it cannot.
 */
export function probeStoring(
  pool: pg.Pool,
  timeoutMs: number,
  jobStatements: () => Promise<readonly pg.QueryConfig[]>,
): Promise<void> {
  return withDays(pool, timeoutMs, () =>
    onConnection(pool, timeoutMs, async (client) => {
      const compressed = randomBytes(BODY_BYTES);
      const delivery = {
        hookId: '',
        deliveryId: `probe-${randomUUID()}`,
        event: 'probe',
        repository: null,
        pullRequest: null,
        resynced: [],
        sha256: createHash('sha256').update(compressed).digest('hex'),
      };
      const statements = await jobStatements();
      await client.query(BEGIN_GUARDED);
      await client.query('SAVEPOINT probe');
      await insertDeliveries(client, [delivery], { frames: [], bodies: [{ kind: 'own', compressed }] });
      for (const statement of statements) {
        await client.query(statement);
      }
      await client.query(`ROLLBACK TO SAVEPOINT probe; SELECT ${WRITE_RECORD}`);
      await commitTransaction(client);
    }),
  );
}
