import { resyncNow, type Scene, type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

/** What a resync asks of GitHub about those whose words count: all by one query, and by REST only whom that leaves open. */
const RULES = {
  '.gatehouse.yml':
    'version: 1\nrules: [{ id: reviewed, require: { approvals: 1 } }, { id: calm, forbid: { changes_requested: true } }]\n',
};
const CHANGE = { 'a.txt': 'a\n' };
const PERMISSIONS = /^\/graphql\/permissions$/;

type State = Parameters<Scene['forge']['review']>[3];

/** Reviews by people who may not write: `first` tells the names apart. */
function strangersSay(scene: Scene, number: number, state: State, many: number, first = 0): void {
  for (let index = first; index < first + many; index++) {
    scene.forge.addOutsider(`stranger-${index}`);
    scene.forge.review(scene.repository, number, `stranger-${index}`, state);
  }
}

/** After this, a resync finds nothing new: what was changed this very second is looked at again by each. */
async function nothingNew(story: Story): Promise<void> {
  story.forge.age(60_000);
  await resync(story);
}

/** What a resync reads of pull requests, whom it asks about by REST, and by how many queries. */
async function resync(story: Story) {
  const before = story.forge.seen.length;
  await resyncNow(story);
  const paths = story.forge.seen.slice(before).map(({ path }) => path);
  return {
    read: paths.filter((path) => /^\/repos\/.*\/pulls\//.test(path)),
    asked: paths
      .flatMap((path) => /\/collaborators\/([^/]+)\/permission/.exec(path)?.[1]?.toLowerCase() ?? [])
      .toSorted(),
    queries: paths.filter((path) => PERMISSIONS.test(path)).length,
  };
}

/** What GraphQL does when a resync comes, and who is then asked about by REST. */
const RESYNCS: Readonly<Record<string, readonly [(story: Story) => void, readonly string[]]>> = {
  answers: [() => {}, []],
  'fails for reviewers': [
    ({ forge }) => forge.fault({ path: PERMISSIONS, fault: { kind: 'status', status: 502 } }),
    ['stranger-0', 'stranger-1', 'wanda'],
  ],
  'leaves one open': [
    ({ forge }) => {
      const [text, by] = ['"login":"Wanda"},"authorCanPushToRepository":true', '"login":"Wanda"}'];
      forge.fault({ path: PERMISSIONS, fault: { kind: 'replace', text, by } });
    },
    ['wanda'],
  ],
};

for (const [what, [weaken, people]] of Object.entries(RESYNCS)) {
  test(`github: a resync of nothing new requests no review: GraphQL ${what}`, async (t) => {
    await using story = await tellStory('github', RULES);
    const { forge, repository } = story;
    const number = story.openSilently(CHANGE);
    strangersSay(story, number, 'changes-requested', 1);
    strangersSay(story, number, 'approved', 1, 1);
    for (const login of ['helper[bot]', 'Copilot', 'ghost']) {
      forge.review(repository, number, login, 'changes-requested');
    }
    forge.review(repository, number, 'Wanda', 'approved');
    t.is(await story.judge(number), 'success');
    await nothingNew(story);
    weaken(story);
    const { read, asked } = await resync(story);
    t.deepEqual([read, asked], [[], people], 'no pull request is read');
    // REST is asked in lower case.
    for (const login of ['Wanda', 'wanda']) {
      forge.addOutsider(login);
    }
    await resync(story);
    t.is(story.status(number)?.state, 'pending');
  });
}

test('github: a resync finds access lost and given behind 150 strangers', async (t) => {
  await using story = await tellStory('github', RULES);
  const { forge, repository } = story;
  const number = story.openSilently(CHANGE);
  strangersSay(story, number, 'changes-requested', 150);
  forge.review(repository, number, 'yara', 'approved');
  t.is(await story.judge(number), 'success');
  await nothingNew(story);
  forge.removeOutsider('stranger-149');
  await resync(story);
  t.is(story.status(number)?.state, 'pending', 'the objection counts');
  forge.addOutsider('stranger-149');
  await resync(story);
  t.is(story.status(number)?.state, 'success');
  forge.fault({ path: /^\/graphql/, fault: { kind: 'status', status: 502 } });
  forge.addOutsider('yara');
  await resync(story);
  t.is(story.status(number)?.state, 'pending', 'also without GraphQL');
});
