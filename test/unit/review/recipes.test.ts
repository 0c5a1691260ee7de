import { readFile } from 'node:fs/promises';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import { policyOf, recipesIn } from '../../../src/review/recipes.ts';
import test from '../../helpers/test.ts';

const cookbook = await readFile(new URL('../../../docs/cookbook.md', import.meta.url), 'utf8');

test('the recipes of the cookbook that are one rule make one policy together', (t) => {
  const recipes = recipesIn(cookbook);
  t.is(recipes.length, 20);
  t.is(recipes[0]?.title, 'Conventional titles');
  t.false(
    recipes.some(({ title }) => title === 'A hotfix at night'),
    'it is a whole policy',
  );
  const parsed = parsePolicy(policyOf(recipes), { path: 'docs/cookbook.md' });
  t.deepEqual(parsed.ok ? [] : parsed.faults, []);
  t.is(parsed.ok && parsed.policy.rules.length, recipes.length);
});

test('comments stand above their rules', (t) => {
  const recipes = [
    { title: 'One', yaml: "- id: one\n  require:\n    title: 'a'\n" },
    { title: 'Two', yaml: '- id: two\n  forbid: { draft: true }\n' },
  ];
  t.is(
    policyOf(recipes, ({ title }) => [title]),
    `version: 1
rules:
  # One
  - id: one
    require:
      title: 'a'

  # Two
  - id: two
    forbid: { draft: true }
`,
  );
});
