import { forgesOf, type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const baselineOf = (head: string) => `version: 1
${head}rules:
  - id: titled
    locked: true
    require: { title: '^feat: ' }
`;

/** Tries to replace the locked rule, and names people of its own. */
const OWN = `version: 1
override: { by: bob }
rules:
  - id: titled
    level: info
    require: { title: '^feat: ' }
  - id: documented
    require: { files: 'docs/**' }
`;

/** A failing pull request of a repository whose owner has a baseline with a locked rule. */
async function opened(story: Story, baseline: string): Promise<number> {
  story.forge.createRepository('acme/.gatehouse', { '.gatehouse.yml': baseline });
  const number = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
  await story.settled();
  return number;
}

const SETTING = { POLICY_REPOSITORY: '.gatehouse' };
const commandFor = ({ forge, repository }: Story, number: number, rule: string) =>
  `/gatehouse override ${rule} ${forge.pull(repository, number).headSha} hotfix 4711`;

for (const name of FORGES) {
  test(`${name}: comments off in a repository hide no override of a locked rule`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': OWN.replace('\n', '\ncomments: off\n') }, SETTING);
    const number = await opened(story, baselineOf('override: { by: carol }\n'));
    t.regex(story.comments(number).join(), /`titled@baseline`/);
    await story.comment(number, 'carol', commandFor(story, number, 'titled@baseline'));
    await story.settled();
    t.regex(story.comments(number).join(), /Overridden[\s\S]*`titled@baseline` \| `carol`: `hotfix 4711`/);
  });

  test(`${name}: a locked rule is overridden only by those whom the baseline names`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': OWN }, SETTING);
    const number = await opened(story, baselineOf('override: { by: carol }\n'));
    for (const rule of ['titled', 'titled@baseline', 'documented']) {
      await story.comment(number, 'bob', commandFor(story, number, rule));
    }
    await story.settled();
    t.deepEqual(story.status(number), {
      state: 'failure',
      description: '1 of 3 rules failed, 1 overridden: titled@baseline',
    });
    t.regex(
      story.comments(number).join(),
      /The override of `titled@baseline` by `bob` was not written by one of those who may override it: `carol`\./,
    );
    await story.comment(number, 'carol', commandFor(story, number, 'titled@baseline'));
    await story.settled();
    t.is(story.status(number)?.description, '2 rules overridden: hotfix 4711');
  });

  test(`${name}: a locked rule of a baseline that names nobody is not overridden`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': OWN }, SETTING);
    const number = await opened(story, baselineOf(''));
    await story.comment(number, 'bob', commandFor(story, number, 'titled@baseline'));
    await story.settled();
    t.is(story.status(number)?.state, 'failure');
    t.regex(
      story.comments(number).join(),
      /The override of `titled@baseline` by `bob` names a rule that nobody may override\./,
    );
    t.false(story.states(number).includes('success'));
  });
}
