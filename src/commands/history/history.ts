import { type Judging, openJudging } from '../../composition/judging.ts';
import type { ForgeSettings } from '../../config/config.ts';
import { operatorsPeople } from '../../facts/authors/people-settings.ts';
import { gatherPast, type PastFacts } from '../../facts/gather.ts';
import { makeRequestBudget, type RequestBudget } from '../../forges/limits/spending.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { ForgeName } from '../../forges/port/forges.ts';
import type { MergedList, MergedPullRequest } from '../../forges/port/merged.ts';
import { costOf, MAX_OTHER_REQUESTS, MAX_REQUESTS_EACH } from '../../review/past/cost.ts';
import { judgePast } from '../../review/past/judge-past.ts';
import { type PastVerdict, pastVerdict } from '../../review/past/past-verdict.ts';
import type { Fault } from '../../review/policy/faults.ts';
import { neededFacts } from '../../review/policy/needs.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { visible } from '../../review/text.ts';
import { reasonOf } from '../failures.ts';
import { shortTime, type Terminal } from '../terminal.ts';
import type { FactsCache } from './facts-cache.ts';
import type { HistoryOptions } from './options.ts';

/** What a command judges the merged pull requests of a repository by. */
export type HistoryPolicy =
  | { readonly kind: 'no-repository' }
  | { readonly kind: 'absent'; readonly branch: string }
  | { readonly kind: 'broken'; readonly faults: readonly Fault[] }
  /** `repository`: its present name. */
  | { readonly kind: 'policy'; readonly repository: string; readonly policy: Policy };

/** What a command has found out of the merged pull requests of a repository. */
export interface OverHistory extends History {
  readonly forge: ForgeName;
  readonly repository: string;
  readonly policy: Policy;
  readonly list: MergedList;
  readonly requests: number;
}

export const UNUSABLE = 2;
export const STOPPED = 3;

/**
 * Judges the merged pull requests of a repository by a policy. Says on standard error what it costs, how far it is, and
 * what is wrong. Resolves to an exit code where nothing was judged; where not all were, `stoppedBy` is set.
 */
export async function overHistory(
  command: string,
  { stderr, startWorkers }: Pick<Terminal, 'stderr' | 'startWorkers'>,
  settings: ForgeSettings,
  { repository: name, last, reserve, cache, cacheFolder }: HistoryOptions,
  policyFor: (judging: Judging) => Promise<HistoryPolicy>,
): Promise<OverHistory | typeof UNUSABLE | typeof STOPPED> {
  const failed = <C extends typeof UNUSABLE | typeof STOPPED>(text: string, code: C) => {
    stderr.write(`gatehouse ${command}: ${text}`);
    return code;
  };
  const budget = makeRequestBudget(reserve);
  const judging = await openJudging(settings, startWorkers(), budget.hooks);
  const { forge } = judging;
  try {
    budget.allow(MAX_OTHER_REQUESTS);
    const found = await policyFor(judging);
    if (found.kind !== 'policy') {
      return failed(whyNot(found, name), UNUSABLE);
    }
    const { repository, policy } = found;
    const { most, usualEach } = costOf(forge.name, neededFacts(policy), last);
    stderr.write(
      `At most ${most} requests: ${MAX_OTHER_REQUESTS} for the policy and the list, ` +
        `${usualEach === 0 ? 'none' : MAX_REQUESTS_EACH} for each of ${last} pull requests (about ${usualEach} for a small one)\n`,
    );
    const list = await forge.merged.list(repository, last);
    if (list === undefined) {
      return failed(whyNot({ kind: 'no-repository' }, name), UNUSABLE);
    }
    const total = list.merged.length;
    if (total === 0) {
      stderr.write(`${repository} has no merged pull requests: there is nothing to judge.\n`);
    }
    const onProgress = progressOn({ stderr }, total);
    const history = await judgeHistory(policy, list.merged, { judging, budget, cache, onProgress });
    if (history.stoppedBy !== undefined) {
      failed(describeStop(history.stoppedBy, history.verdicts.length, total, cacheFolder), STOPPED);
    }
    return { ...history, forge: forge.name, repository, policy, list, requests: budget.spent() };
  } catch (error) {
    if (!(error instanceof ForgeError)) {
      throw error;
    }
    return error.kind === 'rate-limited'
      ? failed(describeStop(error, 0, last, cacheFolder), STOPPED)
      : failed(`${name} could not be read: ${reasonOf(error)}\n`, UNUSABLE);
  } finally {
    await judging.close();
  }
}

