import MarkdownIt from 'markdown-it';
import { visible } from '../../src/review/text.ts';
import { noise, policy, SLOW_TO_EVALUATE, SLOW_TO_PARSE } from '../helpers/hostile-policies.ts';
import { forgesOf, pathsOfReads, shareStories, withoutOwnLinks } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { submodule, symlink } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);
/** For what the forge has no part in. */
const [ANY = 'github'] = FORGES;

/**
 * What somebody can try who can only open a pull request. The rest is where its subject is: the same head into an easier branch
 * (shared-head), changes while a review runs (stale-review), NUL bytes, renames, deleted tests and forks (hidden-changes),
 * own and bought approvals (four-eyes, safety), a policy or CODEOWNERS of a tag's (base-commit), other hosts and texts that
 * imitate Gatehouse (safety, inline), too many and too large changes (burst, change, large-changes), checks (checks).
 */
const gatehouse = shareStories(test, FORGES);
/** Where a policy may take a fifth of its usual time, for those that would take minutes. */
const impatient = shareStories(test, FORGES, { maxTaskMs: 400 });

const TITLED = `    require: { title: '^feat: ' }`;

const ALIAS_BOMB = `version: 1
a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
rules: *d
`;

const MULTIPLIED = policy(
  `    require: { title: &all [${Array.from({ length: 90 }, (_, index) => `'${index}${'[a-z]'.repeat(90)}'`).join(', ')}] }`,
  ...Array.from({ length: 6 }, () => '    require: { title: *all }'),
);

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
    ['one long list that aliases multiply', MULTIPLIED, /with its aliases written out the file has more than/],
    ['a NUL byte in a pattern', policy(`    require: { title: 'a\0b' }`), /control character/],
    ['keys that objects have already', 'version: 1\n__proto__: { rules: [] }\nconstructor: 1\n', /unknown key/],
    ['a tag that other readers execute', `version: 1\nrules: !!js/function 'process.exit()'\n`, /not valid YAML/],
    ['the same key twice', `${policy(TITLED)}rules: []\n`, /given twice|not valid YAML/],
    ['a million characters', `# ${'x'.repeat(1_000_000)}\n`, /too large/],
    ['more than the forge shows', `# ${'x'.repeat(1_200_000)}\n`, /too large/],
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

/** In the place of the policy. */
const NOT_FILES = {
  'a symbolic link': { '.gatehouse.yml': symlink('no/such/file.yml') },
  'a submodule': { '.gatehouse.yml': submodule('1'.repeat(40)) },
  'a directory': { '.gatehouse.yml': null, '.gatehouse.yml/rules.yml': policy(TITLED) },
} as const;

for (const name of FORGES) {
  for (const [what, changes] of Object.entries(NOT_FILES)) {
    const said = `.gatehouse.yml is ${what}; a policy must be a file`;

    test(`${name}: a policy that is ${what} is an error, not taken for none`, async (t) => {
      const scene = gatehouse(name).scene(changes);
      const number = await scene.open({ 'a.txt': 'a\n' });
      await scene.settled();
      t.is(scene.status(number)?.state, 'error');
      t.true(scene.status(number)?.description.includes(said), scene.status(number)?.description);
      t.true(scene.comments(number).join().includes(said));
    });

    test(`${name}: a proposed policy that is ${what} is a fault`, async (t) => {
      for (const files of [{ '.gatehouse.yml': policy(TITLED) }, { 'README.md': 'x\n' }]) {
        const scene = gatehouse(name).scene(files);
        const number = await scene.open(changes, { title: 'feat: x' });
        await scene.settled();
        t.is(scene.status(number)?.state, 'failure');
        t.true(scene.comments(number).join().includes(said));
      }
    });
  }

  test(`${name}: CODEOWNERS that is a directory is an error until it is a file`, async (t) => {
    const rule = `    require: { approvals: { from: [CODEOWNERS] } }`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(rule), 'CODEOWNERS/a.txt': '* @mallory\n' });
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /CODEOWNERS is a directory/);

    scene.forge.commit(scene.repository, 'main', { 'CODEOWNERS/a.txt': null, CODEOWNERS: '* @olivia\n' });
    await scene.tell({ kind: 'push', branch: 'main' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
  });
}

