import { parseArgs } from 'node:util';
import { openJudging } from '../composition/judging.ts';
import { parseForgeConfig } from '../config.ts';
import { ForgeError } from '../forges/forge-error.ts';
import { makeRequestBudget } from '../forges/request-budget.ts';
import { costOf, MAX_OTHER_REQUESTS, MAX_REQUESTS_EACH } from '../review/past/cost.ts';
import { type PolicyInForce, policyInForce } from '../review/past/policy-in-force.ts';
import { neededFacts } from '../review/policy/needs.ts';
import { visible } from '../review/text.ts';
import { backtestJson, describeBacktest } from './backtest-text.ts';
import { configured, reasonOf } from './failures.ts';
import { describeStop, judgeHistory, progressOn } from './history.ts';
import { HISTORY_HELP, HISTORY_OPTIONS, historyOptions } from './history-options.ts';
import { readOwnPolicy } from './own-policy.ts';
import type { Terminal } from './terminal.ts';

const DONE = 0;
const UNUSABLE = 2;
const STOPPED = 3;

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
  const { repository: name, last, reserve, cache } = await historyOptions(positionals, values, settings, folder);
  const complain = (text: string) => {
    terminal.stderr.write(`gatehouse backtest: ${text}`);
    return UNUSABLE;
  };

  const budget = makeRequestBudget(reserve);
  const judging = await openJudging(settings, budget.hooks);
  const { forge } = judging;
  try {
    budget.allow(MAX_OTHER_REQUESTS);
    const found = await policyInForce(forge, name, judging, file);
    if (found.kind !== 'policy') {
      return complain(whyNot(found, name));
    }
    const { repository, policy } = found;
    const cost = costOf(forge.name, neededFacts(policy), last);
    terminal.stderr.write(
      `At most ${cost.most} requests: ${MAX_OTHER_REQUESTS} for the policy and the list, ` +
        `${cost.usualEach === 0 ? 'none' : MAX_REQUESTS_EACH} for each of ${last} pull requests (about ${cost.usualEach} for a small one)\n`,
    );
    const list = await forge.merged.list(repository, last);
    if (list === undefined) {
      return complain(whyNot({ kind: 'no-repository' }, name));
    }
    const { merged } = list;
    if (merged.length === 0) {
      terminal.stderr.write(`${repository} has no merged pull requests: there is nothing to judge.\n`);
    }
    const onProgress = progressOn(terminal, merged.length);
    const history = await judgeHistory(policy, merged, { judging, budget, cache, onProgress });
    const { verdicts, fromCache, stoppedBy } = history;
    const result = { forge: forge.name, repository, policy, list, verdicts, requests: budget.spent(), fromCache };
    if (values.json) {
      terminal.stdout.write(`${JSON.stringify(backtestJson(result), null, 2)}\n`);
    } else if (merged.length > 0) {
      terminal.stdout.write(describeBacktest(result));
    }
    if (stoppedBy === undefined) {
      return DONE;
    }
    complain(describeStop(stoppedBy, verdicts.length, merged.length, values.cache));
    return STOPPED;
  } catch (error) {
    if (!(error instanceof ForgeError)) {
      throw error;
    }
    if (error.kind === 'rate-limited') {
      complain(describeStop(error, 0, last, values.cache));
      return STOPPED;
    }
    return complain(`${name} could not be read: ${reasonOf(error)}\n`);
  } finally {
    await judging.close();
  }
}

/** Why there is nothing to judge by. */
function whyNot(found: Exclude<PolicyInForce, { kind: 'policy' }>, name: string): string {
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
