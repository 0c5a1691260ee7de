import type { Judging } from '../../composition/judging.ts';
import type { RequestBudget } from '../../forges/limits/spending.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { MergedPullRequest } from '../../forges/port/merged.ts';
import { MAX_REQUESTS_EACH } from '../../review/past/cost.ts';
import { judgePast } from '../../review/past/judge-past.ts';
import { type PastVerdict, pastVerdict } from '../../review/past/past-verdict.ts';
import { type PastFacts, readPastFacts } from '../../review/past/read-facts.ts';
import { neededFacts } from '../../review/policy/needs.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { shortTime } from '../columns.ts';
import { reasonOf } from '../failures.ts';
import type { Terminal } from '../terminal.ts';
import type { FactsCache } from './facts-cache.ts';

/** Pull requests in a row about which the forge did not answer: then it is the forge, and not they. */
const MAX_UNANSWERED = 3;
/** Without a terminal, a line for so many. */
const PROGRESS_EVERY = 10;

export interface History {
  /** In the order of the list. */
  readonly verdicts: readonly PastVerdict[];
  /** How many of them were read from the cache. */
  readonly fromCache: number;
  /** Why those after them were not judged. */
  readonly stoppedBy?: ForgeError;
}

export interface HistoryParts {
  readonly judging: Pick<Judging, 'forge' | 'threads' | 'statusContext'>;
  readonly budget: RequestBudget;
  readonly cache: FactsCache;
  readonly onProgress: (done: number) => void;
}

/** Judges merged pull requests one after the other. It stops where the forge does not answer, or where its limit is nearly reached. */
export async function judgeHistory(
  policy: Policy,
  list: readonly MergedPullRequest[],
  { judging, budget, cache, onProgress }: HistoryParts,
): Promise<History> {
  const { forge, threads, statusContext } = judging;
  const needed = neededFacts(policy);
  const verdicts: PastVerdict[] = [];
  let fromCache = 0;
  let unanswered = 0;

  async function readThen(merged: MergedPullRequest): Promise<PastFacts> {
    const known = await cache.read(merged, needed);
    if (known !== undefined) {
      fromCache += 1;
      return known;
    }
    budget.allow(MAX_REQUESTS_EACH);
    const past = await readPastFacts(forge, needed, merged, statusContext);
    unanswered = past.failure === 'unavailable' ? unanswered + 1 : 0;
    await cache.write(merged, needed, past);
    return past;
  }

  for (const merged of list) {
    try {
      const { facts, gone } = await readThen(merged);
      if (unanswered === MAX_UNANSWERED) {
        const answered = verdicts.slice(0, verdicts.length - MAX_UNANSWERED + 1);
        return { verdicts: answered, fromCache, stoppedBy: new ForgeError('unavailable', gone.at(-1) ?? '') };
      }
      verdicts.push(pastVerdict(merged, await judgePast(threads, policy, facts, forge.name), gone));
    } catch (error) {
      if (!(error instanceof ForgeError)) {
        throw error;
      }
      return { verdicts, fromCache, stoppedBy: error };
    }
    onProgress(verdicts.length);
  }
  return { verdicts, fromCache };
}

/** On a terminal one line that changes. */
export function progressOn({ stderr }: Pick<Terminal, 'stderr'>, total: number): (done: number) => void {
  return (done) => {
    if (stderr.isTTY === true) {
      stderr.write(`\r${done} of ${total} judged${done === total ? '\n' : ''}`);
    } else if (done % PROGRESS_EVERY === 0 || done === total) {
      stderr.write(`${done} of ${total} judged\n`);
    }
  };
}

/** Why a command stopped, and what to do. */
export function describeStop(stoppedBy: ForgeError, done: number, total: number, cache: string | undefined): string {
  const after = stoppedBy.retryAt === undefined ? '' : ` after ${shortTime(new Date(stoppedBy.retryAt))}`;
  const again =
    cache === undefined
      ? 'it begins again; with --cache <folder> it would go on where it was'
      : `it goes on where it was, with what is in ${cache}`;
  return `stopped after ${done} of ${total} pull requests: ${reasonOf(stoppedBy)}\nRun the same command again${after}: ${again}.\n`;
}
