import { makeInboxPool, makePool, makeProbePool } from '../../src/db/pool.ts';
import { makeLog } from '../../src/log.ts';
import { makeOpenDatabase } from '../helpers/database.ts';
import test from '../helpers/test.ts';

test("no session uses the role's own settings", async (t) => {
  const { url, pool: admin } = await makeOpenDatabase(t);
  for (const [setting, own, wanted] of [
    ['DateStyle', 'SQL, DMY', 'ISO, DMY'],
    ['default_transaction_isolation', 'serializable', 'read committed'],
    ['synchronous_commit', 'off', 'on'],
    ['statement_timeout', '0', '4s'],
  ] as const) {
    const name = new URL(url).pathname.slice(1);
    await admin.query(`ALTER ROLE CURRENT_USER IN DATABASE ${name} SET ${setting} = '${own}'`);
    for (const open of [makePool, makeInboxPool, makeProbePool]) {
      const pool = open(url, makeLog('silent'));
      const { rows } = await pool.query('SELECT current_setting($1) AS value', [setting]);
      t.deepEqual(rows, [{ value: wanted }], `${open.name}: ${setting}`);
      await pool.end();
    }
  }
});
