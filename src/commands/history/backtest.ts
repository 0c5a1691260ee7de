import { parseArgs } from 'node:util';
import type { Judging } from '../../composition/judging.ts';
import { parseForgeConfig } from '../../config/config.ts';
import { policyInForce } from '../../review/policy/in-force.ts';
import type { PolicyFile } from '../../review/policy/load.ts';
import { configured } from '../failures.ts';
import { readOwnPolicy } from '../own-policy.ts';
import type { Terminal } from '../terminal.ts';
import { backtestJson, describeBacktest } from './backtest-text.ts';
import { HISTORY_HELP, HISTORY_OPTIONS, historyOptions } from './options.ts';
import { type HistoryPolicy, overHistory, STOPPED } from './over-history.ts';

const DONE = 0;

const HELP = `Usage: gatehouse backtest <repository> [--policy <file>] [options]

Judges the pull requests of a repository that were merged last, as they were when they were merged, as far as the forge still
tells. Prints how often each rule held, and which pull requests would have been stopped, and why. Nothing is written to the
forge, and no database is needed. It first says how many requests it takes at most.

The repository is owner/name, or the address of its page on the forge that is configured.

Options:
  --policy <file>      judge by this file instead of the policy of the default branch
${HISTORY_HELP}
  --json               print everything as one JSON object
  --help               print this

What history does not tell cannot be judged, and is counted as such: who was in a team then, and whether a review counted that
was dismissed, perhaps later. Title, description, labels, checks and requested reviews are those of today; rules about them are
marked with *. Overrides are not considered.

Settings: as for gatehouse explain.

Exit codes: 0 done; 2 no policy, a broken policy, no such repository, or no answer from the forge; 3 stopped before its end, at
the forge's limit or because it no longer answered: what was judged is printed; 64 wrong usage; 78 wrong configuration.
`;

export async function backtest(args: readonly string[], terminal: Terminal, folder = '.'): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...HISTORY_OPTIONS, policy: { type: 'string' }, json: { type: 'boolean', default: false } },
  });
  if (values.help === true) {
    terminal.stdout.write(HELP);
    return DONE;
  }
  const settings = configured(parseForgeConfig(terminal.env));
  const file = values.policy === undefined ? undefined : await readOwnPolicy(values.policy, folder);
  const options = await historyOptions(positionals, values, settings, folder);
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
}

/** What a repository's next pull request into its default branch would be judged by. `file`: taken instead of its own policy. */
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
