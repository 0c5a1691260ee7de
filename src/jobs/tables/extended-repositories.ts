import type pg from 'pg';
import type { Log } from '../../log.ts';
import type { IsMeant } from '../../review/policy/load.ts';

/** Remembers the ids of each repository that policies extend, from the first time that it is read. */
export function rememberExtended(pool: pg.Pool, log: Log): IsMeant {
  return async (now, remembers) => {
    const name = now.name.toLowerCase();
    if (remembers) {
      await pool.query(
        'INSERT INTO gatehouse.extended_repositories (name, id, owner_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
        [name, now.id, now.ownerId],
      );
    }
    const { rows } = await pool.query<{ id: string; ownerId: string }>(
      'SELECT id, owner_id AS "ownerId" FROM gatehouse.extended_repositories WHERE name = $1',
      [name],
    );
    const [first] = rows;
    if (first === undefined || (first.id === now.id && first.ownerId === now.ownerId)) {
      return true;
    }
    const { id, ownerId } = now;
    log.warn(
      { repository: now.name, first, now: { id, ownerId } },
      'an extended policy is not used: another repository has its name now',
    );
    return false;
  };
}