/** Why there is nothing to judge by. */
function whyNot(found: Exclude<HistoryPolicy, { kind: 'policy' }>, name: string): string {
  switch (found.kind) {
    case 'no-repository':
      return `${name} does not exist, or these credentials may not see it\n`;
    case 'absent':
      return `${name} has no policy in its default branch ${visible(found.branch)}, and POLICY_FILE is not set: name one with --policy <file>\n`;
    case 'broken':
      return `the policy cannot be used:\n${found.faults
        .map(({ file, line, column, message }) => `  ${visible(`${file}:${line}:${column}: ${message}`)}\n`)
        .join('')}`;
  }
}

/** Pull requests in a row about which the forge did not answer: then it is the forge, and not they. */
const MAX_UNANSWERED = 3;
/** Without a terminal, a line for so many. */
const PROGRESS_EVERY = 10;

interface History {
  /** In the order of the list. */
  readonly verdicts: readonly PastVerdict[];
  /** How many of them were read from the cache. */
  readonly fromCache: number;
  /** Why those after them were not judged. */
  readonly stoppedBy?: ForgeError;
}

interface HistoryDeps {
  readonly judging: Pick<Judging, 'forge' | 'workers' | 'statusContext'>;
  readonly budget: RequestBudget;
  readonly cache: FactsCache;
  readonly onProgress: (done: number) => void;
}

/**
 * Judges merged pull requests one after the other. It stops where the forge does not answer, or where its limit is
 * nearly reached.
 */
async function judgeHistory(
  policy: Policy,
  list: readonly MergedPullRequest[],
  { judging, budget, cache, onProgress }: HistoryDeps,
): Promise<History> {
  const { forge, workers, statusContext } = judging;
  const needed = neededFacts(policy);
  const { authorTrailers } = policy;
  const verdicts: PastVerdict[] = [];
  let fromCache = 0;
  let unanswered = 0;

  async function readThen(merged: MergedPullRequest): Promise<PastFacts> {
    const cached = await cache.read(merged, { needs: needed, authorTrailers });
    if (cached !== undefined) {
      fromCache += 1;
      return { ...cached, facts: { ...cached.facts, people: operatorsPeople(forge) } };
    }
    budget.allow(MAX_REQUESTS_EACH);
    const past = await gatherPast({ forge, statusContext, authorTrailers }, needed, merged);
    unanswered = past.failure === 'unavailable' ? unanswered + 1 : 0;
    await cache.write(merged, { needs: needed, authorTrailers }, past);
    return past;
  }

  for (const merged of list) {
    try {
      const { facts, gone } = await readThen(merged);
      if (unanswered === MAX_UNANSWERED) {
        const answered = verdicts.slice(0, verdicts.length - MAX_UNANSWERED + 1);
        return { verdicts: answered, fromCache, stoppedBy: new ForgeError('unavailable', gone.at(-1) ?? '') };
      }
      verdicts.push(pastVerdict(merged, await judgePast(workers, policy, facts, forge.name), gone));
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
function progressOn({ stderr }: Pick<Terminal, 'stderr'>, total: number): (done: number) => void {
  return (done) => {
    if (stderr.isTTY === true) {
      stderr.write(`\r${done} of ${total} judged${done === total ? '\n' : ''}`);
    } else if (done % PROGRESS_EVERY === 0 || done === total) {
      stderr.write(`${done} of ${total} judged\n`);
    }
  };
}

/** Why a command stopped, and what to do. */
function describeStop(stoppedBy: ForgeError, done: number, total: number, cache: string | undefined): string {
  const after = stoppedBy.retryAt === undefined ? '' : ` after ${shortTime(new Date(stoppedBy.retryAt))}`;
  const again =
    cache === undefined
      ? 'it begins again; with --cache <folder> it would continue where it stopped'
      : `it continues where it stopped, with what is in ${cache}`;
  return `stopped after ${done} of ${total} pull requests: ${reasonOf(stoppedBy)}\nRun the same command again${after}: ${again}.\n`;
}
