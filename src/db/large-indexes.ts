import type pg from 'pg';

/** On the table of deliveries, which may have millions of rows: for the filters of `gatehouse deliveries`. */
const INDEXES = {
  deliveries_repository: '(lower(repository), received_at)',
  deliveries_event: '(event, received_at)',
};

const WAIT_MINUTES = 10;

/**
 * Builds them concurrently, which a migration in a transaction cannot do: the door stores deliveries meanwhile. It
 * waits for the transactions that have begun before, and holds nobody up while it waits: so it may wait for minutes.
 */
export async function buildLargeIndexes(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ before: string }>("SELECT current_setting('lock_timeout') AS before");
  await client.query(`SET lock_timeout = '${WAIT_MINUTES}min'`);
  try {
    await buildMissing(client);
  } finally {
    await client.query("SELECT set_config('lock_timeout', $1, false)", [rows[0]?.before]);
  }
}

async function buildMissing(client: pg.ClientBase): Promise<void> {
  for (const [name, columns] of Object.entries(INDEXES)) {
    const { rows } = await client.query<{ valid: boolean }>(
      'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
      [`gatehouse.${name}`],
    );
    if (rows[0]?.valid) {
      continue;
    }
    // One whose building was interrupted stays, costs time at every INSERT, and is never read.
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS gatehouse.${name}`);
    await client.query(`CREATE INDEX CONCURRENTLY ${name} ON gatehouse.deliveries ${columns}`);
  }
}
