import pg from 'pg';
import { type PackedBodies, packBodies } from '../src/inbox/pack-bodies.ts';
import type { Say } from './plan.ts';
import { makeRequests } from './requests.ts';

const CHUNK_ROWS = 50_000;
/** All sizes together are spread over so many days before now. */
const DAYS = 29;
const REPOSITORIES = 10_000;
const HOOKS = 3;
/** Of every hundred, as they would be if most events were about pull requests. */
const PULL_REQUEST_SHARE = 70;
/** Deliveries that were stored together, as at some hundred a second. */
const PER_FRAME = 8;
/** Different ones. Each is stored many times, under other ids. */
const FRAMES = 8;

/**
 * Inserts deliveries until there are so many: bodies of real examples, random ids, and spread over time, repositories and
 * events. Their newest are a moment old.
 */
export async function fillTo(databaseUrl: string, size: number, say: Say): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number; frame: number }>(
      `SELECT (SELECT count(*)::int FROM gatehouse.deliveries) AS count,
              (SELECT coalesce(max(id), 0)::int FROM gatehouse.frames) AS frame`,
    );
    const { count: have, frame: lastFrame } = rows[0] ?? { count: 0, frame: 0 };
    const frames = makeFrames();
    const rebuildIndexes = await dropIndexes(client);
    for (let first = have; first < size; first += CHUNK_ROWS) {
      const last = Math.min(first + CHUNK_ROWS, size);
      await insertChunk(client, { first, last, have, size, lastFrame }, frames);
      if (last % (10 * CHUNK_ROWS) === 0 || last === size) {
        say(`${last.toLocaleString('en')} of ${size.toLocaleString('en')} deliveries inserted`);
      }
    }
    await client.query(`SELECT setval('gatehouse.frame_ids', max(id)) FROM gatehouse.frames`);
    say('building the indexes');
    await rebuildIndexes();
    // As autovacuum would, later and in the middle of a measurement.
    await client.query('VACUUM (ANALYZE) gatehouse.deliveries, gatehouse.frames');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
}

interface Chunk {
  readonly first: number;
  readonly last: number;
  /** Deliveries that were there before. */
  readonly have: number;
  readonly size: number;
  /** The last id of the frames that were there before. */
  readonly lastFrame: number;
}

/** Frames first: their deliveries take their times, as those of one transaction have the same. */
async function insertChunk(client: pg.Client, chunk: Chunk, frames: readonly PackedBodies[]): Promise<void> {
  const { first, last, have, size, lastFrame } = chunk;
  const frameOf = (delivery: number) => lastFrame + 1 + Math.floor((delivery - have) / PER_FRAME);
  await client.query(
    `INSERT INTO gatehouse.frames (id, received_at, bytes)
     SELECT id, now() - make_interval(days => $3) * (1 - (id - $4)::float8 / ($5 - $4)), ($6::bytea[])[1 + id % $7]
       FROM generate_series($1::int, $2::int) AS id
     ON CONFLICT DO NOTHING`,
    [frameOf(first), frameOf(last - 1), DAYS, lastFrame, frameOf(size), frames.map(({ frame }) => frame), FRAMES],
  );
  const places = frames.flatMap(({ bodies }) => bodies.map((body) => (body.kind === 'framed' ? body : undefined)));
  await client.query(
    `INSERT INTO gatehouse.deliveries
            (hook_id, delivery_id, received_at, event, repository, pull_request, body_sha256,
             frame_id, frame_offset, frame_length)
     SELECT (i % $3)::text, gen_random_uuid()::text, frames.received_at,
            CASE WHEN i % 100 < $4 THEN 'pull_request' ELSE 'push' END,
            'acme/repository-' || r,
            CASE WHEN i % 100 < $4 THEN 1 + i / $5 END,
            sha256(i::text::bytea), frames.id, ($6::int[])[place], ($7::int[])[place]
       FROM generate_series($1::int, $2::int - 1) AS i
       JOIN gatehouse.frames ON frames.id = $8 + 1 + (i - $9) / $10,
            LATERAL (SELECT (hashint4(i) & 2147483647) % $5 AS r,
                            1 + (frames.id % $11) * $10 + (i - $9) % $10 AS place)`,
    [
      first,
      last,
      HOOKS,
      PULL_REQUEST_SHARE,
      REPOSITORIES,
      places.map((place) => place?.offset),
      places.map((place) => place?.length),
      lastFrame,
      have,
      PER_FRAME,
      FRAMES,
    ],
  );
}

/** Building them at the end takes a fraction of the time. Returns what builds them. */
async function dropIndexes(client: pg.Client): Promise<() => Promise<void>> {
  const { rows } = await client.query<{ name: string; definition: string; key: boolean }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition, indisprimary AS key
       FROM pg_index WHERE indrelid = 'gatehouse.deliveries'::regclass`,
  );
  for (const { name, key } of rows) {
    await client.query(key ? 'ALTER TABLE gatehouse.deliveries DROP CONSTRAINT deliveries_pkey' : `DROP INDEX ${name}`);
  }
  return async () => {
    for (const { definition, key } of rows) {
      await client.query(key ? 'ALTER TABLE gatehouse.deliveries ADD PRIMARY KEY (hook_id, delivery_id)' : definition);
    }
  };
}

function makeFrames(): readonly PackedBodies[] {
  const next = makeRequests({ secret: 'none', path: '/', perPullRequest: 1 });
  return Array.from({ length: FRAMES }, () =>
    packBodies(
      Array.from({ length: PER_FRAME }, () => {
        const { middle, tail } = next();
        return { kind: 'small', bytes: Buffer.concat([middle, Buffer.from(tail)]) };
      }),
    ),
  );
}
