import test from 'ava';
import MarkdownIt from 'markdown-it';
import { noise, SLOW_TO_EVALUATE } from '../helpers/hostile-policies.ts';
import { FORGES, type Scene, shareStories, tellStory, withoutOwnLinks } from '../helpers/story.ts';

const gatehouse = shareStories(test);

const POLICY = `version: 1
rules:
  - id: small
    require: { changed_files: '<= 9' }
`;
const CASES = `cases:
  - given: { files: [{ path: a }] }
    expect: { small: holds }
  - name: two files
    given: { files: [{ path: a }, { path: b }] }
    expect: { small: does not hold }
`;

async function proposed(scene: Scene, files: Readonly<Record<string, string | null>>): Promise<string> {
  const number = await scene.open(files);
  await scene.settled();
  return scene.comments(number).join();
}

for (const name of FORGES) {
  test(`${name}: a pull request that changes the policy shows its cases`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY, '.gatehouse.test.yml': CASES });
    const number = await scene.open({ '.gatehouse.yml': POLICY.replace('<= 9', '<= 8') });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success', 'cases are shown, and change no verdict');
    t.regex(
      scene.comments(number).join(),
      /\*\*Cases of the policy as proposed:\*\* 1 passed, 1 failed\.\n\n- `\.gatehouse\.test\.yml:4` `two files`: `small` is expected as “does not hold” and found as “holds”\n/,
    );

    await scene.push(number, { '.gatehouse.yml': `${POLICY.replace('<= 9', '<= 1')}${CASES}` });
    await scene.settled();
    t.regex(scene.comments(number).join(), /Cases of the policy as proposed:\*\* 4 passed, 0 failed\./);
  });

  test(`${name}: a pull request that changes only the cases shows them`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    t.regex(await proposed(scene, { '.gatehouse.test.yml': CASES }), /proposed:\*\* 1 passed, 1 failed\./);
    const unknown = CASES.replace('small', 'smal');
    t.regex(
      await proposed(scene, { '.gatehouse.test.yml': unknown }),
      /cannot be run:\*\*\n\n- `\.gatehouse\.test\.yml:3:\d+` .*no rule "smal"; did you mean "small"/,
    );
    t.is(await proposed(scene, { 'a.txt': 'a\n' }), '', 'other pull requests show nothing of cases');
  });

  test(`${name}: no status waits for the cases that a pull request proposes`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const number = await scene.open({ '.gatehouse.test.yml': CASES });
    await scene.settled();
    t.regex(scene.comments(number).join(), /1 passed, 1 failed/);
    const head = scene.forge.pull(scene.repository, number).headSha;
    const written = scene.forge.seen.filter(({ method, path }) => method !== 'GET' && path.includes(scene.repository));
    const status = written.findLastIndex(({ path }) => path.endsWith(`/statuses/${head}`));
    const comment = written.findIndex(({ path }) => path.includes('/comments'));
    t.true(status !== -1 && comment > status, written.map(({ method, path }) => `${method} ${path}`).join('\n'));
  });

  test(`${name}: no text of cases is judged twice`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY });
    const number = await story.open({ '.gatehouse.test.yml': CASES });
    await story.settled();
    t.regex(story.comments(number).join(), /1 passed, 1 failed/);
    // What was found out is taken from here.
    const found = `jsonb_set(preview, '{cases,passed}', '77')`;
    await story.door.database.query(`UPDATE gatehouse.reviews SET preview = ${found}`);
    await story.push(number, { 'a.txt': 'a\n' });
    await story.settled();
    t.regex(story.comments(number).join(), /77 passed, 1 failed/);
    await story.push(number, { '.gatehouse.test.yml': CASES.replace('name: two', 'name: both') });
    await story.settled();
    t.regex(story.comments(number).join(), / 1 passed, 1 failed/);
  });

  test(`${name}: cases over 1 MiB are a fault that is named, and fail nothing`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const number = await scene.open({ '.gatehouse.test.yml': `${CASES}${'# too long\n'.repeat(100_000)}` });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    t.regex(scene.comments(number).join(), /`\.gatehouse\.test\.yml:1:1`.*too large/);
  });
}

