import type pg from 'pg';
import { COLUMNS, type Delivery, deliveryKey, type ReceivedDelivery } from './delivery.ts';
import type { PackedBodies, StoredBody } from './pack-bodies.ts';

interface NewDelivery extends Delivery, Pick<ReceivedDelivery<never>, 'resynced'> {}

/** In one order, for the names and for the values. */
const KEYS = Object.keys(COLUMNS) as (keyof Delivery)[];

/**
 * A setting of our own. In the transaction that sets it it reads true; elsewhere it is an error, or '', which is no
 * boolean.
 */
const IN_TRANSACTION = 'gatehouse.in_transaction';

/**
 * What was found to be stored already may be visible on the primary alone: its own transaction, waiting for a
 * synchronous standby, was ended. A transaction that writes nothing waits for nobody, so this one writes a record,
 * which needs no right and has no reader.
 */
export const WRITE_RECORD = "pg_logical_emit_message(true, 'gatehouse', '')";

/** Begins a transaction outside of which {@link insertDeliveries} fails. */
export const BEGIN_GUARDED = `BEGIN; SET LOCAL ${IN_TRANSACTION} = true`;

/**
 * Stores those that are new, in one statement, and tells which they were: key → whether their body had
 * been stored before under another key. The caller has sorted them by key and removed repeats.
 *
 * It stores nothing outside of a transaction that {@link BEGIN_GUARDED} began: so it can be sent behind that without
 * waiting for the answer. Should the BEGIN fail, the deliveries would else be stored without what was to follow.
 */
export async function insertDeliveries(
  client: pg.ClientBase,
  deliveries: readonly NewDelivery[],
  { frames, bodies }: PackedBodies,
): Promise<ReadonlyMap<string, { readonly repeatedBody: boolean }>> {
  const values: unknown[] = [];
  /**
   * Buffers go as single parameters, which node-postgres sends in binary; in an array they would be sent as hexadecimal
   * text, at twice the size.
   */
  const parameter = (value: unknown) => `$${values.push(value ?? null)}`;
  const frameIds = new Map(frames.map(({ id }) => [id, parameter(id)]));
  /** `body`, `frame_id`, `frame_offset` and `frame_length`. */
  const bodyColumns = (body: StoredBody | undefined) =>
    body?.kind === 'framed'
      ? ['NULL', frameIds.get(body.frameId), parameter(body.offset), parameter(body.length)]
      : [parameter(body?.compressed), 'NULL', 'NULL', 'NULL'];
  const rows = deliveries.map((delivery, index) => {
    const columns = KEYS.map((key) =>
      parameter(key === 'sha256' ? Buffer.from(delivery.sha256, 'hex') : delivery[key]),
    );
    return `(${[...columns, ...bodyColumns(bodies[index])].join(', ')})`;
  });
  const frameRows = frames.map(({ id, compressed }) => `(${frameIds.get(id)}::uuid, ${parameter(compressed)}::bytea)`);
  const hooks = hooksOf(deliveries);
  const hookColumns = [hooks.map(({ repository }) => repository), hooks.map(({ hookId }) => hookId)].map(parameter);
  const { rows: stored } = await client.query<{ hook_id: string | null; delivery_id: string; repeated_body: boolean }>({
    // One that comes alone finds its statement planned. Of larger batches there are too many sizes to keep a plan of
    // each.
    ...(deliveries.length === 1 && { name: 'one delivery' }),
    text: `WITH seen AS (
             INSERT INTO gatehouse.hooks
             SELECT * FROM unnest(${hookColumns[0]}::text[], ${hookColumns[1]}::text[]) AS hook (repository, hook_id)
              WHERE NOT EXISTS (SELECT FROM gatehouse.hooks known
                                 WHERE known.repository = hook.repository AND known.hook_id = hook.hook_id)
             ON CONFLICT DO NOTHING),
           stored AS (
             INSERT INTO gatehouse.deliveries AS new
                    (${KEYS.map((key) => COLUMNS[key]).join(', ')},
                     body, frame_id, frame_offset, frame_length)
             VALUES ${rows.join(', ')}
             ON CONFLICT DO NOTHING
             RETURNING hook_id, delivery_id, frame_id,
                       EXISTS (SELECT FROM gatehouse.deliveries old WHERE old.body_sha256 = new.body_sha256) AS repeated_body,
                       current_setting('${IN_TRANSACTION}')::boolean),
           ${frameRows.length === 0 ? '' : insertFrames(frameRows)}
           waiting AS (
             SELECT CASE WHEN (SELECT count(*) FROM stored) < ${deliveries.length} THEN ${WRITE_RECORD} END)
           SELECT stored.* FROM waiting LEFT JOIN stored ON true`,
    values,
  });
  return new Map(
    // Where nothing was stored there is one row without a delivery.
    stored.flatMap(({ hook_id: hookId, delivery_id: deliveryId, repeated_body: repeatedBody }) =>
      hookId === null ? [] : [[deliveryKey({ hookId, deliveryId }), { repeatedBody }]],
    ),
  );
}

/** Not those whose deliveries were all repeats: nothing would refer to them. */
function insertFrames(rows: readonly string[]): string {
  return `stored_frames AS (
             INSERT INTO gatehouse.frames (id, bytes)
             SELECT * FROM (VALUES ${rows.join(', ')}) AS packed (id, bytes)
              WHERE EXISTS (SELECT FROM stored WHERE frame_id = packed.id)),`;
}

/** Each once, in one order everywhere: two transactions that insert the same hooks crosswise would deadlock. */
function hooksOf(deliveries: readonly NewDelivery[]): readonly { repository: string; hookId: string }[] {
  const hooks = new Map<string, { repository: string; hookId: string }>();
  for (const { repository, hookId, resynced } of deliveries) {
    if (repository !== null && resynced) {
      hooks.set(JSON.stringify([repository, hookId]), { repository, hookId });
    }
  }
  return [...hooks].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, hook]) => hook);
}
