import type { Judging } from '../../composition/judging.ts';
import type { RepositoryNow } from '../../forges/port/pull-request.ts';
import { policyInForce } from '../../review/policy/in-force.ts';
import type { PolicyFile } from '../../review/policy/load.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { visible } from '../../review/text.ts';
import { defineCommand, WRONG_CONFIGURATION } from '../command.ts';
import { readPolicyOption } from '../options.ts';
import { backtestJson, describeBacktest } from './backtest-text.ts';
import { DONE, HISTORY_COMMAND, LIMIT_OPTION, NothingToJudge, overHistory, STOPPED, UNUSABLE } from './history.ts';

export const backtest = defineCommand({
  ...HISTORY_COMMAND,
  name: 'backtest',
  usage: ['<repository> [--policy <file>] [--limit <number>] [--json]'],
  text: `Judges a repository's last merged pull requests, at the commit that was merged. Prints how often each rule held, which
pull requests would have been stopped, and why. It writes nothing to the forge, and doesn't need a database.

Name the repository as owner/name, or by its URL on the configured forge.`,
  options: {
    policy: {
      type: 'string',
      value: 'file',
      help: "judge by this file instead of the default branch's policy",
    },
    limit: LIMIT_OPTION,
    json: { type: 'boolean', default: false, help: 'print everything as one JSON object' },
  },
  notes: `Files and commits are as of the merge. Everything else is as of today, and the output says what. If the forge no longer
has something, rules about it cannot be judged. Overrides are ignored. It leaves the last 500 requests of the forge's
hourly limit to reviews, if the forge reports how many are left.`,
  exitCodes: {
    [DONE]: 'done',
    [UNUSABLE]: 'no policy, an invalid policy, no such repository, or no answer from the forge',
    [STOPPED]: "stopped early, at the forge's limit or because it stopped answering: prints the results so far",
    1: 'failed for another reason',
    ...WRONG_CONFIGURATION,
  },
  async run(input, terminal) {
    const { policy, json } = input.values;
    const file = await readPolicyOption(policy, terminal.folder);
    const found = await overHistory('backtest', input, terminal, (judging, repository) =>
      nextPolicy(judging, repository, file),
    );
    if (typeof found === 'number') {
      return found;
    }
    if (json) {
      terminal.stdout.write(`${JSON.stringify(backtestJson(found), null, 2)}\n`);
    } else if (found.list.merged.length > 0) {
      terminal.stdout.write(describeBacktest(found));
    }
    return found.stopped ? STOPPED : DONE;
  },
});

/**
 * What a repository's next pull request into its default branch would be judged by. `file`: taken instead of its own
 * policy.
 */
async function nextPolicy(
  judging: Judging,
  { name: repository, defaultBranch }: RepositoryNow,
  file: PolicyFile | undefined,
): Promise<Policy> {
  const commit = file === undefined ? await judging.forge.branchCommit(repository, defaultBranch) : undefined;
  const { policy } = await policyInForce(judging, { repository, commit, file, shown: false });
  if (policy.kind === 'absent') {
    throw new NothingToJudge(
      `${repository} has no policy in its default branch ${visible(defaultBranch)}, and POLICY_FILE is not set: name one with --policy <file>`,
    );
  }
  if (policy.kind === 'broken') {
    const faults = policy.faults.map(({ file: at, line, column, message }) => `${at}:${line}:${column}: ${message}`);
    throw new NothingToJudge(`the policy cannot be used:${faults.map((fault) => `\n  ${visible(fault)}`).join('')}`);
  }
  return policy.policy;
}
