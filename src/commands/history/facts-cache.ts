import { hash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deserialize, serialize } from 'node:v8';
import type { PastFacts } from '../../facts/gather.ts';
import { covers } from '../../facts/needs.ts';
import { eachFact, type Needs, unreadFacts, type Values } from '../../facts/table.ts';
import type { MergedPullRequest } from '../../forges/port/merged.ts';
import { UsageError } from '../failures.ts';

/** Raised when what is stored changes: older files are then read from the forge again. */
const FORMAT = 5;
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/** What anybody but the owner may do. */
const OTHERS = 0o077;

/** What a policy needs of the past. What trailers name decides whose accounts are read. */
export interface Wanted {
  readonly needs: Needs;
  readonly authorTrailers: readonly string[];
}

/** What was read of merged pull requests, on disk: it is private, as the repository is. */
export interface FactsCache {
  /** Undefined unless everything that is needed was read. */
  read(merged: MergedPullRequest, wanted: Wanted): Promise<PastFacts | undefined>;
  write(merged: MergedPullRequest, wanted: Wanted, past: PastFacts): Promise<void>;
}

export const noCache: FactsCache = { read: async () => undefined, write: async () => {} };

interface Stored {
  readonly format: number;
  readonly mergedAt: string;
  readonly wanted: Wanted;
  readonly headSha: string;
  readonly values: Values;
  readonly gone: readonly string[];
}

/** Makes the folder where it is not there. Throws a {@link UsageError} when others may look into it. */
export async function openFactsCache(folder: string, forgeUrl: string): Promise<FactsCache> {
  const made = await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if (made !== undefined) {
    await chmod(folder, PRIVATE_FOLDER);
  }
  const { mode } = await stat(folder);
  if (process.platform !== 'win32' && (mode & OTHERS) !== 0) {
    throw new UsageError(`--cache: others can read ${folder}, and it holds private content: chmod 700 it`);
  }

  function fileOf({ pullRequest: { repository, number } }: MergedPullRequest): string {
    return join(folder, `${hash('sha256', JSON.stringify([forgeUrl, repository.toLowerCase(), number]))}.facts`);
  }

  return {
    async read(merged, wanted) {
      const stored = unseal(await readFile(fileOf(merged)).catch(() => Buffer.alloc(0)));
      if (stored?.format !== FORMAT || stored.mergedAt !== merged.mergedAt || !hasAll(stored.wanted, wanted)) {
        return undefined;
      }
      const { values, gone, headSha } = stored;
      // Title, description and labels are the present ones, with and without a cache.
      const pullRequest = { ...merged.pullRequest, head: { ...merged.pullRequest.head, sha: headSha } };
      return { facts: { ...unreadFacts(pullRequest), ...values }, gone, failure: 'none' };
    },

    async write(merged, wanted, { facts, gone, failure }) {
      if (failure !== 'none') {
        return;
      }
      const stored: Stored = {
        format: FORMAT,
        mergedAt: merged.mergedAt,
        wanted,
        headSha: facts.pullRequest.head.sha,
        values: eachFact((name) => facts[name]),
        gone,
      };
      const file = fileOf(merged);
      const unfinished = `${file}.${process.pid}.tmp`;
      await writeFile(unfinished, seal(stored), { mode: PRIVATE_FILE });
      await rename(unfinished, file);
    },
  };
}

/** A digest, then the value with its sets and maps. */
function seal(stored: Stored): Buffer {
  const content = serialize(stored);
  return Buffer.concat([hash('sha256', content, 'buffer'), content]);
}

const DIGEST_BYTES = 32;

/** Undefined when it is not what was written. */
function unseal(sealed: Buffer): Stored | undefined {
  const content = sealed.subarray(DIGEST_BYTES);
  const isWhole = content.length > 0 && hash('sha256', content, 'buffer').equals(sealed.subarray(0, DIGEST_BYTES));
  return isWhole ? deserialize(content) : undefined;
}

/** Teams are never read of what was. */
function hasAll(had: Wanted, { needs: { teams: _, ...needs }, authorTrailers }: Wanted): boolean {
  return authorTrailers.every((key) => had.authorTrailers.includes(key)) && covers(had.needs, needs);
}
