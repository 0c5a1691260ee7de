import { zstdCompressSync } from 'node:zlib';
import pg from 'pg';
import type { Say } from './plan.ts';
import { makeRequests } from './requests.ts';

const CHUNK_ROWS = 50_000;
/** All sizes together are spread over so many days before now. */
const DAYS = 29;
const REPOSITORIES = 10_000;
const HOOKS = 3;
/** Of every hundred, as they would be if most events were about pull requests. */
const PULL_REQUEST_SHARE = 70;
const BODIES = 64;

/**
 * Inserts deliveries until there are so many: bodies of real examples, random ids, and spread over time, repositories and
 * events. Their newest are a moment old.
 */
export async function fillTo(databaseUrl: string, size: number, say: Say): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM gatehouse.deliveries');
    const have = rows[0]?.count ?? 0;
    const rebuildIndexes = await dropIndexes(client);
    for (let first = have; first < size; first += CHUNK_ROWS) {
      const last = Math.min(first + CHUNK_ROWS, size);
      await client.query(
        `INSERT INTO gatehouse.deliveries
                (hook_id, delivery_id, received_at, event, repository, pull_request, body_sha256, body)
         SELECT (i % $3)::text, gen_random_uuid()::text,
                now() - make_interval(days => $4) * (1 - (i - $5)::float8 / ($6 - $5)),
                CASE WHEN i % 100 < $7 THEN 'pull_request' ELSE 'push' END,
                'acme/repository-' || r,
                CASE WHEN i % 100 < $7 THEN 1 + i / $8 END,
                sha256(i::text::bytea), ($9::bytea[])[1 + i % $10]
           FROM generate_series($1::int, $2::int - 1) AS i, LATERAL (SELECT (hashint4(i) & 2147483647) % $8 AS r)`,
        [first, last, HOOKS, DAYS, have, size, PULL_REQUEST_SHARE, REPOSITORIES, bodies(), BODIES],
      );
      if (last % (10 * CHUNK_ROWS) === 0 || last === size) {
        say(`${last.toLocaleString('en')} of ${size.toLocaleString('en')} deliveries inserted`);
      }
    }
    say('building the indexes');
    await rebuildIndexes();
    // As autovacuum would, later and in the middle of a measurement.
    await client.query('VACUUM (ANALYZE) gatehouse.deliveries');
    await client.query('CHECKPOINT');
  } finally {
    await client.end();
  }
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

function bodies(): readonly Buffer[] {
  const next = makeRequests({ secret: 'none', path: '/', perPullRequest: 1 });
  return Array.from({ length: BODIES }, () => {
    const { middle, tail } = next();
    return zstdCompressSync(Buffer.concat([middle, Buffer.from(tail)]));
  });
}
