import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

/** What depends on a word that the forge leaves out is undecided, and never green. */
const gatehouse = shareStories(test, FORGES, { own: true });

/** What a rule forbids, which answer tells it, and how it no longer does. */
const CASES = {
  github: [
    ['draft: true', '/pulls/1', '"draft":', '"x":'],
    ['assignee: mallory', '/pulls/1', '"assignees":[', '"assignees":null,"x":['],
    ['milestone: frozen', '/pulls/1', '"milestone":', '"x":'],
    ['visibility: internal', '', '"visibility":"private"', '"visibility":"limited"'],
  ],
  gitea: [
    ['assignee: mallory', '/pulls/1', '"assignees":', '"x":'],
    ['milestone: frozen', '/pulls/1', '"milestone":', '"x":'],
    ['visibility: internal', '', '"internal":', '"x":'],
  ],
  forgejo: [],
} as const;

for (const name of FORGES) {
  for (const [forbidden, path, text, by] of CASES[name]) {
    test(`${name}: the forbidden ${forbidden} is undecided if it is not told`, async (t) => {
      const policy = `version: 1\nrules:\n  - { id: told, forbid: { ${forbidden} } }\n`;
      const { forge, repository, ...scene } = gatehouse(name).scene({ '.gatehouse.yml': policy });
      const byGraphql = new RegExp(`^/graphql/repos/${repository}/pulls/`);
      forge.fault({ path: byGraphql, fault: { kind: 'status', status: 502 } });
      forge.setPrivate(repository, name === 'github');
      const number = await scene.open({ 'a.txt': 'a\n' });
      await scene.settled();
      t.is(scene.status(number)?.state, 'success', 'where it tells');

      const answers = new RegExp(`^/repos/${repository}${path}$`);
      forge.fault({ path: answers, fault: { kind: 'replace', text, by } });
      await scene.edit(number, { title: 'feat: another' });
      await scene.settled();
      t.is(scene.status(number)?.state, 'error');
    });
  }
}
