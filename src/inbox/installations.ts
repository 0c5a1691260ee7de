import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { saveInstallation } from '../db/installations.ts';
import type { Log } from '../log.ts';

/** Owners, of which each is some dozens of bytes. */
const MAX_REMEMBERED = 10_000;

/**
 * Saves which installation of the App an owner has, whenever a delivery tells another one than the last. Beside the
 * delivery, not in its transaction: if it is lost, the worker asks the forge once.
 */
export function makeInstallationRecorder(
  pool: pg.Pool,
  log: Log,
): (installation: { readonly owner: string; readonly id: number }) => void {
  const saved = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  return ({ owner, id }) => {
    if (saved.get(owner) === id) {
      return;
    }
    saved.set(owner, id);
    saveInstallation(pool, owner, id).catch((err: unknown) => {
      saved.delete(owner);
      log.warn({ err, owner }, 'the installation of an App could not be saved: the worker asks the forge for it');
    });
  };
}
