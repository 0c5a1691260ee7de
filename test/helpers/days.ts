import type { ExecutionContext } from 'ava';
import type pg from 'pg';
import { DAYS } from '../../src/inbox/days.ts';

/** The partitions of so many days before today: for deliveries that a test stores as if they had come then. */
export async function addDays(database: pg.Pool | pg.ClientBase, count: number): Promise<void> {
  const { rows } = await database.query<{ suffix: string; first: string; next: string }>(
    `SELECT to_char(day, 'YYYY_MM_DD') AS suffix, day::text AS first, (day + 1)::text AS next
       FROM generate_series(1, $1::int) AS ago, CAST((now() AT TIME ZONE 'UTC')::date - ago AS date) AS day`,
    [count],
  );
  for (const { suffix, first, next } of rows) {
    for (const table of DAYS.tables) {
      await database.query(
        `CREATE TABLE IF NOT EXISTS gatehouse.${table}_${suffix} PARTITION OF gatehouse.${table}
           FOR VALUES FROM ('${first} 00:00:00+00') TO ('${next} 00:00:00+00')`,
      );
    }
  }
}

export async function days(database: pg.Pool | pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'gatehouse'::regnamespace AND relname ~ '^(deliveries|frames)_\\d{4}'
      ORDER BY relname`,
  );
  return rows.map(({ name }) => name);
}

/** The day in UTC, as `2026-01-31`: that of the partitions. */
export function isoToday(): string {
  return new Date().toISOString().slice(0, '2026-01-31'.length);
}

/** For a test that counts days or months: it runs again where one ended during it. */
export function onOneDay(body: (t: ExecutionContext) => Promise<void>): (t: ExecutionContext) => Promise<void> {
  return async (t) => {
    const day = isoToday();
    const attempt = await t.try(body);
    if (attempt.passed || isoToday() === day) {
      attempt.commit();
    } else {
      attempt.discard();
      await body(t);
    }
  };
}
