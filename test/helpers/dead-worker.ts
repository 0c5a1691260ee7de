import type pg from 'pg';
import { connectEngine } from '../../src/jobs/queue/engine.ts';
import { makeLog } from '../../src/log.ts';
import { sized } from './size.ts';

/** As if fifteen seconds had passed since a worker was killed. The next worker looks some ten seconds after its start. */
export async function ageHeartbeats(database: pg.Pool): Promise<void> {
  await database.query("UPDATE gatehouse_jobs.job SET heartbeat_on = now() - interval '1 hour' WHERE state = 'active'");
  await database.query('UPDATE gatehouse_jobs.queue SET monitor_on = NULL, monitor_claim_on = NULL');
}

/** The same, and the look for jobs without a heartbeat. In the nightly run it is the next worker that looks. */
export async function letHeartbeatsRunOut(database: pg.Pool): Promise<void> {
  await ageHeartbeats(database);
  await sized(lookNow, async () => {})(database);
}

async function lookNow(database: pg.Pool): Promise<void> {
  const engine = connectEngine(database, makeLog('silent'));
  await engine.start();
  await engine.supervise();
  await engine.stop({ graceful: false });
}
