import { CLIENTS } from '../helpers/forges.ts';
import { TITLES } from '../helpers/policies.ts';
import { shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, [...CLIENTS, 'forgejo']);

const LAX = TITLES.replace('^feat: ', '');
const OWNED = `version: 1
rules:
  - id: owned
    require: { approvals: { from: [CODEOWNERS] } }
`;

for (const name of CLIENTS) {
  test(`${name}: a tag named like the base branch does not replace its policy`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': TITLES });
    const { forge, repository } = scene;
    forge.tag(repository, 'main', forge.commit(repository, 'lax', { '.gatehouse.yml': LAX }));
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
    t.is(await scene.verdict(number), 'failure');
  });

  test(`${name}: a tag named like the base branch does not replace its CODEOWNERS`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': OWNED, CODEOWNERS: '* @bob\n' });
    const { forge, repository } = scene;
    forge.tag(repository, 'main', forge.commit(repository, 'lax', { CODEOWNERS: '# nobody\n' }));
    const number = await scene.open({ 'a.txt': 'a\n' });
    t.is(await scene.verdict(number), 'pending');
  });

  test(`${name}: extends reads a branch, a tag or a commit, and a branch before a tag`, async (t) => {
    const shared = `acme/policies-${name}`;
    const { forge } = gatehouse(name);
    forge.createRepository(shared, { '.gatehouse.yml': TITLES });
    const lax = forge.commit(shared, 'lax', { '.gatehouse.yml': LAX });
    forge.tag(shared, 'main', lax);
    forge.tag(shared, 'v1', lax);
    const states = await Promise.all(
      ['main', 'v1', lax].map(async (ref) => {
        const scene = gatehouse(name).scene({
          '.gatehouse.yml': `version: 1\nextends: ${shared}@${ref}\nrules: []\n`,
        });
        const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
        return scene.verdict(number);
      }),
    );
    t.deepEqual(states, ['failure', 'success', 'success']);
  });
}

/** GitHub refuses such names. */
for (const name of ['gitea', 'forgejo'] as const) {
  for (const kind of ['branch', 'tag'] as const) {
    test(`${name}: a ${kind} named like the base commit never replaces its files`, async (t) => {
      const scene = gatehouse(name).scene({ '.gitea/gatehouse.yml': OWNED, '.gitea/CODEOWNERS': '* @bob\n' });
      const { forge, repository } = scene;
      const base = forge.head(repository, 'main');
      const files = { '.gitea/gatehouse.yml': LAX, '.gitea/CODEOWNERS': '# nobody\n' };
      const lax = forge.commit(repository, 'lax', files);
      if (kind === 'tag') {
        forge.tag(repository, base, lax);
      } else {
        forge.reset(repository, base, lax);
      }
      const number = await scene.open({ 'a.txt': 'a\n' });
      t.is(await scene.verdict(number), 'pending');
    });
  }
}
