import type pg from 'pg';
import { inTransaction } from '../../db/transaction.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { ChangeList, ListedRepository, WritableRepositories } from '../../forges/port/many-repositories.ts';
import { doneUntil, recordDone } from '../tables/progress.ts';
import { addRepositories } from '../tables/repositories.ts';
import { judgedByOtherRulesElsewhere } from './other-rules.ts';
import type { RepositoryResyncDeps } from './resync-repository.ts';

export interface RoundDeps extends Omit<RepositoryResyncDeps, 'enqueue' | 'metrics'> {
  /** From one round to the next. */
  readonly minutes: number;
}

/**
 * How far before the last list the next one begins: a change may be dated before it can be seen, and the time that the
 * list gives may be that of a proxy. Longer than either, and what is listed twice is only looked at twice.
 */
const OVERLAP_MS = 10 * 60_000;
/** How often the repositories that the list covers are read. A list of changes older than that is not continued. */
const ALL_REPOSITORIES_MS = 24 * 60 * 60_000;
/** Every repository is looked at within this time, whatever the list of changes says. */
const FULL_LOOK_MINUTES = 48 * 60;
const TRANSACTION_MS = 60_000;
/** A hundred requests on GitHub, where one more shows the pull requests of a hundred repositories. */
const MAX_LISTED = 10_000;

/** Begins a round: decides which of the repositories that deliveries came from it looks at. */
export async function beginRound(deps: RoundDeps): Promise<void> {
  const { pool, log } = deps;
  const { changeList } = deps.forge;
  if ((await doneUntil(pool, 'list-repositories')) === undefined) {
    await addWritable(deps);
  }
  if (changeList === undefined) {
    await markAllDue(pool);
  } else {
    try {
      await markByList(deps, changeList);
    } catch (err) {
      if (!(err instanceof ForgeError) || err.kind === 'rate-limited') {
        throw err;
      }
      log.warn({ reason: err.message }, 'the forge’s list of changes cannot be read: every repository is looked at');
      await markAllDue(pool);
    }
  }
}

/**
 * A new database may come after a lost one: a pull request that turned bad meanwhile keeps its success until somebody
 * looks. Once for each database, and not only while the table is empty: a delivery may come before the first round. And
 * when an App was installed, or is no longer suspended, without a list of its repositories.
 */
async function addWritable({ pool, forge, log }: RoundDeps): Promise<void> {
  log.info('listing all repositories that the credentials can write to, to look at each');
  const found = await writableRepositories(forge);
  const repositories = found.names.length;
  await addRepositories(pool, found.names);
  const failures = found.failures ?? [];
  for (const { owner, error } of failures) {
    const next = mayPass(error) ? 'the next resync tries again' : 'name those to look at in gatehouse resync';
    log.warn({ owner, reason: error.message }, `not every repository could be listed: ${next}`);
  }
  if (failures.some(({ error }) => mayPass(error))) {
    return;
  }
  await recordDone(pool, 'list-repositories');
  log.info({ repositories }, 'the repositories that the credentials may write to are looked at');
  if (found.more) {
    log.warn({ repositories }, 'there are more repositories: name those to look at in gatehouse resync');
  }
}

/** What one owner refuses, as by a list of allowed addresses, must not have all others listed again at each resync. */
function mayPass({ kind }: ForgeError): boolean {
  return kind === 'unavailable' || kind === 'rate-limited';
}

/** Never throws what the forge answers: what deliveries came from is looked at all the same. */
async function writableRepositories(forge: RoundDeps['forge']): Promise<WritableRepositories> {
  try {
    return await forge.writableRepositories(MAX_LISTED);
  } catch (error) {
    if (!(error instanceof ForgeError)) {
      throw error;
    }
    return { names: [], more: false, failures: [{ owner: undefined, error }] };
  }
}

async function markAllDue(pool: pg.Pool): Promise<void> {
  await pool.query('UPDATE gatehouse.repositories SET due = true WHERE NOT due');
}

