import type pg from 'pg';
import { attachPartition, type Partitioning } from './partitions.ts';
import { sqlState } from './sqlstate.ts';

/** What door and worker do with their tables, in the words of GRANT. */
export const GRANTS: Readonly<Record<string, readonly Right[]>> = {
  'migrations schema_compatibility': ['SELECT'],
  'queue_counts gatehouse_jobs.queue gatehouse_jobs.version': ['SELECT', 'UPDATE'],
  'deliveries frames audit_verdicts audit_postings audit_texts audit_rule_changes merges': ['SELECT', 'INSERT'],
  seen_authors: ['SELECT', 'INSERT'],
  'installations progress': ['SELECT', 'INSERT', 'UPDATE'],
  'gatehouse_jobs.job_dependency': ['SELECT', 'DELETE'],
  'delivery_keys extended_repositories': ['SELECT', 'INSERT', 'DELETE'],
  'hooks repositories reviews posted_statuses left_successes': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  'override_comments baselines failed_deliveries': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  'gatehouse_jobs.job gatehouse_jobs.job_common': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
};

/** A statement for each right, which is refused without it, also where it finds no row. */
const TRIES = {
  SELECT: 'SELECT * FROM $ WHERE false',
  INSERT: 'INSERT INTO $ SELECT WHERE false',
  // As an UPDATE, and without the name of a column.
  UPDATE: 'SELECT FROM $ WHERE false FOR UPDATE',
  DELETE: 'DELETE FROM $ WHERE false',
} as const;

type Right = keyof typeof TRIES;
type Try = readonly [right: string, statement: string];

const OF_TABLES = Object.entries(GRANTS).flatMap(([names, rights]) =>
  names.split(' ').flatMap((name) => {
    const table = name.includes('.') ? name : `gatehouse.${name}`;
    return rights.map((right): Try => [`${right} on ${table}`, TRIES[right].replace('$', table)]);
  }),
);

/** Only the owner of a table attaches partitions. The day is one that no delivery came on. */
function ofPartitions(partitionings: readonly Partitioning[]): readonly Try[] {
  return partitionings.flatMap((partitioning) =>
    partitioning.tables.map((parent): Try => {
      const partition = { parent, suffix: 'doctor', first: '0001-01-01', next: '0001-01-02' };
      return [`ownership of gatehouse.${parent}`, attachPartition(partitioning, partition)];
    }),
  );
}

/**
 * Not tried, but asked: a number of a sequence never comes back, and whoever drops a partition keeps deliveries
 * waiting. The owner of a schema may drop what is in it.
 */
const NOT_TRIED = `
  SELECT 'USAGE on gatehouse.review_fence' AS lacking
   WHERE NOT has_sequence_privilege('gatehouse.review_fence', 'USAGE, UPDATE')
   UNION ALL
  SELECT 'ownership of gatehouse.' || relname FROM pg_class JOIN pg_namespace schema ON schema.oid = relnamespace
   WHERE nspname = 'gatehouse' AND relispartition AND relkind = 'r'
     AND NOT pg_has_role(relowner, 'USAGE') AND NOT pg_has_role(nspowner, 'USAGE')`;

/**
 * What the user lacks of what the service does, with partitions too. It is tried, in a transaction that is rolled back:
 * there are many ways to have a right. Throws where it cannot be told, such as for a lock or a table that is not there.
 */
export async function lackingRights(
  client: pg.ClientBase,
  partitionings: readonly Partitioning[],
): Promise<readonly string[]> {
  await client.query("BEGIN; SET LOCAL lock_timeout = '1s'");
  const lacking = await refused(client, [
    // A table is looked up with the right to use its schema, whether or not there is one.
    ['USAGE on schema gatehouse', "SELECT to_regclass('gatehouse.any')"],
    ['USAGE on schema gatehouse_jobs', "SELECT to_regclass('gatehouse_jobs.any')"],
  ]);
  if (lacking.length === 0) {
    const createTable: Try = ['CREATE on schema gatehouse', 'CREATE TABLE gatehouse.doctor ()'];
    lacking.push(...(await refused(client, [...OF_TABLES, createTable, ...ofPartitions(partitionings)])));
    const { rows } = await client.query<{ lacking: string }>(NOT_TRIED);
    lacking.push(...rows.map((row) => row.lacking));
  }
  await client.query('ROLLBACK');
  return lacking;
}

const INSUFFICIENT_PRIVILEGE = '42501';

async function refused(client: pg.ClientBase, tries: readonly Try[]): Promise<string[]> {
  const lacking: string[] = [];
  for (const [right, statement] of tries) {
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
  return lacking;
}
