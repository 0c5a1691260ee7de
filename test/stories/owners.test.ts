import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const POLICY = `version: 1
rules:
  - id: owners
    require: { approvals: { from: CODEOWNERS } }
`;
const CODEOWNERS = { github: '/src/ @bob\n/docs/ @carol\n', gitea: 'src/.* @bob\ndocs/.* @carol\n' };

for (const name of FORGES) {
  const dialect = name === 'github' ? 'github' : 'gitea';

  test(`${name}: the comment shows which files need whom, until they have approved`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY, CODEOWNERS: CODEOWNERS[dialect] });
    const number = await scene.open({ 'src/a': 'a\n', 'src/b': 'b\n', 'docs/a': 'a\n', free: 'x\n' });
    await scene.settled();
    const rows = () => (scene.comments(number)[0] ?? '').match(/^\| `.*$/gm);
    const src = { github: '/src/', gitea: 'src/.*' }[dialect];
    t.is(scene.status(number)?.state, 'pending');
    t.deepEqual(
      new Set(rows()),
      new Set(['| `docs/a` | `carol` | | `carol` |', `| \`${src}\` (2 files) | \`bob\` | | \`bob\` |`]),
    );

    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.deepEqual(rows(), ['| `docs/a` | `carol` | | `carol` |', `| \`${src}\` (2 files) | \`bob\` | \`bob\` | |`]);
    t.notRegex(scene.comments(number).join(), /(?<!`)@\w/, 'a mention would notify its reader');

    await scene.review(number, 'carol', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a faulty line of CODEOWNERS is named`, async (t) => {
    const faulty = { github: '!x @dan\n', gitea: 'x( @dan\n' }[dialect];
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY, CODEOWNERS: `${CODEOWNERS[dialect]}${faulty}` });
    const number = await scene.open({ 'src/a': 'a\n' });
    await scene.settled();
    t.regex(scene.comments(number).join(), /^- `CODEOWNERS`, line 3: `.*` is no .*, so the line is skipped$/m);
  });

  test(`${name}: a CODEOWNERS file of 700,000 characters is judged`, async (t) => {
    const lines = Array.from({ length: 20_000 }, (_, index) => {
      const folder = { github: `/packages/package-${index}/`, gitea: `packages/package-${index}/.*` }[dialect];
      return `${folder} @person${index} @octo\n`;
    });
    const text = `${lines.join('')}${CODEOWNERS[dialect]}`;
    t.true(text.length > 700_000);
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY, CODEOWNERS: text });
    const number = await scene.open({ 'src/a': 'a\n', 'packages/package-19000/a': 'a\n' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /^\| `packages\/package-19000\/a` \| `person19000`, `octo` \|/m);
    await scene.review(number, 'person19000', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: owners without a pattern are named, and nothing is green`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY, CODEOWNERS: '# everything\n@octo/core @alice\n' });
    const number = await scene.open({ 'src/a': 'a\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(
      scene.comments(number).join(),
      /^- `CODEOWNERS`, line 2: `@octo\/core` is an owner, but the line has no pattern/m,
    );
  });
}
