import type { ForgeName } from '../../src/forges/port/forges.ts';
import { forgesOf, resyncNow, type Scene, type Story, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

/** Whose word counts is a matter of what they may do now. Nobody sends a webhook of that. */
const gatehouse = shareStories(test, FORGES);

const rules = (...lines: readonly string[]) =>
  `version: 1\nrules:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`;
const APPROVED = rules('id: approved, require: { approvals: 1 }');
const NO_OBJECTION = rules('id: agreed, forbid: { changes_requested: true }');
const BOTH = rules('id: approved, require: { approvals: 1 }', 'id: agreed, forbid: { changes_requested: true }');
const OVERRIDABLE = `${rules("id: titled, require: { title: '^fix' }")}override: { by: [olga, dora] }\n`;
const MINUTE_MS = 60_000;

async function opened(scene: Scene): Promise<number> {
  const number = await scene.open({ 'a.txt': 'a\n' });
  await scene.settled();
  return number;
}

/** Of a story, in which one of its scenes is looked at. */
async function resync(story: Story, scene: Scene = story): Promise<void> {
  // What was changed this very second is looked at again by each resync.
  story.forge.age(MINUTE_MS);
  await resyncNow(story);
  await scene.settled();
}

const said = (scene: Scene, number: number) => scene.comments(number).join();
const stateOf = (scene: Scene, number: number) => scene.status(number)?.state;

// Serial: one resync at a time.
for (const name of FORGES) {
  const onGitHub = name === 'github';
  const begin = (policy: string) => gatehouse(name).scene({ '.gatehouse.yml': policy });

  for (const [when, happens] of [
    ['resync', (scene: Scene) => resync(gatehouse(name), scene)],
    ['event', (scene: Scene, number: number) => scene.label(number, 'later')],
  ] as const) {
    test.serial(`${name}: an approval ends with its author's write access, at the next ${when}`, async (t) => {
      const scene = begin(APPROVED);
      const login = `dora-${when}`;
      const number = await opened(scene);
      await scene.review(number, login, 'approved');
      await scene.settled();
      t.is(stateOf(scene, number), 'success');
      scene.forge.addOutsider(login);
      await happens(scene, number);
      await scene.settled();
      t.is(stateOf(scene, number), 'pending');
      t.regex(said(scene, number), new RegExp(`not counted: \`${login}\`, who may not write to the repository`));
    });
  }

  test.serial(`${name}: an approval from before its author could write`, async (t) => {
    const scene = begin(APPROVED);
    const number = await opened(scene);
    scene.forge.addOutsider('nora');
    await scene.review(number, 'nora', 'approved');
    await scene.settled();
    t.is(stateOf(scene, number), 'pending');
    scene.forge.removeOutsider('nora');
    await resync(gatehouse(name), scene);
    t.is(stateOf(scene, number), onGitHub ? 'success' : 'pending');
    if (!onGitHub) {
      t.regex(said(scene, number), /`nora`, given before its author could write to the repository, .*: approve again/);
      await scene.review(number, 'nora', 'approved');
      await scene.settled();
      t.is(stateOf(scene, number), 'success');
    }
  });

  test.serial(`${name}: a request for changes counts once its author may write, and no longer`, async (t) => {
    const scene = begin(NO_OBJECTION);
    const number = await opened(scene);
    scene.forge.addOutsider('noel');
    await scene.review(number, 'noel', 'changes-requested');
    await scene.settled();
    t.is(stateOf(scene, number), 'success');
    scene.forge.removeOutsider('noel');
    await resync(gatehouse(name), scene);
    t.is(stateOf(scene, number), 'pending');
    scene.forge.addOutsider('noel');
    await resync(gatehouse(name), scene);
    t.is(stateOf(scene, number), 'success');
  });

  for (const [what, policy] of [
    ['alone', NO_OBJECTION],
    ['beside approvals', BOTH],
  ] as const) {
    test.serial(`${name}: neither a request nor a comment ends an objection, ${what}`, async (t) => {
      const scene = begin(policy);
      const number = await opened(scene);
      await scene.review(number, 'carol', 'approved');
      await scene.review(number, 'bob', 'changes-requested');
      await scene.settled();
      t.is(stateOf(scene, number), 'pending');
      for (const act of [
        () => scene.requestReview(number, 'bob'),
        () => scene.review(number, 'bob', 'commented'),
        () => resync(gatehouse(name), scene),
      ]) {
        await act();
        await scene.settled();
        t.is(stateOf(scene, number), 'pending');
        t.regex(said(scene, number), /1 request for changes, by `bob`/);
      }
      await scene.review(number, 'bob', 'approved');
      await scene.settled();
      t.is(stateOf(scene, number), 'success');
    });
  }

  test.serial(`${name}: an override ends with its author's write access`, async (t) => {
    const scene = begin(OVERRIDABLE);
    const number = await opened(scene);
    await scene.comment(number, 'olga', `/gatehouse override titled ${scene.head(number)} hotfix`);
    await scene.settled();
    t.is(stateOf(scene, number), 'success');
    scene.forge.addOutsider('olga');
    await resync(gatehouse(name), scene);
    t.is(stateOf(scene, number), 'failure');
    t.regex(said(scene, number), /by `olga` was written by somebody who may not write to the repository/);
  });

  test.serial(`${name}: a recheck is refused to somebody who may no longer write`, async (t) => {
    const scene = begin(APPROVED);
    const number = await opened(scene);
    await scene.review(number, 'rudi', 'approved');
    await scene.settled();
    scene.forge.addOutsider('rudi');
    await scene.comment(number, 'rudi', '/gatehouse recheck');
    await scene.settled();
    t.is(stateOf(scene, number), 'success', 'it was not judged again');
    await scene.comment(number, 'bob', '/gatehouse recheck');
    await scene.settled();
    t.is(stateOf(scene, number), 'pending');
  });
}

const SCOPES = ['write:repository', 'write:issue', 'read:user'];

/** Of an organisation, one of whose teams may only read. Gatehouse's account is in none. */
function tellOfOrganisation(name: ForgeName, policy: string): Promise<Story> {
  return tellStory(name, { '.gatehouse.yml': policy }, (forge) => {
    forge.createTeam('acme/readers', ['rita']);
    forge.addToken('narrow', 'gatehouse', SCOPES);
    forge.addOutsider('rita');
    forge.addOutsider('mallory');
    return { FORGE_TOKEN: 'narrow' };
  });
}

/** As the comment asks for: the scope, and a place in the team. */
function showTeam({ forge }: Story): void {
  forge.addToken('narrow', 'gatehouse', [...SCOPES, 'read:organization']);
  forge.createTeam('acme/readers', ['rita', 'gatehouse']);
}

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: no approval counts while members of a team that reads are hidden`, async (t) => {
    await using story = await tellOfOrganisation(name, APPROVED);
    story.forge.grantTeam(story.repository, 'acme/readers', 'read');
    const number = await opened(story);
    await story.review(number, 'bob', 'approved');
    await story.settled();
    t.is(stateOf(story, number), 'pending');
    t.regex(story.status(number)?.description ?? '', /whether bob may write: give the scope read:organization/);
    t.regex(said(story, number), /whether `bob` may write .* could not be read: give the scope read:organization/);
    showTeam(story);
    await resync(story);
    t.is(stateOf(story, number), 'success');
  });

  test(`${name}: an approval that was asked for again does not count for an amount`, async (t) => {
    const policy = rules('id: approved, require: { approvals: { count: 1, all_of: [bob] } }');
    await using story = await tellStory(name, { '.gatehouse.yml': policy });
    const number = await opened(story);
    await story.review(number, 'bob', 'approved');
    await story.settled();
    t.is(stateOf(story, number), 'success');
    await story.requestReview(number, 'bob');
    await resync(story);
    t.is(stateOf(story, number), 'pending');
    await story.review(number, 'carol', 'approved');
    await story.settled();
    t.is(stateOf(story, number), 'success', 'bob for himself, and carol for the amount');
  });

  test(`${name}: a resolution waits while members of a team that reads are hidden`, async (t) => {
    await using story = await tellOfOrganisation(
      name,
      rules('id: answered, require: { threads: { resolved_by: others } }'),
    );
    story.forge.grantTeam(story.repository, 'acme/readers', 'read');
    const number = await opened(story);
    const { id } = story.forge.commentInline(story.repository, number, 'carol', { path: 'a.txt', line: 1, body: '?' });
    story.forge.resolve(story.repository, number, id, 'bob');
    await resync(story);
    t.is(stateOf(story, number), 'pending');
    t.regex(story.status(number)?.description ?? '', /whether bob may write: give the scope read:organization/);
    showTeam(story);
    await resync(story);
    t.is(stateOf(story, number), 'success');
  });

  test(`${name}: a request for changes blocks unless its author certainly may not write`, async (t) => {
    await using story = await tellOfOrganisation(name, NO_OBJECTION);
    story.forge.grantTeam(story.repository, 'acme/readers', 'read');
    const number = await opened(story);
    await story.review(number, 'mallory', 'changes-requested');
    await story.settled();
    t.is(stateOf(story, number), 'success', 'in no team, and no collaborator');
    await story.review(number, 'rita', 'changes-requested');
    await story.settled();
    t.is(stateOf(story, number), 'pending');
    t.regex(story.status(number)?.description ?? '', /whether rita may write: give the scope read:organization/);
    t.regex(said(story, number), /whether `rita` may write .* could not be read: give the scope read:organization/);
    showTeam(story);
    await resync(story);
    t.is(stateOf(story, number), 'success', 'in a team that only reads');
    await story.review(number, 'bob', 'changes-requested');
    await story.settled();
    t.is(stateOf(story, number), 'pending', 'a collaborator');
  });
}
