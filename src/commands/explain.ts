import { parseArgs } from 'node:util';
import { openJudging } from '../composition/judging.ts';
import { parseForgeConfig } from '../config/config.ts';
import { readPullRequestUrl } from '../forges/port/addresses.ts';
import type { PullRequest, PullRequestRef } from '../forges/port/pull-request.ts';
import type { Verdict } from '../review/evaluation/verdict.ts';
import { judge, type ReviewResult } from '../review/judge.ts';
import { explanation } from '../review/rendering/json.ts';
import { explain as explainEvaluation } from '../review/rendering/terminal.ts';
import { visible } from '../review/text.ts';
import { configured, reasonOf, UsageError } from './failures.ts';
import { readOwnPolicy } from './own-policy.ts';
import { hasColours, type Terminal } from './terminal.ts';

const SUCCESS = 0;
const FAILURE = 1;
const UNDECIDED = 2;
const WAITING = 3;

const HELP = `Usage: gatehouse explain <pull request URL> [--policy <file>] [--json]

Judges a pull request as it is now, by the policy of its base branch, and prints why every rule holds or does not.
It is a dry run: nothing is written to the forge, and no database is needed.

The URL is that of the pull request's page, on the forge that is configured:
  https://github.com/owner/name/pull/7      https://git.example.com/owner/name/pulls/7

Options:
  --policy <file>  judge by this file instead of the policy of the base branch. What it extends is read, and the
                   organisation's baseline stays in force
  --json           print everything as one JSON object
  --help           print this

Settings: FORGE, FORGE_URL and FORGE_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, as the worker has them;
POLICY_FILE, POLICY_REPOSITORY, STATUS_CONTEXT. The baseline is read as it is now. The token needs to read only. Colours are for terminals, and left out where NO_COLOR is set.

Exit codes: 0 success, or nothing to judge (no policy, closed, archived); 1 failure; 2 error: a rule that could not be judged,
a broken policy, no such pull request, or no answer from the forge; 3 pending: only others can act, such as those who
approve; 64 wrong usage; 78 wrong configuration.
`;

export async function explain(args: readonly string[], terminal: Terminal, folder = '.'): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      policy: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    terminal.stdout.write(HELP);
    return SUCCESS;
  }
  const [address, ...more] = positionals;
  if (address === undefined || more.length > 0) {
    throw new UsageError('expected exactly one pull request URL');
  }
  const settings = configured(parseForgeConfig(terminal.env));
  const addressed = readPullRequestUrl(settings.forge, settings.forgeUrl, address);
  if (!addressed.ok) {
    throw new UsageError(addressed.reason);
  }
  const policy = values.policy === undefined ? undefined : await readOwnPolicy(values.policy, folder);
  const judging = await openJudging(settings);
  const { forge } = judging;
  try {
    const knownComments = async () => ({ posted: new Map() });
    const result = await judge({ ...judging, givenPolicy: policy, knownComments }, addressed.ref);
    // A review treats a closed pull request and a missing one alike; the user wants to know which it is.
    const closed = result.kind === 'over' ? await forge.pullRequest(addressed.ref) : undefined;
    terminal.stdout.write(
      values.json
        ? `${JSON.stringify(explanation(result, closed), null, 2)}\n`
        : describe(addressed.ref, result, closed, hasColours(terminal)),
    );
    return exitCode(result, closed);
  } catch (error) {
    terminal.stderr.write(`gatehouse explain: the pull request could not be read: ${reasonOf(error)}\n`);
    return UNDECIDED;
  } finally {
    await judging.close();
  }
}

function exitCode(result: ReviewResult, closed: PullRequest | undefined): number {
  if (result.kind === 'over') {
    return closed === undefined ? UNDECIDED : SUCCESS;
  }
  if (result.kind === 'no-policy' || result.kind === 'archived') {
    return SUCCESS;
  }
  return { success: SUCCESS, failure: FAILURE, error: UNDECIDED, pending: WAITING }[result.verdict.state];
}

function describe(
  { repository, number }: PullRequestRef,
  result: ReviewResult,
  closed: PullRequest | undefined,
  colours: boolean,
): string {
  switch (result.kind) {
    case 'over':
      return closed === undefined
        ? `${repository}#${number} does not exist, or these credentials may not see it.\n`
        : `${titleOf(closed)}\n\nIt is closed, and Gatehouse judges open pull requests only.\n`;
    case 'archived':
      return `${titleOf(result.pullRequest)}\n\nIts repository is archived, where nothing can be merged: Gatehouse does not judge it.\n`;
    case 'no-policy':
      return (
        `${titleOf(result.pullRequest)}\n\nNo policy: its base branch ` +
        `${visible(result.pullRequest.base.branch)} has none, and POLICY_FILE is not set.\n`
      );
    case 'judged': {
      const { pullRequest, evaluation, verdict } = result;
      const tree =
        evaluation === undefined
          ? `${verdict.state}: ${visible(verdict.description)}\n`
          : explainEvaluation(evaluation, verdict, { colours });
      return `${titleOf(pullRequest)}\n\n${tree}${faultsOf(verdict, evaluation !== undefined)}`;
    }
  }
}

function titleOf({ repository, number, title, head, base, author }: PullRequest): string {
  const from = `${head.branch} at ${head.sha.slice(0, 10)} into ${base.branch}`;
  return `${repository}#${number} ${visible(title)}\n${visible(`${from}, by ${author}`)}`;
}

function faultsOf({ policyFaults, fixesPolicy }: Verdict, judged: boolean): string {
  if (policyFaults.length === 0) {
    return '';
  }
  const lines = [
    judged ? 'The policy as this pull request would change it has faults:' : 'The policy cannot be used:',
    ...policyFaults.map(({ file, line, column, message }) => `  ${visible(`${file}:${line}:${column}: ${message}`)}`),
    ...(fixesPolicy === true ? ['This pull request’s own policy is valid: merging it fixes this.'] : []),
  ];
  return `\n${lines.join('\n')}\n`;
}
