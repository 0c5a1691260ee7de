import type pg from 'pg';

/**
 * - `resync`: when a round was last requested.
 * - `resync-changes`: until when the forge's list of changes was read, in the forge's time.
 * - `resync-repositories`: when all repositories of that list were last read.
 * - `list-repositories`: when the repositories were listed that the credentials may write to.
 * - `turns`: when pull requests were last given their turn.
 * - `recover-deliveries`: what the forge had sent an App before has arrived, or was given up.
 *
 * And `count-queues`, of src/jobs/queue/queue-stats.ts alone: when the job queues were last counted, and the counts.
 */
type Task = 'resync' | 'resync-changes' | 'resync-repositories' | 'list-repositories' | 'turns' | 'recover-deliveries';

/** Until when a periodic task was done; undefined: never. */
export async function doneUntil(pool: pg.Pool, task: Task): Promise<Date | undefined> {
  const { rows } = await pool.query<{ done_until: Date }>('SELECT done_until FROM gatehouse.progress WHERE task = $1', [
    task,
  ]);
  return rows[0]?.done_until;
}

/** Until now, or until a time that was before. Never moves backwards. */
export async function recordDone(pool: pg.Pool | pg.ClientBase, task: Task, until?: Date): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.progress (task, done_until) VALUES ($1, coalesce($2, now()))
     ON CONFLICT (task) DO UPDATE SET done_until = greatest(progress.done_until, excluded.done_until)`,
    [task, until ?? null],
  );
}

/** The next round does it again. */
export async function forgetDone(pool: pg.Pool, task: Task): Promise<void> {
  await pool.query('DELETE FROM gatehouse.progress WHERE task = $1', [task]);
}

/** Whether it was never done, or so long ago. By the clock of the database, which all replicas share. */
export async function isDue(pool: pg.Pool, task: Task, minutes: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM gatehouse.progress WHERE task = $1 AND done_until > now() - make_interval(secs => $2)',
    [task, minutes * 60],
  );
  return rowCount === 0;
}
