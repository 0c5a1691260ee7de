import type pg from 'pg';

/** One delivery as it is kept. */
export interface StoredDelivery {
  readonly hookId: string;
  readonly deliveryId: string;
  readonly event: string;
  readonly repository: string | undefined;
  readonly pullRequest: number | undefined;
  /** SHA-256 of the body as received, 32 bytes. */
  readonly sha256: Buffer;
  /** The body, Zstandard-compressed. */
  readonly compressed: Buffer;
}

/** Two hooks of one repository may send one delivery id with two bodies; a forge's retry has the same of both. */
export function deliveryKey(delivery: Pick<StoredDelivery, 'hookId' | 'deliveryId'>): string {
  return JSON.stringify([delivery.hookId, delivery.deliveryId]);
}

const COLUMNS = 7;

/** A setting of our own, true as long as the transaction that sets it lasts. Never set it is an error, and afterwards ''. */
const IN_TRANSACTION = 'gatehouse.in_transaction';

/** Begins the transaction that {@link insertDeliveries} is told of. One message, of which all is done or nothing. */
export const BEGIN = `BEGIN; SET LOCAL ${IN_TRANSACTION} = true`;

/**
 * Stores those that are new, in one statement, and tells which they were: key → whether their body had
 * been stored before under another key. The caller has sorted them by key and removed repeats.
 *
 * With `begun` they are sent behind {@link BEGIN} without waiting for its answer. Should that have failed they are an error:
 * on their own they would be stored without what was to follow in the same transaction.
 *
 * Buffers go as single parameters, which node-postgres sends in binary; in an array they would be sent
 * as hexadecimal text, at twice the size.
 */
export async function insertDeliveries(
  client: pg.ClientBase,
  deliveries: readonly StoredDelivery[],
  { begun }: { readonly begun: boolean },
): Promise<ReadonlyMap<string, { readonly repeatedBody: boolean }>> {
  const rows = deliveries.map((_, row) => {
    const parameters = Array.from({ length: COLUMNS }, (_unused, column) => `$${row * COLUMNS + column + 1}`);
    return `(${parameters.join(', ')})`;
  });
  const { rows: stored } = await client.query<{ hook_id: string; delivery_id: string; repeated_body: boolean }>({
    // One that comes alone finds its statement planned. Of larger batches there are too many sizes to keep a plan of each.
    ...(deliveries.length === 1 && { name: begun ? 'one delivery of a transaction' : 'one delivery' }),
    text: `INSERT INTO gatehouse.deliveries AS new
                  (hook_id, delivery_id, event, repository, pull_request, body_sha256, body)
           VALUES ${rows.join(', ')}
           ON CONFLICT DO NOTHING
           RETURNING hook_id, delivery_id,
                     EXISTS (SELECT FROM gatehouse.deliveries old WHERE old.body_sha256 = new.body_sha256) AS repeated_body
                     ${begun ? `, current_setting('${IN_TRANSACTION}')::boolean` : ''}`,
    values: deliveries.flatMap((delivery) => [
      delivery.hookId,
      delivery.deliveryId,
      delivery.event,
      delivery.repository ?? null,
      delivery.pullRequest ?? null,
      delivery.sha256,
      delivery.compressed,
    ]),
  });
  return new Map(
    stored.map((row) => [
      deliveryKey({ hookId: row.hook_id, deliveryId: row.delivery_id }),
      { repeatedBody: row.repeated_body },
    ]),
  );
}
