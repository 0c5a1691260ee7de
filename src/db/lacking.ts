import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';
import { UnusableDatabaseError } from './unusable.ts';

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/**
 * The tables and columns that migrations create, such as `reviews` and `reviews.rules`. They are read as ours are
 * written: each column begins a line, and what begins with a capital is none.
 */
export function createdBy(sql: string): readonly string[] {
  const created = [...sql.matchAll(/^CREATE TABLE gatehouse\.(\w+) \(\n((?: .*\n|\n)*)\)/gm)].flatMap(
    ([, table = '', lines = '']) => [
      table,
      ...Array.from(lines.matchAll(/^ {2}([a-z]\w*)/gm), ([, column]) => `${table}.${column}`),
    ],
  );
  const added = sql.matchAll(/^ALTER TABLE gatehouse\.(\w+) ADD COLUMN (\w+)/gm);
  return [...created, ...Array.from(added, ([, table, column]) => `${table}.${column}`)];
}

/** In the catalog: `information_schema` hides what the user has no right to. */
const FIRST_LACKING = `
  WITH present AS (SELECT oid, relname FROM pg_class
                    WHERE relnamespace = to_regnamespace('gatehouse') AND relkind IN ('r', 'p'))
  SELECT needed FROM unnest($1::text[]) WITH ORDINALITY AS parts (needed, place)
   WHERE needed NOT IN (SELECT relname FROM present
                        UNION ALL
                        SELECT relname || '.' || attname FROM present JOIN pg_attribute ON attrelid = oid
                         WHERE NOT attisdropped)
   ORDER BY place LIMIT 1`;

/**
 * Names the first table or column that this code's migrations create and the database has not; undefined: it has them
 * all. The number of the newest migration does not tell that. Fit for the public.
 */
export async function findLacking(client: pg.Pool | pg.ClientBase): Promise<string | undefined> {
  const files = readdirSync(MIGRATIONS).sort();
  const needed = createdBy(files.map((file) => readFileSync(new URL(file, MIGRATIONS), 'utf8')).join('\n'));
  const { rows } = await client.query<{ needed: string }>(FIRST_LACKING, [needed]);
  return rows[0] && `the schema lacks gatehouse.${rows[0].needed}: another build made it, or it was restored in part`;
}

/** Throws {@link UnusableDatabaseError} while the schema lacks something. */
export type LackingCheck = (client: pg.Pool | pg.ClientBase) => Promise<void>;

/** Looks until nothing is missing, and no more: a schema that loses something later fails the statements that need it. */
export function makeLackingCheck(): LackingCheck {
  let isWhole = false;
  return async (client) => {
    const lacking = isWhole ? undefined : await findLacking(client);
    if (lacking !== undefined) {
      throw new UnusableDatabaseError(lacking);
    }
    isWhole = true;
  };
}
