import type pg from 'pg';
import { type PackedBodies, packBodies } from '../src/inbox/pack-bodies.ts';
import { onDatabase } from './databases.ts';
import { say } from './plan.ts';
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
export function fillTo(databaseUrl: string, size: number): Promise<void> {
  return onDatabase(databaseUrl, async (client) => {
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM gatehouse.deliveries');
    const have = rows[0]?.count ?? 0;
    const frames = await makeFrames();
    const until = new Date();
    const rebuildIndexes = await dropIndexes(client);
    for (let first = have; first < size; first += CHUNK_ROWS) {
      const last = Math.min(first + CHUNK_ROWS, size);
      await insertChunk(client, { first, last, have, size, until }, frames);
      if (last % (10 * CHUNK_ROWS) === 0 || last === size) {
        say(`${last.toLocaleString('en')} of ${size.toLocaleString('en')} deliveries inserted`);
      }
    }
    say('building the indexes');
    await rebuildIndexes();
    // As autovacuum would, later and in the middle of a measurement.
    await client.query('VACUUM (ANALYZE) gatehouse.deliveries, gatehouse.frames');
    await client.query('CHECKPOINT');
  });
}

interface Chunk {
  readonly first: number;
  readonly last: number;
  /** Deliveries that were there before. */
  readonly have: number;
  readonly size: number;
  /** When the newest is received. */
  readonly until: Date;
}

/** Of the delivery `i`: the number of its frame, the frame's id, and the time of both, as if stored in one transaction. */
const FRAME = `LATERAL (SELECT i / $3::int AS n) AS numbered,
               LATERAL (SELECT md5(n::text)::uuid AS id,
                               $4::timestamptz - make_interval(days => $5) * (1 - (n * $3 - $6)::float8 / ($7 - $6)) AS at) AS frame`;

async function insertChunk(client: pg.Client, chunk: Chunk, frames: readonly PackedBodies[]): Promise<void> {
  const { first, last, have, size, until } = chunk;
  const common = [first, last, PER_FRAME, until, DAYS, have, size];
  const bytes = frames.flatMap(({ frames: [frame] }) => (frame === undefined ? [] : [frame.compressed]));
  await client.query(
    `INSERT INTO gatehouse.frames (id, received_at, bytes)
     SELECT DISTINCT ON (n) frame.id, frame.at, ($8::bytea[])[1 + n % $9]
       FROM generate_series($1::int, $2::int - 1) AS i, ${FRAME}
     ON CONFLICT DO NOTHING`,
    [...common, bytes, FRAMES],
  );
  const places = frames.flatMap(({ bodies }) => bodies.flatMap((body) => (body.kind === 'framed' ? [body] : [])));
  await client.query(
    `INSERT INTO gatehouse.deliveries
            (hook_id, delivery_id, received_at, event, repository, pull_request, body_sha256,
             frame_id, frame_offset, frame_length)
     SELECT (i % $8)::text, gen_random_uuid()::text, frame.at,
            CASE WHEN i % 100 < $9 THEN 'pull_request' ELSE 'push' END,
            'acme/repository-' || r,
            CASE WHEN i % 100 < $9 THEN 1 + i / $10 END,
            sha256(i::text::bytea), frame.id, ($11::int[])[place], ($12::int[])[place]
       FROM generate_series($1::int, $2::int - 1) AS i, ${FRAME},
            LATERAL (SELECT (hashint4(i) & 2147483647) % $10 AS r, 1 + (n % $13) * $3 + i % $3 AS place) AS of`,
    [
      ...common,
      HOOKS,
      PULL_REQUEST_SHARE,
      REPOSITORIES,
      places.map(({ offset }) => offset),
      places.map(({ length }) => length),
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

function makeFrames(): Promise<readonly PackedBodies[]> {
  const next = makeRequests({ secret: 'none', path: '/', perPullRequest: 1 });
  return Promise.all(
    Array.from({ length: FRAMES }, () =>
      packBodies(
        Array.from({ length: PER_FRAME }, () => {
          const { middle, tail } = next();
          return { kind: 'small', bytes: Buffer.concat([middle, Buffer.from(tail)]) };
        }),
      ),
    ),
  );
}
