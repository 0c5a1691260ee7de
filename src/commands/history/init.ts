import { readFile, writeFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { POLICY_PATHS } from '../../review/policy/paths.ts';
import { policyOf, type Recipe, recipesIn } from '../../review/recipes.ts';
import { visible } from '../../review/text.ts';
import { firstPolicyFile, policyFilesIn } from '../check.ts';
import { defineCommand, WRONG_CONFIGURATION } from '../command.ts';
import { reasonOf } from '../failures.ts';
import type { Terminal } from '../terminal.ts';
import {
  DONE,
  HISTORY_COMMAND,
  type History,
  type HistoryInput,
  LIMIT_OPTION,
  NothingToJudge,
  overHistory,
  STOPPED,
  UNUSABLE,
} from './history.ts';
import { tallyRules } from './past-verdict.ts';

/** The share of the pull requests merged last for which a rule must hold. */
const LEAST_SHARE = 0.9;
/** In the npm package this file is compiled, to `.js`, and beside docs/. */
const ROOT = extname(import.meta.filename) === '.js' ? './' : '../../../';
const COOKBOOK = new URL(`${ROOT}docs/cookbook.md`, import.meta.url);
const [FILE = ''] = POLICY_PATHS;

export const init = defineCommand({
  ...HISTORY_COMMAND,
  name: 'init',
  usage: ['<repository> [--write] [--limit <number>]'],
  text: `Prints a policy of the recipes in docs/cookbook.md that at least ${LEAST_SHARE * 100}% of the last merged pull requests met, each with
its share. It leaves out recipes that never held, or that are whole policies. It writes nothing to the forge, and judges
like gatehouse backtest: see its help.`,
  options: {
    write: { type: 'boolean', default: false, help: `write ${FILE} here; never replaces a policy` },
    limit: LIMIT_OPTION,
  },
  exitCodes: {
    [DONE]: 'done',
    [UNUSABLE]: 'no such repository, no answer from the forge, or nothing could be written',
    [STOPPED]: 'stopped early, and nothing is proposed',
    1: 'failed for another reason',
    ...WRONG_CONFIGURATION,
  },
  run: (input, terminal) => proposePolicy(input, input.values.write, terminal),
});

async function proposePolicy(
  input: HistoryInput,
  write: boolean,
  terminal: Terminal,
): Promise<typeof DONE | typeof UNUSABLE | typeof STOPPED> {
  const { folder, stdout, stderr } = terminal;
  const failed = (text: string): typeof UNUSABLE => {
    stderr.write(`gatehouse init: ${text}\n`);
    return UNUSABLE;
  };
  const present = write ? firstPolicyFile(await policyFilesIn(folder)) : undefined;
  if (present !== undefined) {
    return failed(`${present} already exists, and init does not replace it`);
  }
  const recipes = recipesIn(await readFile(COOKBOOK, 'utf8'));
  const found = await overHistory('init', input, terminal, async ({ workers }, { name }) => {
    const parsed = await workers.parsePolicy(name, policyOf(recipes), { path: 'docs/cookbook.md' });
    if (!parsed.ok) {
      throw new NothingToJudge(`docs/cookbook.md cannot be used: ${parsed.faults[0]?.message}`);
    }
    return parsed.policy;
  });
  if (typeof found === 'number') {
    return found;
  }
  if (found.stopped) {
    return STOPPED;
  }
  const judged = found.verdicts.length;
  const unread = found.verdicts.find((verdict) => verdict.unread !== undefined)?.unread;
  if (unread !== undefined) {
    stderr.write(`Not all could be read, so some could not be judged: ${visible(unread)}\n`);
  }
  const shares = judged === 0 ? [] : sharesOf(recipes, found);
  const leftOut = shares.filter((share) => !isOffered(share));
  if (leftOut.length > 0) {
    stderr.write(`Not offered:\n${leftOut.map((share) => `  ${describeShare(share)}\n`).join('')}`);
  }
  const offered = shares.filter(isOffered);
  if (offered.length === 0) {
    const nothing = `no recipe was met by ${LEAST_SHARE * 100}% of the merged pull requests: there is nothing to write`;
    return write ? failed(nothing) : DONE;
  }
  const policy = policyOf(
    offered.map(({ recipe }) => recipe),
    (recipe) => offered.filter((share) => share.recipe === recipe).map(describeShare),
  );
  const text = `${headOf(found.repository, judged)}${policy}`;
  if (!write) {
    stdout.write(text);
    return DONE;
  }
  try {
    await writeFile(resolve(folder, FILE), text, { flag: 'wx' });
  } catch (error) {
    return failed(`cannot write ${FILE}: ${reasonOf(error)}`);
  }
  stderr.write(`${FILE} is written, with ${offered.length} ${offered.length === 1 ? 'rule' : 'rules'}\n`);
  return DONE;
}

interface Share {
  readonly recipe: Recipe;
  readonly judged: number;
  /** How many it held for, or did not apply to. */
  readonly met: number;
  readonly held: number;
  readonly undecided: number;
}

function sharesOf(recipes: readonly Recipe[], { policy, verdicts }: History): readonly Share[] {
  const tallies = tallyRules(policy, verdicts);
  return recipes.map((recipe, index) => {
    const { passed = 0, inactive = 0, undecided = 0 } = tallies[index]?.counts ?? {};
    return { recipe, judged: verdicts.length, met: passed + inactive, held: passed, undecided };
  });
}

/** One that has held for no pull request is not known to be of use. */
function isOffered({ judged, met, held }: Share): boolean {
  return held > 0 && met >= judged * LEAST_SHARE;
}

function describeShare({ recipe, judged, met, held, undecided }: Share): string {
  const percent = Math.floor((met / judged) * 100);
  const aside = met === held ? '' : `, ${met - held} of which it did not apply to`;
  const unknown = undecided === 0 ? '' : `; ${undecided} could not be judged`;
  return `${recipe.title}: met by ${met} of ${judged} (${percent}%)${aside}${unknown}`;
}

function headOf(repository: string, judged: number): string {
  return `# Recipes of Gatehouse's cookbook that the last ${judged} merged pull requests of ${repository} met.
# "level: observe" records what a rule would do without blocking anyone; "gatehouse backtest" lists what it would have stopped.
`;
}
