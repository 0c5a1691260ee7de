import { shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

/** What depends on a word that the forge leaves out is undecided, and never green: integration/forges has each word. */
const gatehouse = shareStories(test, ['github']);

test('github: a forbidden draft is undecided if it is not told', async (t) => {
  const policy = 'version: 1\nrules:\n  - { id: told, forbid: { draft: true } }\n';
  const { forge, repository, ...scene } = gatehouse('github').scene({ '.gatehouse.yml': policy });
  forge.fault({ path: new RegExp(`^/graphql/repos/${repository}/pulls/`), fault: { kind: 'status', status: 502 } });
  const number = await scene.open({ 'a.txt': 'a\n' });
  t.is(await scene.verdict(number), 'success', 'where it tells');

  const answers = new RegExp(`^/repos/${repository}/pulls/1$`);
  forge.fault({ path: answers, fault: { kind: 'replace', text: '"draft":', by: '"x":' } });
  await scene.edit(number, { title: 'feat: another' });
  t.is(await scene.verdict(number), 'error');
});