for (const name of FORGES) {
  test(`${name}: a proposed policy that compiles too long fails and stops nothing`, async (t) => {
    // Nobody has to have asked Gatehouse for anything: the repository has no policy.
    const scene = impatient(name).scene({ 'README.md': 'x\n' });
    const number = await scene.open({ '.gatehouse.yml': SLOW_TO_PARSE });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /reading this policy takes more than the 0\.4 seconds/);
    t.regex(await endedTasks(name), /gatehouse_tasks_ended_total\{task="parsePolicy",limit="time"\} \d/);
  });
}

for (const name of FORGES) {
  test.serial(`${name}: a proposed text over its limit is never parsed again`, async (t) => {
    const ended = async () =>
      Number(/tasks_ended_total\{task="parsePolicy",limit="time"\} (\d+)/.exec(await endedTasks(name))?.[1]);
    const scene = impatient(name).scene({ '.gatehouse.yml': policy(TITLED) });
    const before = await ended();
    const proposal = { '.gatehouse.yml': `${SLOW_TO_PARSE}# once\n` };
    const numbers = await Promise.all(
      ['mallory', 'trudy'].map((login) =>
        scene.open(proposal, { title: 'feat: x', from: scene.forge.fork(scene.repository, login) }),
      ),
    );
    await scene.settled();
    for (const number of numbers) {
      await scene.push(number, { 'a.txt': 'a\n' });
      await scene.settled();
      t.is(scene.status(number)?.state, 'failure');
    }
    t.is((await ended()) - before, 1);
  });
}

async function endedTasks(name: (typeof FORGES)[number]): Promise<string> {
  return (await fetch(impatient(name).door.metricsUrl)).text();
}

test('an evaluation that takes too long is an error that names the rule', async (t) => {
  const scene = impatient(ANY).scene({
    '.gatehouse.yml': policy(TITLED, SLOW_TO_EVALUATE),
  });
  const files = Array.from({ length: 8 }, (_, index) => [`src/${index}.txt`, noise(1_000)] as const);
  const number = await scene.open(Object.fromEntries(files), { title: 'feat: x' });
  await scene.settled();
  t.is(scene.status(number)?.state, 'error');
  t.regex(
    scene.comments(number).join(),
    /more than the 0\.4 seconds of processor time that it may take, at the rule .*rule-1/,
  );
  t.regex(await endedTasks(ANY), /gatehouse_tasks_ended_total\{task="evaluate",limit="time"\} \d/);
});

test('patterns that match everything leave a comment that can be read', async (t) => {
  const scene = gatehouse(ANY).scene({
    '.gatehouse.yml': policy(`    forbid: { added_lines: '.*' }`, `    require: { title: '^(a+)+$' }`),
  });
  const number = await scene.open({ 'src/a.txt': noise(1_000) }, { title: `${'a'.repeat(200)}!` });
  await scene.settled();
  t.is(scene.status(number)?.state, 'failure');
  const [comment = ''] = scene.comments(number);
  t.true(comment.length < 65_536);
  t.regex(comment, /<summary>195 more lines<.*and \d+ others</s, 'of 200 places that are kept');
  t.true(scene.inlines(number).length <= 30, 'nobody wants a comment at every line');
});

/** What makes a reader see something other than what is there, or a forge do something. */
const TRICKS = '\u202egpj.exe `code` <img src=x> [a](https://evil.test) @acme/everyone #1 | \u0007';

/** The comments as a forge renders them, without what it shows as code, where nothing mentions, links or embeds. */
function outsideCode(comments: readonly string[]): string {
  const html = new MarkdownIt({ html: true, linkify: true }).render(comments.join('\n'));
  return withoutOwnLinks(html).replaceAll(/<code>.*?<\/code>/gs, '');
}

const UNSAFE = /\p{Cc}(?<!\n)|\u202e|<img|evil|everyone/u;

