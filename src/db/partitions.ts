import type pg from 'pg';

/** Tables with partitions of the same times, in UTC: `<table>_2026_01_31` of days, `<table>_2026_01` of months. */
export interface Partitioning {
  readonly tables: readonly string[];
  readonly unit: keyof typeof SUFFIXES;
  /** How many are made ahead of the present one. */
  readonly ahead: number;
  /** SQL that is run on each new partition before others can see it. Its name comes with the schema. */
  readonly prepare?: (partition: string) => string;
}

/** How a partition's time is written in its name, for to_char() and as a pattern. */
const SUFFIXES = {
  day: { format: 'YYYY_MM_DD', pattern: '\\d{4}_\\d\\d_\\d\\d' },
  month: { format: 'YYYY_MM', pattern: '\\d{4}_\\d\\d' },
} as const;

/** The advisory lock under which partitions are made: any number, as long as every version uses the same. */
const ADVISORY_LOCK = 4_201_883_918;

/**
 * Reads the catalog: to_regclass() may answer from this session's cache, without what another one has committed just
 * now.
 */
const MISSING = `
  SELECT parent, first::date::text, (first + step)::date::text AS next, suffix
    FROM unnest($1::text[]) AS parent, CAST('1 ' || $2::text AS interval) AS step,
         date_trunc($2, now() AT TIME ZONE 'UTC') AS present,
         generate_series(present, present + $3 * step, step) AS first, to_char(first, $4) AS suffix
   WHERE NOT EXISTS (
     SELECT FROM pg_class JOIN pg_inherits ON inhrelid = pg_class.oid
      WHERE relnamespace = 'gatehouse'::regnamespace AND relname = parent || '_' || suffix)`;

/** Names of tables and dates of the database: what they are put into is SQL without parameters. */
interface MissingPartition {
  readonly parent: string;
  readonly suffix: string;
  readonly first: string;
  readonly next: string;
}

/**
 * Makes what is missing of the present partitions and of those ahead, in the caller's transaction. Neither readers nor
 * those that add rows are blocked: ATTACH locks out only other makers, who wait for the advisory lock anyway. A default
 * partition would change that, and its rows would keep a later partition from being made: there is none.
 *
 * Times are those of the transaction, now(), which is also the default of the rows.
 */
export async function makePartitions(client: pg.ClientBase, partitioning: Partitioning): Promise<void> {
  if ((await missing(client, partitioning)).length === 0) {
    return;
  }
  await client.query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
  for (const partition of await missing(client, partitioning)) {
    await client.query(attachPartition(partitioning, partition));
  }
}

/** Statements that need no parameters. */
export function attachPartition({ prepare }: Partitioning, { parent, suffix, first, next }: MissingPartition): string {
  const partition = `gatehouse.${parent}_${suffix}`;
  // It exists if it was detached and not dropped yet, and the clock of the database was set back since.
  return `
    CREATE TABLE IF NOT EXISTS ${partition} (LIKE gatehouse.${parent} INCLUDING ALL);
    ${prepare?.(partition) ?? ''}
    ALTER TABLE gatehouse.${parent} ATTACH PARTITION ${partition}
      FOR VALUES FROM ('${first} 00:00:00+00') TO ('${next} 00:00:00+00')`;
}

async function missing(
  client: pg.ClientBase,
  { tables, unit, ahead }: Partitioning,
): Promise<readonly MissingPartition[]> {
  const { rows } = await client.query<MissingPartition>(MISSING, [tables, unit, ahead, SUFFIXES[unit].format]);
  return rows;
}

export interface EndedPartition {
  /** Without the schema. */
  readonly name: string;
  readonly parent: string;
  /** `detaching`: that was interrupted. `detached`: what was to drop it was. */
  readonly state: 'attached' | 'detaching' | 'detached';
}

/** Those of times that ended more than so many days ago, the oldest first; with 0 days, all. */
export async function endedPartitions(
  client: pg.Pool | pg.ClientBase,
  { tables, unit }: Partitioning,
  days: number,
): Promise<readonly EndedPartition[]> {
  const { format, pattern } = SUFFIXES[unit];
  const { rows } = await client.query<EndedPartition>(
    `SELECT relname AS name, parent,
            CASE WHEN inhrelid IS NULL THEN 'detached' WHEN inhdetachpending THEN 'detaching' ELSE 'attached' END AS state
       FROM unnest($1::text[]) AS parent
       JOIN pg_class ON relnamespace = 'gatehouse'::regnamespace AND relkind = 'r' AND starts_with(relname, parent)
       LEFT JOIN pg_inherits ON inhrelid = pg_class.oid,
            substring(relname FROM '^' || parent || '_(' || $2 || ')$') AS suffix
      WHERE suffix IS NOT NULL
        AND ($4 = 0 OR (to_date(suffix, $3) + CAST('1 ' || $5::text AS interval)) AT TIME ZONE 'UTC'
                       <= now() - make_interval(days => $4))
      ORDER BY suffix, parent`,
    [tables, pattern, format, days, unit],
  );
  return rows;
}
