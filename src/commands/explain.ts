import { openJudging } from '../composition/judging.ts';
import { type ForgeSettings, parseForgeConfig } from '../config/config.ts';
import { readPullRequestUrl } from '../forges/port/addresses.ts';
import type { PullRequest, PullRequestRef } from '../forges/port/pull-request.ts';
import { judge, type ReviewResult } from '../review/judge.ts';
import type { PolicyFile } from '../review/policy/load.ts';
import { explanation } from '../review/rendering/json.ts';
import { explain as explainEvaluation } from '../review/rendering/terminal.ts';
import { visible } from '../review/text.ts';
import type { Verdict } from '../review/verdict.ts';
import { defineCommand, WRONG_CONFIGURATION } from './command.ts';
import { configured, reasonOf, UsageError } from './failures.ts';
import { readPolicyOption } from './options.ts';
import { hasColours, type Terminal } from './terminal.ts';

const SUCCESS = 0;
const FAILURE = 1;
const UNDECIDED = 2;
const WAITING = 3;

export const explain = defineCommand({
  name: 'explain',
  usage: ['<pull request URL> [--policy <file>] [--json]'],
  text: `Judges a pull request as it is now, by its base branch's policy, and prints why each rule holds or doesn't.
It's a dry run: it writes nothing to the forge, and doesn't need a database.

Use the URL of the pull request's page, on the configured forge:
  https://github.com/owner/name/pull/7      https://git.example.com/owner/name/pulls/7`,
  options: {
    policy: {
      type: 'string',
      value: 'file',
      help: "judge by this file instead of the base branch's policy. The policy it extends and the organisation's baseline still apply",
    },
    json: { type: 'boolean', default: false, help: 'print everything as one JSON object' },
  },
  positionals: { least: 1, most: 1, expected: 'exactly one pull request URL' },
  notes: 'It reads the baseline as it is now. Only terminals get colours; NO_COLOR disables them.',
  settings:
    'FORGE, FORGE_URL and FORGE_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, like the worker; POLICY_FILE, POLICY_REPOSITORY, STATUS_CONTEXT. A read-only token is enough.',
  exitCodes: {
    [SUCCESS]: 'success, or nothing to judge: no policy, closed, or archived',
    [FAILURE]: 'failure',
    [UNDECIDED]:
      "error: a rule couldn't be judged, the policy is invalid, there's no such pull request, or the forge didn't answer",
    [WAITING]: 'pending: someone else must act, such as a reviewer',
    ...WRONG_CONFIGURATION,
  },
  async run({ values, positionals: [address = ''] }, terminal) {
    const settings = configured(parseForgeConfig(terminal.env));
    const addressed = readPullRequestUrl(settings.forge, settings.forgeUrl, address);
    if (!addressed.ok) {
      throw new UsageError(addressed.reason);
    }
    const policy = await readPolicyOption(values.policy, terminal.folder);
    return explainPullRequest(settings, addressed.ref, policy, values.json, terminal);
  },
});

const CODES = { success: SUCCESS, failure: FAILURE, error: UNDECIDED, pending: WAITING } as const;
type ExitCode = typeof SUCCESS | typeof FAILURE | typeof UNDECIDED | typeof WAITING;

/** `policy`: used instead of that of the base branch. */
async function explainPullRequest(
  settings: ForgeSettings,
  ref: PullRequestRef,
  policy: PolicyFile | undefined,
  json: boolean,
  terminal: Terminal,
): Promise<ExitCode> {
  const judging = await openJudging(settings, terminal.startWorkers());
  const { forge } = judging;
  try {
    const recordedComments = async () => ({ posted: new Map() });
    const result = await judge({ ...judging, replacementPolicy: policy, recordedComments }, ref);
    // A review treats a closed pull request and a missing one alike; the user wants to know which it is.
    const closed = result.kind === 'over' ? await forge.pullRequest(ref) : undefined;
    terminal.stdout.write(
      json
        ? `${JSON.stringify(explanation(result, closed), null, 2)}\n`
        : describe(ref, result, closed, hasColours(terminal)),
    );
    return exitCode(result, closed);
  } catch (error) {
    terminal.stderr.write(`gatehouse explain: cannot read the pull request: ${reasonOf(error)}\n`);
    return UNDECIDED;
  } finally {
    await judging.close();
  }
}

function exitCode(result: ReviewResult, closed: PullRequest | undefined): ExitCode {
  if (result.kind === 'over') {
    return closed === undefined ? UNDECIDED : SUCCESS;
  }
  if (result.kind === 'no-policy' || result.kind === 'archived') {
    return SUCCESS;
  }
  return CODES[result.verdict.state];
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
        ? `${repository}#${number} does not exist, or these credentials cannot see it.\n`
        : `${titleOf(closed)}\n\nIt is closed, and Gatehouse only judges open pull requests.\n`;
    case 'archived':
      return `${titleOf(result.pullRequest)}\n\nIts repository is archived and cannot merge anything, so Gatehouse does not judge it.\n`;
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
    judged ? 'The policy that this pull request proposes has faults:' : 'The policy cannot be used:',
    ...policyFaults.map(({ file, line, column, message }) => `  ${visible(`${file}:${line}:${column}: ${message}`)}`),
    ...(fixesPolicy === true ? ['This pull request’s own policy is valid: merging it fixes this.'] : []),
  ];
  return `\n${lines.join('\n')}\n`;
}
