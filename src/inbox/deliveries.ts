import type pg from 'pg';
import { COLUMNS, type Delivery, deliveryKey, type ReceivedDelivery } from './delivery.ts';
import type { PackedBodies, StoredBody } from './pack-bodies.ts';

interface NewDelivery extends Delivery, Pick<ReceivedDelivery<never>, 'resynced'> {}

/** What `delivery_keys` has of a delivery. In one order, for the names and for the values. */
const KEY = ['hookId', 'deliveryId', 'sha256'] as const satisfies readonly (keyof Delivery)[];
const KEYS = Object.keys(COLUMNS) as (keyof Delivery)[];

/** Columns of the table `deliveries` whose type is not text. */
const TYPES: Readonly<Record<string, string>> = {
  [COLUMNS.pullRequest]: 'integer',
  [COLUMNS.sha256]: 'bytea',
  body: 'bytea',
  frame_id: 'uuid',
  frame_offset: 'integer',
  frame_length: 'integer',
};
const DELIVERY_COLUMNS = [...namesOf(KEYS), 'body', 'frame_id', 'frame_offset', 'frame_length'];

/** Before the others, whose parameters have the types that it has. It equals no key. */
const ROW_OF_TYPES = `(${DELIVERY_COLUMNS.map((name) => `NULL::${TYPES[name] ?? 'text'}`).join(', ')})`;

function namesOf(keys: readonly (keyof Delivery)[]): readonly string[] {
  return keys.map((key) => COLUMNS[key]);
}

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
  const rows = deliveries.map((delivery, index) => rowsOf(delivery, bodies[index], frameIds, parameter));
  const frameRows = frames.map(({ id, compressed }) => `(${frameIds.get(id)}::uuid, ${parameter(compressed)}::bytea)`);
  const repositories = parameter(repositoriesOf(deliveries));
  const { rows: stored } = await client.query<{ hook_id: string | null; delivery_id: string; repeated_body: boolean }>({
    // One that comes alone finds its statement planned. Of larger batches there are too many sizes to keep a plan of
    // each.
    ...(deliveries.length === 1 && { name: 'one delivery' }),
    text: `WITH seen AS (
             INSERT INTO gatehouse.repositories (name)
             SELECT name FROM unnest(${repositories}::text[]) AS named (name)
              WHERE NOT EXISTS (SELECT FROM gatehouse.repositories known WHERE known.name = named.name)
              ORDER BY name COLLATE "C"
             ON CONFLICT DO NOTHING),
           new AS (
             INSERT INTO gatehouse.delivery_keys AS key (${namesOf(KEY).join(', ')})
             VALUES ${rows.map(({ key }) => key).join(', ')}
             ON CONFLICT DO NOTHING
             RETURNING hook_id, delivery_id,
                       EXISTS (SELECT FROM gatehouse.delivery_keys old WHERE old.body_sha256 = key.body_sha256) AS repeated_body,
                       current_setting('${IN_TRANSACTION}')::boolean),
           stored AS (
             INSERT INTO gatehouse.deliveries (${DELIVERY_COLUMNS.join(', ')})
             SELECT * FROM (VALUES ${ROW_OF_TYPES}, ${rows.map(({ delivery }) => delivery).join(', ')}) AS given (${DELIVERY_COLUMNS.join(', ')})
              WHERE (hook_id, delivery_id) IN (SELECT hook_id, delivery_id FROM new)
             RETURNING frame_id),
           ${frameRows.length === 0 ? '' : insertFrames(frameRows)}
           waiting AS (
             SELECT CASE WHEN (SELECT count(*) FROM new) < ${deliveries.length} THEN ${WRITE_RECORD} END)
           SELECT new.* FROM waiting LEFT JOIN new ON true`,
    values,
  });
  return new Map(
    // Where nothing was stored there is one row without a delivery.
    stored.flatMap(({ hook_id: hookId, delivery_id: deliveryId, repeated_body: repeatedBody }) =>
      hookId === null ? [] : [[deliveryKey({ hookId, deliveryId }), { repeatedBody }]],
    ),
  );
}

/** The rows of one delivery, for both tables. */
function rowsOf(
  delivery: NewDelivery,
  body: StoredBody | undefined,
  frameIds: ReadonlyMap<string, string>,
  parameter: (value: unknown) => string,
): { readonly key: string; readonly delivery: string } {
  const places = KEYS.map((key) => parameter(key === 'sha256' ? Buffer.from(delivery.sha256, 'hex') : delivery[key]));
  const bodyPlaces =
    body?.kind === 'framed'
      ? ['NULL', frameIds.get(body.frameId), parameter(body.offset), parameter(body.length)]
      : [parameter(body?.compressed), 'NULL', 'NULL', 'NULL'];
  return {
    key: `(${KEY.map((key) => places[KEYS.indexOf(key)]).join(', ')})`,
    delivery: `(${[...places, ...bodyPlaces].join(', ')})`,
  };
}

/** Not those whose deliveries were all repeats: nothing would refer to them. */
function insertFrames(rows: readonly string[]): string {
  return `stored_frames AS (
             INSERT INTO gatehouse.frames (id, bytes)
             SELECT * FROM (VALUES ${rows.join(', ')}) AS packed (id, bytes)
              WHERE EXISTS (SELECT FROM stored WHERE frame_id = packed.id)),`;
}

/** Each once, in one order everywhere: two transactions that insert the same ones crosswise would deadlock. */
function repositoriesOf(deliveries: readonly NewDelivery[]): readonly string[] {
  return [...new Set(deliveries.flatMap(({ resynced }) => resynced))].sort();
}
