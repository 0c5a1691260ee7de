import { createHash } from 'node:crypto';
import type pg from 'pg';
import { readStoredBodies } from '../helpers/stored-bodies.ts';
import type { SimulatedForge } from '../simulated-forge/simulated-forge.ts';
import type { Client } from './client.ts';
import { PULL_REQUESTS, REPOSITORY } from './world.ts';

/** What must be zero after every fault. */
export interface Losses {
  /** Acknowledged, and not in the database with the very same bytes. */
  readonly lost: number;
  /** Rows beyond the first of one delivery, and comments beyond the first on one pull request. */
  readonly duplicates: number;
}

export async function countLosses(database: pg.Pool, client: Client, forge: SimulatedForge): Promise<Losses> {
  const rows = await readStoredBodies(database);
  const stored = new Map(rows.map(({ deliveryId, body }) => [deliveryId, hashOf(body)]));
  const lost = [...client.acknowledged].filter(([id, hash]) => stored.get(id) !== hash).length;
  const comments = PULL_REQUESTS.map((number) =>
    forge.pull(REPOSITORY, number).comments.filter(({ author }) => author === 'gatehouse'),
  );
  const surplus = comments.reduce((sum, { length }) => sum + Math.max(0, length - 1), 0);
  return { lost, duplicates: rows.length - stored.size + surplus };
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
