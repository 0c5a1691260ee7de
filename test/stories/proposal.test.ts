import test from 'ava';
import MarkdownIt from 'markdown-it';
import { noise, SLOW_TO_EVALUATE } from '../helpers/hostile-policies.ts';
import { FORGES, type Scene, shareStories, withoutOwnLinks } from '../helpers/story.ts';

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
