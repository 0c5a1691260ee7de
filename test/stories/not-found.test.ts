import { makeLog } from '../../src/log.ts';
import { forgesOf, type Scene, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, 'github']);

const POLICY = `version: 1
rules:
  - id: small
    require: { changed_files: '<= 1' }
`;
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };

/** A pull request that the forge does not find, or a part of it: on GitHub by REST, with GraphQL unavailable. */
function isNotFound({ forge, repository }: Scene, number: number, { part, times }: { part?: string; times?: number }) {
  forge.fault({
    path: new RegExp(`^/graphql/repos/${repository}/pulls/${number}`),
    fault: { kind: 'status', status: 502 },
  });
  const path = new RegExp(`^/repos/${repository}/${part ?? `pulls/${number}`}$`);
  forge.fault({ path, ...(times !== undefined && { times }), fault: { kind: 'status', status: 404 } });
}

async function rows({ door, repository }: Scene) {
  return (await door.database.query('SELECT verdict FROM gatehouse.reviews WHERE repository = $1', [repository])).rows;
}

for (const name of FORGES) {
  test(`${name}: a pull request that is not found once is reviewed, and what is known of it is kept`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const number = scene.openSilently(TWO_FILES);
    isNotFound(scene, number, { times: 1 });
    t.is(await scene.judge(number), 'failure');
    const comments = scene.comments(number);
    isNotFound(scene, number, { times: 1 });
    await scene.edit(number, { title: 'another' });
    t.is(await scene.verdict(number), 'failure');
    t.deepEqual([scene.comments(number), (await rows(scene)).length], [comments, 1]);
  });

  test(`${name}: a pull request that is gone is never a failed review or a dead letter`, async (t) => {
    const lines: { readonly level: string; readonly msg: string }[] = [];
    const log = makeLog('info', { write: (line: string) => lines.push(JSON.parse(line)) });
    await using scene = await tellStory(name, { '.gatehouse.yml': POLICY }, {}, { door: true, worker: true }, { log });
    const number = await scene.settled(scene.open(TWO_FILES));
    isNotFound(scene, number, {});
    scene.forge.forgetRequests();
    lines.length = 0;
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'edited' }));
    t.deepEqual(await rows(scene), []);
    t.deepEqual(await scene.deadLetters(), []);
    const asked = scene.forge.seen.filter(({ path }) => path === `/repos/${scene.repository}/pulls/${number}`);
    t.is(asked.length, 6, 'once in each attempt');
    const said = lines.filter(({ level, msg }) => level !== 'info' || msg.startsWith('nothing to review'));
    t.deepEqual(
      said.map(({ msg }) => msg),
      ['nothing to review: the pull request does not exist, or Gatehouse’s account cannot see it'],
    );
  });
}

test('github: a base branch that is not found once never ends a review', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': POLICY });
  const number = scene.openSilently(TWO_FILES);
  isNotFound(scene, number, { part: 'git/ref/heads/main', times: 1 });
  t.is(await scene.judge(number), 'failure');
});
