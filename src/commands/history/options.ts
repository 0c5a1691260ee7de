import { resolve } from 'node:path';
import type { ForgeSettings } from '../../config/config.ts';
import { readRepository } from '../../forges/port/addresses.ts';
import { UsageError } from '../failures.ts';
import { parseNumber } from '../options.ts';
import { type FactsCache, noCache, openFactsCache } from './facts-cache.ts';

const MAX_LAST = 1_000;

/** The options of commands that judge merged pull requests. */
export const HISTORY_OPTIONS = {
  last: {
    type: 'string',
    default: '100',
    value: 'number',
    help: `how many of the pull requests that were merged last, 1 to ${MAX_LAST}; 100 by default`,
  },
  reserve: {
    type: 'string',
    default: '50',
    value: 'percent',
    help: "stop when less than this share of the forge's request limit is left; 50 by default. Only where the forge tells what is left, as GitHub does",
  },
  cache: {
    type: 'string',
    value: 'folder',
    help: 'keep what was read in this folder, and continue with it when the command is run again. Its mode is 0700, because it holds private content: differences, commit messages, reviews and CODEOWNERS. Delete it afterwards',
  },
} as const;

export const ONE_REPOSITORY = { least: 1, most: 1, expected: 'exactly one repository, as owner/name' } as const;

export const HISTORY_SETTINGS = 'as for gatehouse explain.';

/** The values of {@link HISTORY_OPTIONS}, as text. */
export interface HistoryValues {
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
  [name = '']: readonly string[],
  { last, reserve, cache }: HistoryValues,
  { forge, forgeUrl }: Pick<ForgeSettings, 'forge' | 'forgeUrl'>,
  folder: string,
): Promise<HistoryOptions> {
  const addressed = readRepository(forge, forgeUrl, name);
  if (!addressed.ok) {
    throw new UsageError(addressed.reason);
  }
  const percent = /^\d{1,3}$/.test(reserve) ? Number(reserve) : Number.NaN;
  if (!(percent <= 100)) {
    throw new UsageError('--reserve takes a whole number of percent, 0 to 100');
  }
  return {
    repository: addressed.repository,
    last: parseNumber('--last', last, MAX_LAST),
    reserve: percent / 100,
    cacheFolder: cache,
    cache: cache === undefined ? noCache : await openFactsCache(resolve(folder, cache), forgeUrl),
  };
}
