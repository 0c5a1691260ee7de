import type pg from 'pg';

/**
 * Which installation of the App an owner's repositories belong to: an account has one. Undefined: no delivery has told
 * it.
 */
export async function readInstallation(pool: pg.Pool, owner: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT installation_id AS id FROM gatehouse.installations WHERE owner = lower($1)',
    [owner],
  );
  return rows[0] && Number(rows[0].id);
}

export async function saveInstallation(pool: pg.Pool, owner: string, id: number): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.installations (owner, installation_id) VALUES (lower($1), $2)
     ON CONFLICT (owner) DO UPDATE SET installation_id = excluded.installation_id
      WHERE installations.installation_id <> excluded.installation_id`,
    [owner, id],
  );
}
