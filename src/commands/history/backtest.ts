import type { Judging } from '../../composition/judging.ts';
import { parseForgeConfig } from '../../config/config.ts';
import { policyInForce } from '../../review/policy/in-force.ts';
import type { PolicyFile } from '../../review/policy/load.ts';
import { defineCommand, WRONG_CONFIGURATION } from '../command.ts';
import { configured } from '../failures.ts';
import { readPolicyOption } from '../options.ts';
import { backtestJson, describeBacktest } from './backtest-text.ts';
import { type HistoryPolicy, overHistory, STOPPED, UNUSABLE } from './history.ts';
import { HISTORY_OPTIONS, HISTORY_SETTINGS, historyOptions, ONE_REPOSITORY } from './options.ts';

const DONE = 0;

export const backtest = defineCommand({
  name: 'backtest',
  usage: ['<repository> [--policy <file>] [options]'],
  text: `Judges the pull requests of a repository that were merged last, as they were when they were merged, as far as the
forge still has that. Prints how often each rule held, and which pull requests would have been stopped, and why. Nothing
is written to the forge, and no database is needed. It first prints how many requests it takes at most.

The repository is owner/name, or the address of its page on the configured forge.`,
  options: {
    policy: {
      type: 'string',
      value: 'file',
      help: 'judge by this file instead of the policy of the default branch',
    },
    ...HISTORY_OPTIONS,
    json: { type: 'boolean', default: false, help: 'print everything as one JSON object' },
  },
  positionals: ONE_REPOSITORY,
  notes: `What the forge no longer has cannot be judged, and is counted as such: who was in a team then, and whether a review
that counted was dismissed, perhaps later. Title, description, labels, checks, requested reviews and conversations are
those of today; rules about them are marked with *. Overrides are not considered.`,
  settings: HISTORY_SETTINGS,
  exitCodes: {
    [DONE]: 'done',
    [UNUSABLE]: 'no policy, a broken policy, no such repository, or no answer from the forge',
    [STOPPED]: "stopped early, at the forge's limit or because it no longer answered: what was judged is printed",
    1: 'failed for another reason',
    ...WRONG_CONFIGURATION,
  },
  async run({ values, positionals }, terminal) {
    const settings = configured(parseForgeConfig(terminal.env));
    const file = await readPolicyOption(values.policy, terminal.folder);
    const options = await historyOptions(positionals, values, settings, terminal.folder);
    const found = await overHistory('backtest', terminal, settings, options, (judging) =>
      nextPolicy(judging, options.repository, file),
    );
    if (typeof found === 'number') {
      return found;
    }
    if (values.json) {
      terminal.stdout.write(`${JSON.stringify(backtestJson(found), null, 2)}\n`);
    } else if (found.list.merged.length > 0) {
      terminal.stdout.write(describeBacktest(found));
    }
    return found.stoppedBy === undefined ? DONE : STOPPED;
  },
});

/**
 * What a repository's next pull request into its default branch would be judged by. `file`: taken instead of its own
 * policy.
 */
async function nextPolicy(judging: Judging, name: string, file: PolicyFile | undefined): Promise<HistoryPolicy> {
  const { forge } = judging;
  const found = await forge.repository(name);
  if (found === undefined) {
    return { kind: 'no-repository' };
  }
  const { name: repository, defaultBranch: branch } = found;
  const commit = file === undefined ? await forge.branchCommit(repository, branch) : undefined;
  const { policy } = await policyInForce(judging, { repository, commit, file, shown: false });
  switch (policy.kind) {
    case 'absent':
      return { kind: 'absent', branch };
    case 'broken':
      return { kind: 'broken', faults: policy.faults };
    case 'policy':
      return { kind: 'policy', repository, policy: policy.policy };
  }
}
