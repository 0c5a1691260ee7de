import test from 'ava';
import { FORGES, shareStories } from '../helpers/story.ts';

const gatehouse = shareStories(test);

function policy(...rules: readonly string[]): string {
  return `version: 1\nrules:\n${rules.map((rule, index) => `  - id: rule-${index}\n${rule}\n`).join('')}`;
}

const TITLED = `    require: { title: '^feat: ' }`;

/** Lines of a and b in no order. */
function noise(lines: number): string {
  let state = 1;
  const letter = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 2 === 0 ? 'a' : 'b';
  };
  return Array.from({ length: lines }, () => `${Array.from({ length: 240 }, letter).join('')}\n`).join('');
}

const ALIAS_BOMB = `version: 1
a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
rules: *d
`;

for (const name of FORGES) {
  for (const [what, text, said] of [
    ['ten thousand rules', policy(...Array.from({ length: 10_000 }, () => TITLED)), /too large: \d+ bytes of at most/],
    ['more rules than anyone reads', policy(...Array.from({ length: 150 }, () => TITLED)), /at most 100|100 rules/],
    ['a bomb of YAML aliases', ALIAS_BOMB, /uses of aliases|values/],
    [
      'a pattern that grows when it is written out',
      policy(`    require: { title: '(((a{99}){99}){99}){99}' }`),
      /too large to run/,
    ],
    [
      'a pattern that needs backtracking',
      policy(`    require: { title: '^(a+)+\\1$' }`),
      /backreferences are not available/,
    ],
    ['ten thousand brackets', `version: 1\nrules: ${'['.repeat(10_000)}\n`, /nested deeper|not valid YAML/],
  ] as const) {
    test(`${name}: a policy of ${what} is refused, on the base and in a pull request, in words`, async (t) => {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': text });
      const number = await scene.open({ 'a.txt': 'a\n' });
      await scene.settled();
      t.is(scene.status(number)?.state, 'error');
      t.regex(scene.comments(number).join(), said);
      t.true((scene.status(number)?.description ?? '').length <= 140);
      t.true(scene.comments(number).join().length < 65_536);

      const calm = gatehouse(name).scene({ '.gatehouse.yml': policy(TITLED) });
      const proposing = await calm.open({ '.gatehouse.yml': text });
      await calm.settled();
      t.is(calm.status(proposing)?.state, 'failure');
      t.regex(calm.comments(proposing).join(), said);
    });
  }
}

test('patterns that are costly or match everything come to an end, and what was not judged is no pass', async (t) => {
  // Their automata have more states than there are characters in this change, and no two places of it are alike.
  const costly = Array.from({ length: 40 }, (_, index) => `    forbid: { added_lines: 'a[ab]{${40 + index}}[0-9]' }`);
  const scene = gatehouse('github').scene({
    '.gatehouse.yml': policy(`    forbid: { added_lines: '.*' }`, `    require: { title: '^(a+)+$' }`, ...costly),
  });
  const number = await scene.open({ 'src/a.txt': noise(1_000) }, { title: `${'a'.repeat(200)}!` });
  await scene.settled();
  t.is(scene.status(number)?.state, 'failure');
  const [comment = ''] = scene.comments(number);
  t.true(comment.length < 65_536);
  t.regex(comment, /rule-0.*and 190 more/s, 'of 200 places that are kept ten are shown');
  t.regex(comment, /could not be judged/);
  t.true(scene.inlines(number).length <= 30, 'nobody wants a comment at every line');
});
