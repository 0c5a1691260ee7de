import type pg from 'pg';
import { type PackedBodies, packBodies } from '../src/inbox/pack-bodies.ts';
import { onDatabase } from './databases.ts';
import { say } from './plan.ts';

/** Days before today that are filled, evenly. What the door stores while it is measured is of today. */
export const FILLED_DAYS = 29;
/** As many keys as deliveries, of so many days: retention, which each worker begins with, deletes none of them. */
const KEY_DAYS = 7;
const REPOSITORIES = 10_000;
const HOOKS = 3;
/** Of every hundred, as they would be if most events were about pull requests. */
const PULL_REQUEST_SHARE = 70;
/** Deliveries that were stored together, as at some hundred a second. */
const PER_FRAME = 8;

/**
 * Fills the days before today with so many deliveries in all: small bodies, random ids, and spread over time,
 * repositories and events. What was there of those days goes.
 */
export function fillTo(databaseUrl: string, size: number): Promise<void> {
  return onDatabase(databaseUrl, async (client) => {
    // Half of a memory that PostgreSQL's own defaults leave unused, so that building indexes takes minutes and not hours.
    await client.query(
      "SET synchronous_commit = off; SET maintenance_work_mem = '512MB'; SET max_parallel_workers = 0",
    );
    const perDay = Math.ceil(size / FILLED_DAYS / PER_FRAME) * PER_FRAME;
    const frame = await makeFrame();
    for (let ago = FILLED_DAYS; ago >= 1; ago--) {
      await fillDay(client, { ago, first: (FILLED_DAYS - ago) * perDay, count: perDay }, frame);
      if (ago % 5 === 1) {
        say(
          `${((FILLED_DAYS - ago + 1) * perDay).toLocaleString('en')} of ${size.toLocaleString('en')} deliveries stored`,
        );
      }
    }
    await fillKeys(client, Math.ceil(size / KEY_DAYS / PER_FRAME) * PER_FRAME);
    // As autovacuum would, later and in the middle of a measurement.
    await client.query('VACUUM (ANALYZE) gatehouse.deliveries, gatehouse.frames, gatehouse.delivery_keys');
    await client.query('CHECKPOINT');
  });
}

interface Day {
  /** Days before today. */
  readonly ago: number;
  /** The numbers of its deliveries. */
  readonly first: number;
  readonly count: number;
}

/** When delivery `i` came, if day `ago` begins with delivery `first`: all of one frame at once. */
const at = (ago: string, first: string, count: string) =>
  `date_trunc('day', now(), 'UTC') - make_interval(days => ${ago})
     + interval '1 day' * ((i - ${first}) / ${PER_FRAME} * ${PER_FRAME})::float8 / ${count}`;

/** Stored first and indexed then, which takes a fraction of the time. */
async function fillDay(client: pg.Client, { ago, first, count }: Day, { frames, bodies }: PackedBodies): Promise<void> {
  const { rows } = await client.query<{ suffix: string; from: string; to: string }>(
    `SELECT to_char(day, 'YYYY_MM_DD') AS suffix, day::text AS from, (day + 1)::text AS to
       FROM CAST((now() AT TIME ZONE 'UTC')::date - $1::int AS date) AS day`,
    [ago],
  );
  const { suffix = '', from = '', to = '' } = rows[0] ?? {};
  for (const table of ['deliveries', 'frames']) {
    await client.query(`
      DROP TABLE IF EXISTS gatehouse.${table}_${suffix};
      CREATE TABLE gatehouse.${table}_${suffix} (LIKE gatehouse.${table} INCLUDING ALL EXCLUDING INDEXES)`);
  }
  const places = bodies.flatMap((body) => (body.kind === 'framed' ? [body] : []));
  const series = `generate_series($1::int, $1::int + $2::int - 1`;
  await client.query(
    `INSERT INTO gatehouse.deliveries_${suffix}
            (hook_id, delivery_id, received_at, event, repository, pull_request, body_sha256,
             frame_id, frame_offset, frame_length)
     SELECT (i % ${HOOKS})::text, md5('delivery ' || i)::uuid::text, ${at('$3', '$1', '$2')},
            CASE WHEN i % 100 < ${PULL_REQUEST_SHARE} THEN 'pull_request' ELSE 'push' END,
            'acme/repository-' || r,
            CASE WHEN i % 100 < ${PULL_REQUEST_SHARE} THEN 1 + i / ${REPOSITORIES} END,
            sha256(i::text::bytea), md5((i / ${PER_FRAME})::text)::uuid,
            ($4::int[])[1 + i % ${PER_FRAME}], ($5::int[])[1 + i % ${PER_FRAME}]
       FROM ${series}) AS i, LATERAL (SELECT (hashint4(i) & 2147483647) % ${REPOSITORIES} AS r) AS of`,
    [first, count, ago, places.map(({ offset }) => offset), places.map(({ length }) => length)],
  );
  await client.query(
    `INSERT INTO gatehouse.frames_${suffix} (id, received_at, bytes)
     SELECT md5((i / ${PER_FRAME})::text)::uuid, ${at('$3', '$1', '$2')}, $4 FROM ${series}, ${PER_FRAME}) AS i`,
    [first, count, ago, frames[0]?.compressed],
  );
  for (const table of ['deliveries', 'frames']) {
    await client.query(
      `ALTER TABLE gatehouse.${table} ATTACH PARTITION gatehouse.${table}_${suffix}
         FOR VALUES FROM ('${from} 00:00:00+00') TO ('${to} 00:00:00+00')`,
    );
  }
}

async function fillKeys(client: pg.Client, perDay: number): Promise<void> {
  const { rows } = await client.query<{ name: string; definition: string; key: boolean }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition, indisprimary AS key
       FROM pg_index WHERE indrelid = 'gatehouse.delivery_keys'::regclass`,
  );
  await client.query('TRUNCATE gatehouse.delivery_keys');
  for (const { name, key } of rows) {
    await client.query(
      key ? 'ALTER TABLE gatehouse.delivery_keys DROP CONSTRAINT delivery_keys_pkey' : `DROP INDEX ${name}`,
    );
  }
  await client.query(
    `INSERT INTO gatehouse.delivery_keys (hook_id, delivery_id, received_at, body_sha256)
     SELECT (i % ${HOOKS})::text, md5('delivery ' || i)::uuid::text,
            ${at('($1 - i / $2)', '(i / $2 * $2)', '$2')}, sha256(i::text::bytea)
       FROM generate_series(0, $1::int * $2::int - 1) AS i`,
    [KEY_DAYS, perDay],
  );
  for (const { definition, key } of rows) {
    await client.query(key ? 'ALTER TABLE gatehouse.delivery_keys ADD PRIMARY KEY (hook_id, delivery_id)' : definition);
  }
  say(`${(KEY_DAYS * perDay).toLocaleString('en')} keys stored`);
}

/** The bodies of deliveries that were stored together. */
async function makeFrame(): Promise<PackedBodies> {
  return packBodies(
    Array.from({ length: PER_FRAME }, (_, number) => {
      const repository = { full_name: 'acme/widgets' };
      return { kind: 'small', bytes: Buffer.from(JSON.stringify({ number, pull_request: { number }, repository })) };
    }),
  );
}
