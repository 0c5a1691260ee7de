import { resolve } from 'node:path';
import type { ForgeSettings } from '../../config/config.ts';
import { readRepository } from '../../forges/port/addresses.ts';
import { UsageError } from '../failures.ts';
import { number } from '../options.ts';
import { type FactsCache, noCache, openFactsCache } from './facts-cache.ts';

const MAX_LAST = 1_000;

/** The options of commands that judge what was merged. */
export const HISTORY_OPTIONS = {
  last: { type: 'string', default: '100' },
  reserve: { type: 'string', default: '50' },
  cache: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const HISTORY_HELP = `  --last <number>      how many of the pull requests that were merged last, 1 to ${MAX_LAST}; 100 when left out
  --reserve <percent>  stop while less than this share of the forge's limit of requests is left; 50 when left out. Only where
                       the forge says what is left, as GitHub does
  --cache <folder>     keep what was read in this folder, and go on with it when the command is run again. It gets mode 0700,
                       for it holds private content: differences, commit messages, reviews and CODEOWNERS. Delete it afterwards`;

interface Given {
  readonly last: string;
  readonly reserve: string;
  readonly cache?: string | undefined;
}

export interface HistoryOptions {
  readonly repository: string;
  readonly last: number;
  /** A share, 0 to 1. */
  readonly reserve: number;
  readonly cache: FactsCache;
  /** Where the cache is, as it was given. */
  readonly cacheFolder: string | undefined;
}

/** Throws a {@link UsageError}. */
export async function historyOptions(
  positionals: readonly string[],
  { last, reserve, cache }: Given,
  { forge, forgeUrl }: Pick<ForgeSettings, 'forge' | 'forgeUrl'>,
  folder: string,
): Promise<HistoryOptions> {
  const [given, ...more] = positionals;
  if (given === undefined || more.length > 0) {
    throw new UsageError('expected exactly one repository, as owner/name');
  }
  const addressed = readRepository(forge, forgeUrl, given);
  if (!addressed.ok) {
    throw new UsageError(addressed.reason);
  }
  const percent = /^\d{1,3}$/.test(reserve) ? Number(reserve) : Number.NaN;
  if (!(percent <= 100)) {
    throw new UsageError('--reserve takes a whole number of percent, 0 to 100');
  }
  return {
    repository: addressed.repository,
    last: number('--last', last, MAX_LAST),
    reserve: percent / 100,
    cacheFolder: cache,
    cache: cache === undefined ? noCache : await openFactsCache(resolve(folder, cache), forgeUrl),
  };
}