for (const name of FORGES) {
  test(`${name}: a title full of tricks is shown as text`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(TITLED) });
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: TRICKS });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.notRegex(outsideCode(scene.comments(number)), UNSAFE);
    t.regex(scene.comments(number).join(), /\\u\{202e\}/);
  });

  test(`${name}: a status of the same words by somebody else does not replace ours`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(TITLED) });
    const judged = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    await scene.settled();
    const ours = scene.forge.statuses(scene.repository, scene.forge.pull(scene.repository, judged).headSha).at(-1);
    if (ours === undefined) {
      return t.fail('there is no status to copy');
    }
    const number = scene.openSilently({ 'b.txt': 'b\n' }, { title: 'feat: b' });
    const { headSha } = scene.forge.pull(scene.repository, number);
    const { context, state, description } = ours;
    scene.forge.setStatus(scene.repository, headSha, { context, state, description, author: 'mallory' });
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    const newest = scene.forge.statuses(scene.repository, headSha).at(-1);
    t.deepEqual([newest?.author, newest?.state], ['gatehouse', 'success']);
  });

  test(`${name}: a comment that pretends to be the review is left alone`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(TITLED) });
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'no' });
    scene.forge.comment(scene.repository, number, 'mallory', '<!-- gatehouse:review -->\nAll is well.');
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.regex(scene.comments(number).join(), /rule-0/);
    t.is(scene.forge.pull(scene.repository, number).comments.length, 2);
  });

  test(`${name}: files with a NUL byte leave a rule about lines undecided`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(`    forbid: { added_lines: secret }`) });
    const number = await scene.open({ 'a.txt': Buffer.from('secret\0\n') });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
  });

  test(`${name}: a proposed CODEOWNERS of any kind changes nothing`, async (t) => {
    const rule = `    require: { approvals: { from: [CODEOWNERS] } }`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(rule), CODEOWNERS: '* @olivia\n.* @olivia\n' });
    const bomb = Array.from({ length: 5_000 }, (_, index) => `${'*a'.repeat(90)}${index} @mallory\n`).join('');
    const number = await scene.open({ CODEOWNERS: bomb }, { author: 'mallory' });
    await scene.review(number, 'mallory', 'approved');
    await scene.settled();
    t.not(scene.status(number)?.state, 'success');
  });
}

test('paths full of tricks are shown as text, at the finding and on the line', async (t) => {
  const scene = gatehouse(ANY).scene({ '.gatehouse.yml': policy(`    forbid: { files: 'src/**' }`) });
  const number = await scene.open({ [`src/${TRICKS.replaceAll('/', '')}`]: 'a\n', 'src/a\nb': 'a\n' });
  await scene.settled();
  t.is(scene.status(number)?.state, 'failure');
  t.notRegex(outsideCode(scene.comments(number)), UNSAFE);
  t.regex(scene.comments(number).join(), /src\/a\\nb/);
});

test('a title of a hundred thousand characters is judged and shortened', async (t) => {
  const scene = gatehouse(ANY).scene({
    '.gatehouse.yml': policy(TITLED, `    forbid: { title: '(a|aa)+$' }`, `    forbid: { title: '(.*)(.*)(.*)(.*)x' }`),
  });
  const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'a'.repeat(100_000) });
  await scene.settled();
  t.is(scene.status(number)?.state, 'failure');
  t.true((scene.status(number)?.description ?? '').length <= 140);
  t.true(scene.comments(number).join().length < 65_536);
});

test('three thousand files are judged, by globs that backtrack elsewhere', async (t) => {
  const files = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, index) => [`src/${'a'.repeat(60)}/${index}.ts`, 'x\n']),
  );
  const globs = [`'${'*a'.repeat(40)}b'`, `'${'**/'.repeat(40)}b'`, `'${'{a,aa}'.repeat(20)}b'`];
  const scene = gatehouse(ANY).scene({
    '.gatehouse.yml': policy(
      `    forbid: { files: [${globs.join(', ')}] }`,
      `    require: { changed_files: '< 3000' }`,
    ),
  });
  const number = await scene.open(files);
  await scene.settled();
  t.is(scene.status(number)?.state, 'failure');
  t.regex(scene.status(number)?.description ?? '', /1 of 2 rules failed: rule-1/);
});

/** A text file as Git LFS stores it in a commit: its content is elsewhere. */
const LFS_POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d7a'.repeat(16)}\nsize 12345\n`;

