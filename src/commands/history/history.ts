import { type Judging, openJudging } from '../../composition/judging.ts';
import { parseForgeConfig } from '../../config/config.ts';
import type { Reading } from '../../facts/fact.ts';
import { readRepository } from '../../forges/port/addresses.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { MergedList, MergedPullRequest } from '../../forges/port/merged.ts';
import type { RepositoryNow } from '../../forges/port/pull-request.ts';
import type { ForgeHooks } from '../../forges/transport/forge-fetch.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { configured, reasonOf, UsageError } from '../failures.ts';
import { parseNumber } from '../options.ts';
import { shortTime, type Terminal } from '../terminal.ts';
import { type PastVerdict, pastVerdict } from './past-verdict.ts';
import { readMerged } from './read-merged.ts';

export const DONE = 0;
export const UNUSABLE = 2;
export const STOPPED = 3;

const MAX_LIMIT = 1_000;
/** Pull requests in a row about which the forge did not answer: then it is the forge, and not they. */
const MAX_UNANSWERED = 3;
/** Without a terminal, a line for so many. */
const PROGRESS_EVERY = 10;

/** What the commands that judge merged pull requests have in common. */
export const HISTORY_COMMAND = {
  positionals: { least: 1, most: 1, expected: 'exactly one repository, as owner/name' },
  settings: 'the same as gatehouse explain.',
} as const;

export const LIMIT_OPTION = {
  type: 'string',
  default: '100',
  value: 'number',
  help: `how many of the last merged pull requests, 1 to ${MAX_LIMIT}; 100 by default`,
} as const;

export interface HistoryInput {
  readonly values: { readonly limit: string };
  readonly positionals: readonly string[];
}

/** What is known of the merged pull requests of a repository. */
export interface History {
  readonly repository: string;
  readonly policy: Policy;
  readonly list: MergedList;
  /** In the order of the list. */
  readonly verdicts: readonly PastVerdict[];
  /** Whether those after them were not judged. */
  readonly stopped: boolean;
}

/** There is nothing to judge, or nothing to judge by: the message says why. */
export class NothingToJudge extends Error {}

/**
 * Judges the merged pull requests of a repository by the policy that `policyFor` finds. Says on standard error how far
 * it is, and what is wrong. Resolves to an exit code where nothing was judged.
 */
export async function overHistory(
  command: string,
  { values, positionals: [name = ''] }: HistoryInput,
  terminal: Terminal,
  policyFor: (judging: Judging, repository: RepositoryNow) => Promise<Policy>,
): Promise<History | typeof UNUSABLE | typeof STOPPED> {
  const settings = configured(parseForgeConfig(terminal.env));
  const addressed = readRepository(settings.forge, settings.forgeUrl, name);
  if (!addressed.ok) {
    throw new UsageError(addressed.reason);
  }
  const limit = parseNumber('--limit', values.limit, MAX_LIMIT);
  const say = (text: string) => terminal.stderr.write(`gatehouse ${command}: ${text}\n`);
  const judging = await openJudging(settings, terminal.startWorkers(), keepReserve());
  try {
    const found = await judging.forge.repository(addressed.repository);
    const policy = found && (await policyFor(judging, found));
    const list = found && (await judging.forge.merged.list(found.name, limit));
    if (found === undefined || policy === undefined || list === undefined) {
      throw new NothingToJudge(`${name} does not exist, or these credentials cannot see it`);
    }
    if (list.merged.length === 0) {
      terminal.stderr.write(`${found.name} has no merged pull requests: there is nothing to judge.\n`);
    }
    const sources = { ...judging, writeAccess: judging.forge.writeAccess(found.name) };
    const { verdicts, stoppedBy } = await judgeEach(sources, policy, list.merged, terminal);
    if (stoppedBy !== undefined) {
      say(`stopped after ${verdicts.length} of ${list.merged.length} pull requests: ${reasonOf(stoppedBy)}`);
    }
    return { repository: found.name, policy, list, verdicts, stopped: stoppedBy !== undefined };
  } catch (error) {
    if (!(error instanceof ForgeError || error instanceof NothingToJudge)) {
      throw error;
    }
    say(error instanceof ForgeError ? `${name} could not be read: ${reasonOf(error)}` : error.message);
    return error instanceof ForgeError && error.kind === 'rate-limited' ? STOPPED : UNUSABLE;
  } finally {
    await judging.close();
  }
}

/** Left in an hour for the reviews, which may share the forge's limit. */
const KEPT_REQUESTS = 500;

/** Stops before it takes {@link KEPT_REQUESTS}. */
function keepReserve(): ForgeHooks {
  const left = new Map<string, { readonly remaining: number; readonly resetAt: number | undefined }>();
  return {
    onRateLimit: ({ api, ...limit }) => left.set(api, limit),
    onWillRequest() {
      const low = [...left.values()].find(({ remaining }) => remaining <= KEPT_REQUESTS);
      if (low !== undefined) {
        const until = low.resetAt === undefined ? '' : ` until ${shortTime(new Date(low.resetAt))}`;
        const message = `${low.remaining} requests are left of the forge's limit${until}, and they are kept for reviews`;
        throw new ForgeError('rate-limited', message);
      }
    },
  };
}

/** One after the other, until the forge's limit is nearly reached or it no longer answers. */
async function judgeEach(
  judging: Judging & Pick<Reading<unknown>, 'writeAccess'>,
  policy: Policy,
  list: readonly MergedPullRequest[],
  { stderr }: Pick<Terminal, 'stderr'>,
): Promise<{ readonly verdicts: readonly PastVerdict[]; readonly stoppedBy?: ForgeError }> {
  const verdicts: PastVerdict[] = [];
  let unanswered = 0;
  for (const merged of list) {
    const { facts, failure } = await readMerged(judging, policy, merged.pullRequest);
    unanswered = failure?.kind === 'unavailable' ? unanswered + 1 : 0;
    if (failure?.kind === 'rate-limited') {
      return { verdicts, stoppedBy: failure };
    }
    if (failure !== undefined && unanswered === MAX_UNANSWERED) {
      return { verdicts: verdicts.slice(0, 1 - MAX_UNANSWERED), stoppedBy: failure };
    }
    verdicts.push(pastVerdict(merged, await judging.workers.evaluate(policy, facts), failure?.message));
    showProgress(stderr, verdicts.length, list.length);
  }
  return { verdicts };
}

/** On a terminal one line that changes. */
function showProgress(stderr: Terminal['stderr'], done: number, total: number): void {
  if (stderr.isTTY === true) {
    stderr.write(`\r${done} of ${total} judged${done === total ? '\n' : ''}`);
  } else if (done % PROGRESS_EVERY === 0 || done === total) {
    stderr.write(`${done} of ${total} judged\n`);
  }
}
