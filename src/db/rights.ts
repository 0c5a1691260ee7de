import type pg from 'pg';
import { attachPartition, type Partitioning } from './partitions.ts';
import { sqlState } from './sqlstate.ts';

type Role = 'door' | 'worker';
type Grants = Readonly<Record<string, readonly Right[]>>;

/** What door and worker do with their tables, in the words of GRANT. A table without a schema is one of `gatehouse`. */
const GRANTS: Readonly<Record<Role, Grants>> = {
  door: {
    'migrations schema_compatibility baselines': ['SELECT'],
    'gatehouse_jobs.version gatehouse_jobs.queue gatehouse_jobs.job': ['SELECT'],
    'gatehouse_jobs.job_common': ['INSERT'],
    queue_counts: ['SELECT', 'UPDATE'],
    'deliveries frames delivery_keys hooks': ['SELECT', 'INSERT'],
    'installations override_comments': ['SELECT', 'INSERT', 'UPDATE'],
  },
  worker: {
    'migrations schema_compatibility deliveries frames': ['SELECT'],
    'queue_counts gatehouse_jobs.queue gatehouse_jobs.version': ['SELECT', 'UPDATE'],
    'delivery_keys gatehouse_jobs.job_dependency': ['SELECT', 'DELETE'],
    'audit_verdicts audit_postings audit_texts audit_rule_changes merges seen_authors': ['SELECT', 'INSERT'],
    'installations progress': ['SELECT', 'INSERT', 'UPDATE'],
    extended_repositories: ['SELECT', 'INSERT', 'DELETE'],
    'hooks repositories reviews posted_statuses left_successes': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
    'override_comments baselines failed_deliveries': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
    'gatehouse_jobs.job gatehouse_jobs.job_common': ['SELECT', 'INSERT', 'UPDATE', 'DELETE'],
  },
};

/** A statement for each right, which is refused without it, also where it finds no row. */
const TRIES = {
  SELECT: 'SELECT * FROM $ WHERE false',
  INSERT: 'INSERT INTO $ SELECT WHERE false',
  // Needs what an UPDATE with a condition does, and names no column.
  UPDATE: 'SELECT FROM $ WHERE false FOR UPDATE',
  DELETE: 'DELETE FROM $ WHERE false',
} as const;

type Right = keyof typeof TRIES;
type Try = readonly [right: string, statement: string];

/** Each right of a role on a table. */
export function rightsOf(role: Role): readonly (readonly [right: Right, table: string])[] {
  return Object.entries(GRANTS[role]).flatMap(([names, rights]) =>
    names.split(' ').flatMap((name) => {
      const table = name.includes('.') ? name : `gatehouse.${name}`;
      return rights.map((right) => [right, table] as const);
    }),
  );
}

function ofTables(roles: readonly Role[]): readonly Try[] {
  const tries = roles.flatMap(rightsOf).map(([right, table]): Try => {
    return [`${right} on ${table}`, TRIES[right].replace('$', table)];
  });
  return [...new Map(tries)];
}

/** A table is looked up with the right to use its schema, whether or not there is one. */
const SCHEMAS = ['gatehouse', 'gatehouse_jobs'].map(
  (schema): Try => [`USAGE on schema ${schema}`, `SELECT to_regclass('${schema}.any')`],
);
const CREATE: Try = ['CREATE on schema gatehouse', 'CREATE TABLE gatehouse.doctor ()'];

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
 * What the worker needs beside, which is not tried, but asked: a number of a sequence never comes back, and whoever
 * drops a partition keeps deliveries waiting. The owner of a schema may drop what is in it.
 */
const NOT_TRIED = `
  SELECT 'USAGE on gatehouse.review_fence' AS lacking
   WHERE $1 AND NOT has_sequence_privilege('gatehouse.review_fence', 'USAGE, UPDATE')
   UNION ALL
  SELECT 'ownership of gatehouse.' || relname FROM pg_class JOIN pg_namespace schema ON schema.oid = relnamespace
   WHERE $1 AND nspname = 'gatehouse' AND relispartition AND relkind = 'r'
     AND NOT pg_has_role(relowner, 'USAGE') AND NOT pg_has_role(nspowner, 'USAGE')`;

/**
 * What the user lacks of what these roles do, with partitions too. It is tried, in a transaction that is rolled back:
 * there are many ways to have a right. Throws where it cannot be told, such as for a lock or a table that is not there.
 */
export async function lackingRights(
  client: pg.ClientBase,
  roles: readonly Role[],
  partitionings: readonly Partitioning[],
): Promise<readonly string[]> {
  await client.query("BEGIN; SET LOCAL lock_timeout = '1s'");
  const lacking = await refused(client, SCHEMAS);
  if (lacking.length === 0) {
    lacking.push(...(await refused(client, ofTables(roles))));
    const create = await refused(client, [CREATE]);
    lacking.push(...create, ...(create.length === 0 ? await refused(client, ofPartitions(partitionings)) : []));
    const { rows } = await client.query<{ lacking: string }>(NOT_TRIED, [roles.includes('worker')]);
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
