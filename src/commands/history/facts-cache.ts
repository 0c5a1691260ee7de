import { hash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MergedPullRequest } from '../../forges/port/merged.ts';
import { type Facts, type NeededFacts, unreadFacts } from '../../review/facts.ts';
import type { PastFacts } from '../../review/past/read-facts.ts';
import { UsageError } from '../failures.ts';

/** Raised when what is stored changes: older files are then read from the forge again. */
const FORMAT = 4;
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
/** What anybody but the owner may do. */
const OTHERS = 0o077;

/** What was read of merged pull requests, on disk: it is private, as the repository is. */
export interface FactsCache {
  /** Undefined unless everything that is needed was read. */
  read(merged: MergedPullRequest, needed: NeededFacts): Promise<PastFacts | undefined>;
  write(merged: MergedPullRequest, needed: NeededFacts, past: PastFacts): Promise<void>;
}

export const noCache: FactsCache = { read: async () => undefined, write: async () => {} };

interface Stored {
  readonly format: number;
  readonly mergedAt: string;
  readonly needed: NeededFacts;
  readonly headSha: string;
  readonly facts: Pick<
    Facts,
    'changedFiles' | 'reviews' | 'codeOwners' | 'checks' | 'conversations' | 'triage' | 'repository'
  > & {
    readonly commits: Omit<Facts['commits'], 'cleanMerges' | 'accounts'> & {
      readonly cleanMerges: readonly string[];
      readonly accounts: readonly (readonly [string, string | null])[];
    };
  };
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
    return join(folder, `${hash('sha256', JSON.stringify([forgeUrl, repository.toLowerCase(), number]))}.json`);
  }

  return {
    async read(merged, needed) {
      const stored = unseal(await readFile(fileOf(merged), 'utf8').catch(() => ''));
      if (stored?.format !== FORMAT || stored.mergedAt !== merged.mergedAt || !covers(stored.needed, needed)) {
        return undefined;
      }
      const { facts, gone, headSha } = stored;
      // Title, description and labels are the present ones, with and without a cache.
      const pullRequest = { ...merged.pullRequest, head: { ...merged.pullRequest.head, sha: headSha } };
      const { cleanMerges, accounts } = facts.commits;
      const commits = { ...facts.commits, cleanMerges: new Set(cleanMerges), accounts: new Map(accounts) };
      // What is undefined is not in JSON.
      const reviews = { ...facts.reviews, requested: facts.reviews.requested };
      return { facts: { ...unreadFacts(pullRequest), ...facts, commits, reviews }, gone, failure: 'none' };
    },

    async write(merged, needed, { facts, gone, failure }) {
      if (failure !== 'none') {
        return;
      }
      const { changedFiles, commits, reviews, codeOwners, checks, conversations, triage, repository, pullRequest } =
        facts;
      const stored: Stored = {
        format: FORMAT,
        mergedAt: merged.mergedAt,
        needed,
        headSha: pullRequest.head.sha,
        facts: {
          changedFiles,
          reviews,
          codeOwners,
          checks,
          conversations,
          triage,
          repository,
          commits: { ...commits, cleanMerges: [...commits.cleanMerges], accounts: [...commits.accounts] },
        },
        gone,
      };
      const file = fileOf(merged);
      const unfinished = `${file}.${process.pid}.tmp`;
      await writeFile(unfinished, seal(stored), { mode: PRIVATE_FILE });
      await rename(unfinished, file);
    },
  };
}

function seal(stored: Stored): string {
  const text = JSON.stringify(stored);
  return `${hash('sha256', text)}\n${text}`;
}

/** Undefined when it is not what was written. */
function unseal(sealed: string): Stored | undefined {
  const end = sealed.indexOf('\n');
  const text = sealed.slice(end + 1);
  return end > 0 && hash('sha256', text) === sealed.slice(0, end) ? JSON.parse(text) : undefined;
}

/** Teams are never read of what was. What trailers name decides whose accounts were read. */
function covers(
  { teams: _, members: _had, authorTrailers: hadTrailers, ...had }: NeededFacts,
  { teams: __, members: _needed, authorTrailers, ...needed }: NeededFacts,
): boolean {
  if (authorTrailers.some((key) => !hadTrailers.includes(key))) {
    return false;
  }
  const having = new Map(Object.entries(had));
  return Object.entries(needed).every(([name, is]) => !is || having.get(name) === true);
}