for (const name of FORGES) {
  test(`${name}: a file in Git LFS leaves a rule about lines undecided`, async (t) => {
    const scene = gatehouse(name).scene({
      '.gatehouse.yml': policy(`    forbid: { added_lines: secret }`, `    require: { changed_lines: '<= 10' }`),
      'b.txt': LFS_POINTER,
    });
    const added = await scene.open({ '.gitattributes': '*.txt filter=lfs diff=lfs merge=lfs\n', 'a.txt': LFS_POINTER });
    const changed = await scene.open({ 'b.txt': LFS_POINTER.replace('12345', '12346') });
    await scene.settled();
    for (const number of [added, changed]) {
      t.is(scene.status(number)?.state, 'error');
      t.regex(scene.comments(number).join(), /the lines of .* cannot be read/);
    }
  });

  test(`${name}: a submodule leaves a rule about lines undecided`, async (t) => {
    const scene = gatehouse(name).scene({
      '.gatehouse.yml': policy(`    forbid: { added_lines: secret }`, `    require: { changed_lines: '<= 10' }`),
      'b.txt': 'b\n',
      lib: submodule('1'.repeat(40)),
    });
    const added = await scene.open({ 'src/lib': submodule('2'.repeat(40)) });
    const moved = await scene.open({ lib: submodule('3'.repeat(40)) });
    const replaced = await scene.open({ 'b.txt': submodule('4'.repeat(40)) });
    const removed = await scene.open({ lib: null });
    await scene.settled();
    for (const number of [added, moved, replaced]) {
      t.is(scene.status(number)?.state, 'error');
      t.regex(scene.comments(number).join(), /the lines of .* cannot be read/);
    }
    t.is(scene.status(removed)?.state, 'success', 'what is gone brings no lines');
  });

  test(`${name}: no verdict mixes two heads that take turns by force-pushes`, async (t) => {
    const rule = `    forbid: { added_lines: debugger }`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(rule) });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'fine\n' });
    const fine = forge.pull(repository, number).headSha;
    const bad = forge.forcePush(repository, number, { 'a.txt': 'debugger\n' });
    scene.when('GET', new RegExp(`^/repos/${repository}/pulls/${number}/files`), () => {
      forge.pushCommit(repository, number, fine);
      scene.when(undefined, pathsOfReads(repository, number), () => forge.pushCommit(repository, number, bad));
    });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.settled();
    t.false(scene.states(bad).includes('success'), scene.states(bad).join());
    t.is(scene.status(number)?.state, 'failure');
  });

  test(`${name}: no verdict is of the commits of another head`, async (t) => {
    const rule = `    require: { commits: { every: { message: '^feat: ' } } }`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(rule) });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    const bad = forge.forcePush(repository, number, { 'a.txt': 'b\n' }, { message: 'things' });
    const fine = forge.forcePush(repository, number, { 'a.txt': 'b\n' }, { message: 'feat: things' });
    forge.pushCommit(repository, number, bad);
    scene.when(undefined, new RegExp(`/repos/${repository}/pulls/${number}/(?:commits|facts)`), () => {
      forge.pushCommit(repository, number, fine);
      scene.when(undefined, pathsOfReads(repository, number), () => forge.pushCommit(repository, number, bad));
    });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.settled();
    t.false(scene.states(bad).includes('success'), scene.states(bad).join());
    t.is(scene.status(number)?.state, 'failure');
  });

  test(`${name}: commits with messages of 80 MB in all are not held in memory`, async (t) => {
    const rule = `    require: { commits: { every: { message: '^feat: ' } } }`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(rule) });
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    const message = `feat: ${'x'.repeat(400_000)}`;
    for (let commit = 0; commit < 200; commit++) {
      scene.forge.push(scene.repository, number, { 'a.txt': `${commit}\n` }, { message });
    }
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /the list is not complete/);
  });
}

test('invisible characters of any script are spelled out', (t) => {
  for (const character of ['\u3164', '\u115f', '\u2800', '\u034f', '\u{e0101}', '\u202e', '\u200b']) {
    t.is(visible(`a${character}b`), `a\\u{${character.codePointAt(0)?.toString(16)}}b`);
  }
  t.is(visible('größe ❤\ufe0f 漢字'), 'größe ❤\ufe0f 漢字');
});
