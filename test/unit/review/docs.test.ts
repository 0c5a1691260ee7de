import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { factsOf } from '../../../src/facts/table.ts';
import { given } from '../../../src/review/cases/given.ts';
import { OUTCOME_WORDS, wordsFor } from '../../../src/review/cases/schema.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import { predicates } from '../../../src/review/predicates/index.ts';
import test from '../../helpers/test.ts';

const RULES = 'docs/rules.md';
const COOKBOOK = 'docs/cookbook.md';
const MIGRATION = 'docs/migrate.md';
const AGENTS = 'docs/agents.md';
const GUIDES = ['README.md', 'docs/override.md', 'docs/observe.md', 'docs/guide-operator.md'];

function readDocument(name: string): Promise<string> {
  return readFile(new URL(`../../../${name}`, import.meta.url), 'utf8');
}

/** A YAML block, and the table that follows it: a pull request in short, and how the block's one rule turns out. */
interface Example {
  readonly line: number;
  readonly yaml: string;
  readonly rows: readonly { readonly given: string; readonly outcome: string }[];
}

async function examplesIn(document: string): Promise<readonly Example[]> {
  const markdown = await readDocument(document);
  return [...markdown.matchAll(/^```yaml\n([\s\S]*?)^```\n+((?:^\|.*\n)*)/gm)].map(
    ({ 0: block, 1: yaml = '', 2: table = '', index }) => ({
      line: markdown.slice(0, index).split('\n').length,
      yaml,
      rows: table
        .split('\n')
        .slice(2)
        .filter((row) => row !== '' && block !== '')
        .map((row) => {
          const [, facts = '', outcome = ''] = /^\| `(.*)` \| (.*) \|$/.exec(row) ?? [];
          return { given: facts.replaceAll('\\|', '|'), outcome };
        }),
    }),
  );
}

function policyText(yaml: string): string {
  if (yaml.startsWith('version:')) {
    return yaml;
  }
  return `version: 1\nrules:\n${yaml}`;
}

for (const document of [...GUIDES, RULES, COOKBOOK, MIGRATION, AGENTS]) {
  test(`${document}: each example is valid, and turns out as its table says`, async (t) => {
    for (const { line, yaml, rows } of await examplesIn(document)) {
      const role = yaml.includes('locked:') ? 'baseline' : 'own';
      const result = parsePolicy(policyText(yaml), { path: '.gatehouse.yml' }, role);
      t.deepEqual(result.ok ? [] : result.faults, [], `line ${line}`);
      for (const { given: facts, outcome } of rows) {
        const row = `line ${line}: ${facts} ${outcome}`;
        const [rule, ...others] = result.ok ? evaluate(result.policy, factsOf(given.parse(parse(facts)))).rules : [];
        t.deepEqual(others, [], `${row}: an example with a table has one rule`);
        t.true(
          OUTCOME_WORDS.some((words) => words === outcome),
          `${row}: it ends in one of ${OUTCOME_WORDS.join(', ')}`,
        );
        t.is<string | undefined, string>(rule && wordsFor(rule.outcome), outcome, row);
      }
    }
  });
}

test('docs/rules.md has an example that holds and one that fails for each predicate', async (t) => {
  const markdown = await readDocument(RULES);
  for (const name of predicates.keys()) {
    const section = markdown.split(/^### /m).find((part) => part.startsWith(`\`${name}\``));
    t.regex(section ?? '', /^\| `.*` \| holds \|$/m, name);
    t.regex(section ?? '', /^\| `.*` \| (?:does not hold|waits) \|$/m, name);
    t.true(markdown.includes(`[\`${name}\`](#${name})`), `the list of predicates leads to ${name}`);
  }
});

test('docs/cookbook.md has twenty-four recipes, each with a pass and a failure', async (t) => {
  const recipes = await examplesIn(COOKBOOK);
  t.is(recipes.length, 24);
  for (const { line, rows } of recipes) {
    const outcomes = rows.map(({ outcome }) => outcome);
    t.true(
      outcomes.includes('holds') && outcomes.some((outcome) => /does not hold|waits/.test(outcome)),
      `line ${line}`,
    );
  }
});

/** The rows of the tables that have a condition of Gatehouse in their second column. */
async function translations(): Promise<readonly { readonly theirs: string; readonly ours: string }[]> {
  const tables = (await readDocument(MIGRATION)).matchAll(
    /^\| [\w-]+ \| Gatehouse \| Differences \|\n\|[-|]+\|\n((?:\|.*\n)+)/gm,
  );
  return [...tables].flatMap(([, rows = '']) =>
    rows
      .trimEnd()
      .split('\n')
      .map((row) => {
        const [, theirs = '', ours = ''] = row.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
        return { theirs, ours };
      }),
  );
}

test('docs/rules.md names every predicate that others can act on', async (t) => {
  const [, section = ''] = /^### Who can act\n([\s\S]*?)are\s+up to others/m.exec(await readDocument(RULES)) ?? [];
  const named = [...section.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
  const ofOthers = [...predicates].filter(([, { actor }]) => actor === 'others').map(([name]) => name);
  t.deepEqual(named, ofOthers.sort());
});

test('docs/migrate.md: each row has a valid condition, or none', async (t) => {
  const rows = await translations();
  t.true(rows.length > 75, 'the rows were found');
  for (const { theirs, ours } of rows) {
    t.regex(theirs, /^`/);
    if (ours !== 'none') {
      const [, condition = ''] = /^`(.*)`$/.exec(ours) ?? [];
      const result = parsePolicy(policyText(`- { id: a, require: { ${condition} } }\n`), { path: '.gatehouse.yml' });
      t.deepEqual(result.ok ? [] : result.faults, [], `${theirs}: ${condition}`);
    }
  }
});

test('docs/migrate.md uses every predicate, except those that the others do not have', async (t) => {
  const conditions = (await translations()).map(({ ours }) => ours).join('\n');
  const missing = [...predicates.keys()].filter((name) => !new RegExp(`\\b${name}:`).test(conditions));
  t.deepEqual(missing, ['threads']);
});

test('what the README says of kills is in docs/performance.md', async (t) => {
  const [, gone] = /^Killing .* lost (\d+) acknowledged webhooks/m.exec(await readDocument('README.md')) ?? [];
  t.is(gone, '0');
  const sections = (await readDocument('docs/performance.md')).split(/^## /m);
  const section = sections.find((text) => text.startsWith('Killed under load\n')) ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| **Gatehouse** |'));
  t.is(rows.length, 3);
  t.deepEqual(
    rows.filter((row) => !row.includes(`| **${gone}** |`)),
    [],
  );
});
