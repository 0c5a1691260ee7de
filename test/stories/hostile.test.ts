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
    test(`${name}: a policy of ${what} is rejected with an explanation`, async (t) => {
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

/** Each of these classes takes some milliseconds to compile, since the case of a million characters is folded. */
const SLOW_PATTERN = `(?i)${'[b-\\x{10fffe}]'.repeat(34)}`;
const SLOW_POLICY = policy(
  ...Array.from({ length: 40 }, (_, index) => `    require: { title: '${index}${SLOW_PATTERN}' }`),
);

for (const name of FORGES) {
  test(`${name}: a proposed policy that compiles too long fails and stops nothing`, async (t) => {
    // Nobody has to have asked Gatehouse for anything: the repository has no policy.
    const scene = gatehouse(name).scene({ 'README.md': 'x\n' });
    const number = await scene.open({ '.gatehouse.yml': SLOW_POLICY });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /reading this policy takes more than the 2 seconds/);
    t.regex(await endedTasks(name), /gatehouse_tasks_ended_total\{task="parsePolicy",limit="time"\} \d/);
  });
}

async function endedTasks(name: (typeof FORGES)[number]): Promise<string> {
  return (await fetch(gatehouse(name).door.metricsUrl)).text();
}

test('an evaluation that takes too long is an error that names the rule', async (t) => {
  // The automaton has more states than there are characters in this change, and no two places of it are alike.
  const scene = gatehouse('github').scene({
    '.gatehouse.yml': policy(TITLED, `    forbid: { added_lines: '(a|b)*a(a|b){200}[^ab]' }`),
  });
  const files = Array.from({ length: 8 }, (_, index) => [`src/${index}.txt`, noise(1_000)] as const);
  const number = await scene.open(Object.fromEntries(files), { title: 'feat: x' });
  await scene.settled();
  t.is(scene.status(number)?.state, 'error');
  t.regex(scene.comments(number).join(), /more than the 2 seconds that it may take, at the rule .*rule-1/);
  t.regex(await endedTasks('github'), /gatehouse_tasks_ended_total\{task="evaluate",limit="time"\} \d/);
});

test('patterns that match everything leave a comment that can be read', async (t) => {
  const scene = gatehouse('github').scene({
    '.gatehouse.yml': policy(`    forbid: { added_lines: '.*' }`, `    require: { title: '^(a+)+$' }`),
  });
  const number = await scene.open({ 'src/a.txt': noise(1_000) }, { title: `${'a'.repeat(200)}!` });
  await scene.settled();
  t.is(scene.status(number)?.state, 'failure');
  const [comment = ''] = scene.comments(number);
  t.true(comment.length < 65_536);
  t.regex(comment, /rule-0.*and 190 more/s, 'of 200 places that are kept ten are shown');
  t.true(scene.inlines(number).length <= 30, 'nobody wants a comment at every line');
});
