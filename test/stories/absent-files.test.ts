import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { ALL_FORGES, type Scene, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

/** What a forge does not find at a commit may be there: it may not know the commit yet. */
const gatehouse = shareStories(test, ALL_FORGES, { own: true });

const STRICT = `version: 1
rules:
  - id: small
    require: { changed_files: '<= 1' }
`;
const LAX = STRICT.replace('<= 1', '<= 9');
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };
/** How these forges answer for a commit that they do not find. */
const NOT_FOUND = [
  ['github', 404],
  ['gitea', 404],
  ['gitea', 400],
] as const;

/** From now on a commit is not found where its files are read: on GitHub by REST, with GraphQL unavailable. */
function findsNothing(
  { forge, repository }: Scene,
  name: ForgeName,
  files: string,
  fault: { readonly status: number; readonly times?: number },
) {
  if (name === 'github') {
    forge.fault({ path: new RegExp(`^/graphql/repos/${repository}/`), fault: { kind: 'status', status: 502 } });
  }
  const { status, ...times } = fault;
  forge.fault({ path: new RegExp(`^/repos/${repository}/(?:${files})$`), ...times, fault: { kind: 'status', status } });
}

function filesAt(name: ForgeName, commit: string): string {
  return name === 'github' ? `contents/.*|git/trees/${commit}` : `git/trees/${commit}`;
}

for (const [name, status] of NOT_FOUND) {
  for (const [what, times] of [
    ['one answer', 1],
    ['every answer', undefined],
  ] as const) {
    test(`${name}: ${what} ${status} for the policy never frees what it blocks`, async (t) => {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': STRICT });
      const number = await scene.open(TWO_FILES);
      await scene.settled();
      t.is(scene.status(number)?.state, 'failure');
      const commit = scene.forge.commit(scene.repository, 'main', { 'README.md': 'x\n' });
      findsNothing(scene, name, filesAt(name, commit), { status, ...(times !== undefined && { times }) });
      await scene.edit(number, { title: 'another' });
      await scene.settled();
      t.false(scene.states(number).includes('success'));
      t.is(scene.status(number)?.state, times === undefined ? 'error' : 'failure');
    });
  }
}

for (const name of ALL_FORGES) {
  test(`${name}: one answer 404 for the policy never has the operator's judge`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-policy-'));
    t.teardown(() => rm(folder, { recursive: true }));
    const file = join(folder, 'organisation.yml');
    await writeFile(file, LAX);
    await using story = await tellStory(name, { '.gatehouse.yml': STRICT }, { POLICY_FILE: file });
    const number = await story.open(TWO_FILES);
    await story.settled();
    t.is(story.status(number)?.state, 'failure');
    const commit = story.forge.commit(story.repository, 'main', { 'README.md': 'x\n' });
    findsNothing(story, name, filesAt(name, commit), { status: 404, times: 1 });
    await story.edit(number, { title: 'another' });
    await story.settled();
    t.is(story.status(number)?.state, 'failure');
    t.false(story.states(number).includes('success'));
  });

  test(`${name}: one answer 404 for CODEOWNERS never counts as no owners`, async (t) => {
    const policy = `version: 1\nrules:\n  - id: owners\n    require: { approvals: { from: [CODEOWNERS] } }\n`;
    const owners = name === 'github' ? '.github/CODEOWNERS' : '.gitea/CODEOWNERS';
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy, [owners]: '* @carol\n' });
    const number = await scene.open(TWO_FILES);
    await scene.settled();
    const before = scene.status(number);
    t.is(before?.description, 'Waiting for 1 approval from the code owners of each changed file');
    const commit = scene.forge.commit(scene.repository, 'main', { 'README.md': 'x\n' });
    const files = name === 'github' ? 'contents/.*CODEOWNERS' : `git/trees/(?!${commit}).*`;
    findsNothing(scene, name, files, { status: 404, times: 1 });
    await scene.edit(number, { title: 'another' });
    await scene.settled();
    t.deepEqual(scene.status(number), before);
  });

  test(`${name}: a policy that extends an unknown commit is an error that says so`, async (t) => {
    const common = gatehouse(name).scene({ '.gatehouse.yml': STRICT });
    const extending = `version: 1\nextends: ${common.repository}@${'1'.repeat(40)}\nrules: []\n`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': extending });
    const number = await scene.open(TWO_FILES);
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /where no policy can be read/);
  });

  test(`${name}: a broken policy of a fork that cannot be read never passes`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': LAX });
    const { forge, repository } = scene;
    const fork = forge.fork(repository, 'mallory');
    forge.fault({ path: new RegExp(`^/repos/${fork}/`), fault: { kind: 'status', status: 404 } });
    const number = await scene.open({ '.gatehouse.yml': 'version: 1\nrules: none\n' }, { from: fork });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
  });
}