test('a link or a directory in the place of the cases is a fault, and fails nothing', async (t) => {
  const scene = gatehouse('gitea').scene({ '.gatehouse.yml': POLICY });
  t.regex(await proposed(scene, { '.gatehouse.test.yml/a.txt': 'a\n' }), /is a directory; cases must be in a file/);
});

test('five thousand cases are run, and more are a fault', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': POLICY });
  const cases = (count: number) => `cases:\n${'  - { given: {}, expect: { small: holds } }\n'.repeat(count)}`;
  t.regex(await proposed(scene, { '.gatehouse.test.yml': cases(5_000) }), /proposed:\*\* 5000 passed, 0 failed\./);
  t.regex(await proposed(scene, { '.gatehouse.test.yml': cases(5_001) }), /at most 5000 cases/);
});

test('cases that take too long are not run, and other reviews go on', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': POLICY });
  const patch = noise(3_500);
  const slow = `version: 1\nrules:\n  - id: slow\n${SLOW_TO_EVALUATE}\n`;
  const cases = `cases:\n  - given: { files: [{ path: a, added: [${patch.trim().split('\n').join(', ')}] }] }\n    expect: { slow: holds }\n`;
  const number = await scene.open({ '.gatehouse.yml': slow, '.gatehouse.test.yml': cases });
  const other = await scene.open({ 'a.txt': 'a\n' });
  await scene.settled();
  t.is(scene.status(other)?.state, 'success');
  t.is(scene.status(number)?.state, 'success');
  t.regex(scene.comments(number).join(), /0 passed, 0 failed, 1 not run, because they take too much time or memory\./);
});

test('tricks in the name of a case are shown as text', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': POLICY });
  const trick = '\u202egpj `code` <img src=x> [a](https://evil.test) @acme/everyone #1 | <!-- gatehouse:review -->';
  const cases = `cases:\n  - name: ${JSON.stringify(trick)}\n    given: {}\n    expect: { small: does not hold }\n`;
  const text = await proposed(scene, { '.gatehouse.test.yml': cases });
  t.regex(text, /0 passed, 1 failed/);
  const html = new MarkdownIt({ html: true, linkify: true }).render(text);
  t.notRegex(withoutOwnLinks(html).replaceAll(/<code>.*?<\/code>/gs, ''), /\u202e|<img|evil|everyone/);
  t.is(text.match(/<!-- gatehouse:review -->/g)?.length, 1);
});

test('cases tell nothing of the rules of a private policy', async (t) => {
  const scene = gatehouse('github').scene({
    '.gatehouse.yml': `version: 1\nextends: acme/policies@main\nrules: []\n`,
  });
  const { forge } = scene;
  forge.createRepository('acme/policies', {
    '.gatehouse.yml': `version: 1\nrules:\n  - { id: secret, forbid: { title: 'codename' } }\n`,
  });
  forge.setPrivate('acme/policies', true);
  const cases = `cases:\n  - { given: { title: codename }, expect: { secret: holds } }\n`;
  const text = await proposed(scene, { '.gatehouse.test.yml': cases });
  t.regex(text, /0 passed, 0 failed, 1 not run, because they name rules of a private policy\./);
});

const STRICT = POLICY.replace('<= 9', '<= 1');
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };
/** The owner of the repositories: may write to them. */
const WRITER = 'acme';

/** How often the forge was asked about pull requests of these numbers. */
function askedAbout({ forge, repository }: Scene, numbers: readonly number[]): number {
  const about = `/repos/${repository}/(pulls|issues)/(${numbers.join('|')})(/|\\.|$)`;
  const path = new RegExp(`^(GET |POST /graphql)${about}`);
  return forge.seen.filter((seen) => path.test(`${seen.method} ${seen.path}`)).length;
}

