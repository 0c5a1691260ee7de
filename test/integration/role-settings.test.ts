import { makeInboxPool, makePool, makeProbePool } from '../../src/db/pool.ts';
import { makeLog } from '../../src/log.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

/** A database where sessions of the tests' role begin with these settings. */
async function databaseWith(settings: readonly Setting[]) {
  const database = await makeMigratedDatabase();
  const admin = openPool(database.url);
  const name = new URL(database.url).pathname.slice(1);
  for (const { setting, value } of settings) {
    await admin.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET ${setting} = '${value}'`);
  }
  await admin.end();
  return database;
}

interface Setting {
  readonly setting: string;
  readonly value: string;
  readonly wanted: string;
}

const SETTINGS: readonly Setting[] = [
  { setting: 'DateStyle', value: 'SQL, DMY', wanted: 'ISO, DMY' },
  { setting: 'default_transaction_isolation', value: 'serializable', wanted: 'read committed' },
  { setting: 'synchronous_commit', value: 'off', wanted: 'on' },
  { setting: 'statement_timeout', value: '0', wanted: '4s' },
];
const POOLS = [makePool, makeInboxPool, makeProbePool];

test("no session uses the role's own settings", async (t) => {
  const database = await databaseWith(SETTINGS);
  for (const open of POOLS) {
    const pool = open(database.url, makeLog('silent'));
    for (const { setting, wanted } of SETTINGS) {
      const { rows } = await pool.query<{ value: string }>('SELECT current_setting($1) AS value', [setting]);
      t.is(rows[0]?.value, wanted, `${open.name}: ${setting}`);
    }
    await pool.end();
  }
  await database.drop();
});

test('reviews settle where the role has other settings', async (t) => {
  const database = await databaseWith(SETTINGS);
  const policy = 'version: 1\nrules:\n  - id: title\n    require: { title: "^feat: " }\n';
  {
    await using story = await tellStory('github', { '.gatehouse.yml': policy }, { DATABASE_URL: database.url });
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: begin' });
    await story.settled();
    t.is(story.status(number)?.state, 'success');
  }
  await database.drop();
});
