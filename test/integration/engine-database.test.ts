import { engineDatabase } from '../../src/jobs/queue/engine.ts';
import { type Database, makeDatabase, openPool } from '../helpers/database.ts';
import test from '../helpers/test.ts';

let database: Database;
test.before(async () => {
  database = await makeDatabase();
});
test.after.always(() => database.drop());

async function rowsOf(sql: string): Promise<readonly object[]> {
  const pool = openPool(database.url);
  try {
    return (await engineDatabase(pool).executeSql(sql)).rows;
  } finally {
    await pool.end();
  }
}

test('the job engine gets the rows of all statements that it sends at once', async (t) => {
  t.deepEqual(await rowsOf('BEGIN; SELECT 1 AS n; SELECT 2 AS n; COMMIT'), [{ n: 1 }, { n: 2 }]);
});