for (const name of FORGES) {
  test(`${name}: a writer’s policy shows what it would mean for others, once`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    scene.forge.commit(scene.repository, 'release', { 'release.txt': 'r\n' });
    const failing = await scene.open(TWO_FILES);
    const passing = await scene.open({ 'c.txt': 'c\n' });
    const elsewhere = await scene.open(TWO_FILES, { base: 'release' });
    await scene.settled();
    const number = await scene.open({ '.gatehouse.yml': STRICT }, { author: WRITER });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    const shown = `- \`#${failing}\` would fail: \`small\` (now: passes)\n- 1 would pass, as now\n`;
    t.true(scene.comments(number).join().includes(shown), scene.comments(number).join());
    t.is(scene.comments(number).length, 1);
    t.deepEqual(scene.comments(failing), [], 'the others themselves show nothing of it');

    const others = [failing, passing, elsewhere];
    const before = askedAbout(scene, others);
    await scene.push(number, { 'd.txt': 'd\n' });
    await scene.settled();
    t.true(scene.comments(number).join().includes(shown));
    t.is(askedAbout(scene, others), before, 'the same policy is not looked at again');

    await scene.push(number, { '.gatehouse.yml': POLICY.replace('<= 9', '<= 3') });
    await scene.settled();
    t.true(scene.comments(number).join().includes('- 2 would pass, as now\n'));
  });

  test(`${name}: nobody else makes Gatehouse judge others by a policy of theirs`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const { forge, repository } = scene;
    const other = await scene.open(TWO_FILES);
    await scene.settled();
    const before = askedAbout(scene, [other]);
    forge.addOutsider('mallory');
    const fork = forge.fork(repository, 'mallory');
    const policy = { '.gatehouse.yml': `${STRICT}${CASES}` };
    for (const author of ['mallory', WRITER]) {
      const number = await scene.open(policy, { from: fork, author });
      await scene.settled();
      t.regex(scene.comments(number).join(), /2 passed, 0 failed/, author);
      t.notRegex(scene.comments(number).join(), /would/, author);
    }
    const own = await scene.open(policy, { author: 'mallory' });
    await scene.settled();
    t.notRegex(scene.comments(own).join(), /would/);
    t.is(askedAbout(scene, [other]), before);
  });

  test(`${name}: a proposal asks for no team that the present policy does not name`, async (t) => {
    const rule = (team: string) => `  - { id: ${team}, require: { approvals: { from: ['@acme/${team}'] } } }\n`;
    const present = `version: 1\nrules:\n${rule('core')}`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': present });
    const { forge } = scene;
    forge.createTeam('acme/core', ['carol']);
    forge.createTeam('acme/secret', ['carol']);
    const other = await scene.open(TWO_FILES);
    await scene.review(other, 'carol', 'approved');
    await scene.settled();
    const number = await scene.open({ '.gatehouse.yml': `${present}${rule('secret')}` }, { author: WRITER });
    await scene.settled();
    t.true(scene.comments(number).join().includes(`- \`#${other}\` could not be judged: \`secret\` (now: passes)\n`));
    t.false(forge.seen.some(({ path }) => path.includes('secret')));
  });

  test(`${name}: at most twenty pull requests are judged, with fifty requests`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const numbers = Array.from({ length: 23 }, (_, index) =>
      scene.openSilently({ [`${index}.txt`]: 'x\n', 'y.txt': 'y\n' }),
    );
    const number = await scene.open(
      { '.gatehouse.yml': `${STRICT}  - { id: reviewed, require: { approvals: 1 } }\n` },
      { author: WRITER },
    );
    await scene.settled();
    const text = scene.comments(number).join();
    const judged = text.match(/would fail: `small`/g)?.length ?? 0;
    t.true(judged > 5 && judged <= 20, String(judged));
    t.true(
      text.includes(`- ${numbers.length - judged} were not judged: the limits are 20 pull requests and 50 requests\n`),
      text,
    );
    const asked = askedAbout(scene, numbers);
    t.true(asked > 0 && asked <= 50, String(asked));
  });

  test(`${name}: a preview that fails holds up no verdict, and is made later`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    await scene.open(TWO_FILES);
    await scene.settled();
    const list = new RegExp(`^/repos/${scene.repository}/pulls(\\?|$)`);
    scene.forge.fault({ method: 'GET', path: list, times: 2, fault: { kind: 'status', status: 500 } });
    const number = await scene.open({ '.gatehouse.yml': STRICT }, { author: WRITER });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    t.notRegex(scene.comments(number).join(), /would/);

    await scene.edit(number, { title: 'feat: again' });
    await scene.settled();
    t.regex(scene.comments(number).join(), /would fail: `small`/);
  });
}
