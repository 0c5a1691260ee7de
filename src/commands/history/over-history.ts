import { type Judging, openJudging } from '../../composition/judging.ts';
import type { ForgeSettings } from '../../config/config.ts';
import { makeRequestBudget } from '../../forges/limits/spending.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { ForgeName } from '../../forges/port/forges.ts';
import type { MergedList } from '../../forges/port/merged.ts';
import { costOf, MAX_OTHER_REQUESTS, MAX_REQUESTS_EACH } from '../../review/past/cost.ts';
import type { Fault } from '../../review/policy/faults.ts';
import { neededFacts } from '../../review/policy/needs.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { visible } from '../../review/text.ts';
import { reasonOf } from '../failures.ts';
import type { Terminal } from '../terminal.ts';
import { describeStop, type History, judgeHistory, progressOn } from './history.ts';
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
 * Judges the merged pull requests of a repository by a policy. Says on standard error what it costs, how far it is, and what is
 * wrong. Resolves to an exit code where nothing was judged; where not all were, `stoppedBy` is set.
 */
export async function overHistory(
  command: string,
  { stderr }: Pick<Terminal, 'stderr'>,
  settings: ForgeSettings,
  { repository: name, last, reserve, cache, cacheFolder }: HistoryOptions,
  policyFor: (judging: Judging) => Promise<HistoryPolicy>,
): Promise<OverHistory | number> {
  const failed = (text: string, code = UNUSABLE) => {
    stderr.write(`gatehouse ${command}: ${text}`);
    return code;
  };
  const budget = makeRequestBudget(reserve);
  const judging = await openJudging(settings, budget.hooks);
  const { forge } = judging;
  try {
    budget.allow(MAX_OTHER_REQUESTS);
    const found = await policyFor(judging);
    if (found.kind !== 'policy') {
      return failed(whyNot(found, name));
    }
    const { repository, policy } = found;
    const { most, usualEach } = costOf(forge.name, neededFacts(policy), last);
    stderr.write(
      `At most ${most} requests: ${MAX_OTHER_REQUESTS} for the policy and the list, ` +
        `${usualEach === 0 ? 'none' : MAX_REQUESTS_EACH} for each of ${last} pull requests (about ${usualEach} for a small one)\n`,
    );
    const list = await forge.merged.list(repository, last);
    if (list === undefined) {
      return failed(whyNot({ kind: 'no-repository' }, name));
    }
    const total = list.merged.length;
    if (total === 0) {
      stderr.write(`${repository} has no merged pull requests: there is nothing to judge.\n`);
    }
    const onProgress = progressOn({ stderr }, total);
    const history = await judgeHistory(policy, list.merged, { judging, budget, cache, onProgress });
    if (history.stoppedBy !== undefined) {
      failed(describeStop(history.stoppedBy, history.verdicts.length, total, cacheFolder));
    }
    return { ...history, forge: forge.name, repository, policy, list, requests: budget.spent() };
  } catch (error) {
    if (!(error instanceof ForgeError)) {
      throw error;
    }
    return error.kind === 'rate-limited'
      ? failed(describeStop(error, 0, last, cacheFolder), STOPPED)
      : failed(`${name} could not be read: ${reasonOf(error)}\n`);
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
