import type pg from 'pg';
import { attachPartition, type Partitioning } from './partitions.ts';
import { sqlState } from './sqlstate.ts';

/** What the service does with its tables, in the words of GRANT. One without a schema is of `gatehouse`. */
export const RIGHTS = {
  SELECT: `migrations baselines deliveries delivery_keys extended_repositories
    frames installations makers merges override_comments progress
    repositories reviews statuses audit_postings audit_rule_changes audit_texts audit_verdicts
    gatehouse_jobs.job gatehouse_jobs.job_common gatehouse_jobs.job_dependency gatehouse_jobs.queue
    gatehouse_jobs.version`,
  INSERT: `baselines deliveries delivery_keys extended_repositories frames installations
    makers merges override_comments progress repositories reviews statuses
    audit_postings audit_rule_changes audit_texts audit_verdicts gatehouse_jobs.job gatehouse_jobs.job_common`,
  UPDATE: `baselines installations makers override_comments progress
    repositories reviews statuses gatehouse_jobs.job gatehouse_jobs.job_common gatehouse_jobs.queue
    gatehouse_jobs.version`,
  DELETE: `baselines delivery_keys makers override_comments
    progress repositories reviews statuses gatehouse_jobs.job gatehouse_jobs.job_common
    gatehouse_jobs.job_dependency`,
} as const;

/** A statement for each right, which is refused without it, also where it finds no row. */
const TRIES = {
  SELECT: 'SELECT * FROM $ WHERE false',
  INSERT: 'INSERT INTO $ SELECT WHERE false',
  // Needs what an UPDATE with a condition does, and names no column.
  UPDATE: 'SELECT FROM $ WHERE false FOR UPDATE',
  DELETE: 'DELETE FROM $ WHERE false',
} as const;

type Try = readonly [right: string, statement: string];

/** With their schemas. */
export function tablesFor(right: keyof typeof RIGHTS): readonly string[] {
  return RIGHTS[right].split(/\s+/).map((table) => (table.includes('.') ? table : `gatehouse.${table}`));
}

function allTries(partitionings: readonly Partitioning[]): readonly Try[] {
  const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const;
  const ofTables = rights.flatMap((right) =>
    tablesFor(right).map((table): Try => [`${right} on ${table}`, TRIES[right].replace('$', table)]),
  );
  // On a day that no delivery came on.
  const day = { suffix: 'doctor', first: '0001-01-01', next: '0001-01-02' };
  const ofPartitions = partitionings.flatMap((partitioning) =>
    partitioning.tables.map((parent): Try => {
      const needs = `ownership of gatehouse.${parent} with CREATE on its schema`;
      return [needs, attachPartition(partitioning, { parent, ...day })];
    }),
  );
  const ofSequence: Try = ['USAGE on gatehouse.review_fence', "SELECT nextval('gatehouse.review_fence')"];
  return [...ofTables, ...ofPartitions, ofSequence];
}

const INSUFFICIENT_PRIVILEGE = '42501';

/**
 * What the user lacks. It is tried, in a transaction that is rolled back: there are many ways to have a right. Throws
 * where it cannot be told, such as for a lock or a table that is not there.
 */
export async function lackingRights(
  client: pg.ClientBase,
  partitionings: readonly Partitioning[],
): Promise<readonly string[]> {
  const lacking: string[] = [];
  await client.query("BEGIN; SET LOCAL lock_timeout = '1s'");
  for (const [right, statement] of allTries(partitionings)) {
    await client.query('SAVEPOINT before');
    try {
      await client.query(statement);
    } catch (error) {
      if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) {
        throw error;
      }
      lacking.push(right);
    }
    await client.query('ROLLBACK TO SAVEPOINT before');
  }
  await client.query('ROLLBACK');
  return lacking;
}
