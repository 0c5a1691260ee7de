import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseForgeConfig } from '../../config/config.ts';
import { type RuleTally, tallyRules } from '../../review/past/past-verdict.ts';
import { POLICY_PATHS } from '../../review/policy/paths.ts';
import { policyOf, type Recipe, recipesIn } from '../../review/recipes.ts';
import { firstPolicyFile } from '../check.ts';
import { defineCommand, WRONG_CONFIGURATION } from '../command.ts';
import { configured, reasonOf } from '../failures.ts';
import type { Terminal } from '../terminal.ts';
import { overHistory, STOPPED, UNUSABLE } from './history.ts';
import { HISTORY_OPTIONS, HISTORY_SETTINGS, type HistoryValues, historyOptions, ONE_REPOSITORY } from './options.ts';

const DONE = 0;
/** The share of the pull requests merged last for which a rule must hold. */
const LEAST_SHARE = 0.9;
const COOKBOOK = new URL('../../../docs/cookbook.md', import.meta.url);
const [FILE = ''] = POLICY_PATHS;

export const init = defineCommand({
  name: 'init',
  usage: ['<repository> [--write] [options]'],
  text: `Prints a policy of those recipes of docs/cookbook.md that at least ${LEAST_SHARE * 100} % of the pull requests merged last met, with
the share beside each. A recipe that applied to none of them is left out, and so is one that is a whole policy. Nothing
is written to the forge. It judges as gatehouse backtest does, whose help says more.`,
  options: {
    write: { type: 'boolean', default: false, help: `write ${FILE} here; never over an existing policy` },
    ...HISTORY_OPTIONS,
  },
  positionals: ONE_REPOSITORY,
  settings: HISTORY_SETTINGS,
  exitCodes: {
    [DONE]: 'done',
    [UNUSABLE]: 'no such repository, no answer from the forge, or nothing could be written',
    [STOPPED]: 'stopped early: run it again with --cache',
    1: 'failed for another reason',
    ...WRONG_CONFIGURATION,
  },
  run: ({ values, positionals }, terminal) => proposePolicy(values, positionals, terminal),
});

async function proposePolicy(
  values: HistoryValues & { readonly write: boolean },
  positionals: readonly string[],
  terminal: Terminal,
): Promise<typeof DONE | typeof UNUSABLE | typeof STOPPED> {
  const { folder } = terminal;
  const settings = configured(parseForgeConfig(terminal.env));
  const options = await historyOptions(positionals, values, settings, folder);
  const failed = (text: string): typeof UNUSABLE => {
    terminal.stderr.write(`gatehouse init: ${text}\n`);
    return UNUSABLE;
  };
  const present = values.write ? await firstPolicyFile(folder) : undefined;
  if (present !== undefined) {
    return failed(`${present} exists already, and is not replaced`);
  }

  const recipes = recipesIn(await readFile(COOKBOOK, 'utf8'));
  const { repository } = options;
  const found = await overHistory('init', terminal, settings, options, async ({ workers }) => {
    const parsed = await workers.parsePolicy(repository, policyOf(recipes), { path: 'docs/cookbook.md' });
    return parsed.ok
      ? { kind: 'policy', repository, policy: parsed.policy }
      : { kind: 'broken', faults: parsed.faults };
  });
  if (typeof found === 'number') {
    return found;
  }
  if (found.stoppedBy !== undefined) {
    return STOPPED;
  }
  const shares = tallyRules(found.policy, found.verdicts).flatMap((tally, index) => shareOf(recipes[index], tally));
  const offered = shares.filter(isOffered);
  if (shares.length > 0) {
    terminal.stderr.write(describeLeftOut(shares.filter((share) => !isOffered(share))));
  }
  if (offered.length === 0) {
    const nothing = `no recipe was met by ${LEAST_SHARE * 100} % of the merged pull requests: there is nothing to write`;
    return values.write ? failed(nothing) : DONE;
  }
  const text = `${headOf(found.repository, found.verdicts.length)}${policyOf(
    offered.map(({ recipe }) => recipe),
    (recipe) => offered.filter((share) => share.recipe === recipe).map(describeShare),
  )}`;
  if (!values.write) {
    terminal.stdout.write(text);
    return DONE;
  }
  try {
    await writeFile(resolve(folder, FILE), text, { flag: 'wx' });
  } catch (error) {
    return failed(`cannot write ${FILE}: ${reasonOf(error)}`);
  }
  terminal.stderr.write(`${FILE} is written, with ${offered.length} ${offered.length === 1 ? 'rule' : 'rules'}\n`);
  return DONE;
}

interface Share {
  readonly recipe: Recipe;
  readonly judged: number;
  /** How many it held for, or did not apply to. */
  readonly met: number;
  readonly held: number;
}

function shareOf(recipe: Recipe | undefined, { counts }: RuleTally): readonly Share[] {
  const judged = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return recipe === undefined || judged === 0
    ? []
    : [{ recipe, judged, met: counts.passed + counts.inactive, held: counts.passed }];
}

/** One that has held for no pull request is not known to be of use. */
function isOffered({ judged, met, held }: Share): boolean {
  return held > 0 && met >= judged * LEAST_SHARE;
}

function describeShare({ recipe, judged, met, held }: Share): string {
  const percent = Math.floor((met / judged) * 100);
  const aside = met === held ? '' : `, ${met - held} of which it did not apply to`;
  return `${recipe.title}: met by ${met} of ${judged} (${percent} %)${aside}`;
}

function describeLeftOut(shares: readonly Share[]): string {
  return shares.length === 0 ? '' : `Not offered:\n${shares.map((share) => `  ${describeShare(share)}\n`).join('')}`;
}

function headOf(repository: string, judged: number): string {
  return `# Recipes of Gatehouse's cookbook that the last ${judged} merged pull requests of ${repository} met.
# "level: observe" records what a rule would do and shows nobody; "gatehouse backtest" names those that it would have stopped.
`;
}