async function markByList(deps: RoundDeps, changeList: ChangeList): Promise<void> {
  const { pool } = deps;
  const oldest = Date.now() - ALL_REPOSITORIES_MS;
  const [changesUntil, allUntil] = [
    await doneUntil(pool, 'resync-changes'),
    await doneUntil(pool, 'resync-repositories'),
  ];
  const since = changesUntil !== undefined && changesUntil.getTime() >= oldest ? changesUntil : undefined;
  if (since === undefined || allUntil === undefined || allUntil.getTime() < oldest) {
    const begun = new Date();
    const { repositories, asOf } = await changeList.all();
    await recordCovered(pool, repositories);
    await recordDone(pool, 'resync-repositories', begun);
    if (since === undefined) {
      await markAllDue(pool);
      await recordDone(pool, 'resync-changes', asOf);
      return;
    }
  }
  const { repositories, asOf } = await changeList.changedSince(new Date(since.getTime() - OVERLAP_MS));
  const elsewhere = await judgedByOtherRulesElsewhere(pool, deps.rules);
  await inTransaction(pool, TRANSACTION_MS, async (client) => {
    await markChanged(client, repositories);
    await markUnfinished(client);
    await markDue(client, elsewhere);
    await markLongestAgo(client, deps.minutes);
    await recordDone(client, 'resync-changes', asOf);
  });
}

async function markDue(client: pg.ClientBase, names: readonly string[]): Promise<void> {
  await client.query('UPDATE gatehouse.repositories SET due = true WHERE NOT due AND name = ANY ($1)', [names]);
}

/** The list covers these and no others. */
async function recordCovered(pool: pg.Pool, covered: readonly ListedRepository[]): Promise<void> {
  await pool.query(
    `UPDATE gatehouse.repositories r SET listed_id = covered.id
       FROM gatehouse.repositories stored
       LEFT JOIN (SELECT DISTINCT ON (lower(name)) lower(name) AS name, id
                    FROM unnest($1::text[], $2::text[]) AS listed (id, name)) covered ON covered.name = lower(stored.name)
      WHERE r.name = stored.name AND r.listed_id IS DISTINCT FROM covered.id`,
    [covered.map(({ id }) => id), covered.map(({ name }) => name)],
  );
}

/** By their ids, for a renamed one is listed under its new name; and by their names, for one may be new in the list. */
async function markChanged(client: pg.ClientBase, changed: readonly ListedRepository[]): Promise<void> {
  await client.query(
    `UPDATE gatehouse.repositories r SET due = true
      WHERE NOT due AND (listed_id IS NULL OR listed_id = ANY ($1::text[]) OR lower(name) IN (SELECT lower(listed) FROM unnest($2::text[]) AS listed))`,
    [changed.map(({ id }) => id), changed.map(({ name }) => name)],
  );
}

/** What no list of changes shows: reviews that have not come to their end, or were read within the second of a change. */
async function markUnfinished(client: pg.ClientBase): Promise<void> {
  await client.query(
    `UPDATE gatehouse.repositories SET due = true
      WHERE NOT due AND name IN (
        SELECT repository FROM gatehouse.reviews
         WHERE verdict IS NULL OR rules IS NULL OR pull_request_updated_at IS NULL OR NOT open)`,
  );
}

/** So many that each has its turn within {@link FULL_LOOK_MINUTES}. */
async function markLongestAgo(client: pg.ClientBase, minutes: number): Promise<void> {
  await client.query(
    `UPDATE gatehouse.repositories SET due = true
      WHERE NOT due AND name IN (
        SELECT name FROM gatehouse.repositories ORDER BY resynced_at NULLS FIRST, name
         LIMIT (SELECT ceil(count(*) * least(1, $1::float8 / $2)) FROM gatehouse.repositories))`,
    [minutes, FULL_LOOK_MINUTES],
  );
}
