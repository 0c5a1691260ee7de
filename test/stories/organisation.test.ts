import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const rules = (body: string) => `version: 1\nrules:\n${body}`;
const REVIEWED = rules("  - { id: reviewed, require: { approvals: { from: '@acme/*' } } }\n");
const STRANGERS = rules("  - { id: strangers, when: { not: { author: '@acme/*' } }, require: { label: accepted } }\n");
const OWN_PEOPLE = rules("  - { id: own-people, require: { contributors: { from: '@acme/*', only: true } } }\n");
const OF_OTHERS = rules("  - { id: reviewed, require: { approvals: { from: '@other/*' } } }\n");
const SIGNED = rules(
  "  - { id: signed, require: { commits: { every: { signed_by: ['@acme/*', '@acme/release'] } } } }\n",
);
const OVERRIDABLE = `version: 1
override: { by: ['@acme/*'] }
rules:
  - { id: title, require: { title: '^fix' } }
`;
const BY_TEAM = rules("  - { id: reviewed, require: { approvals: { from: ['@acme/core', bob] } } }\n");

/** What is asked of the organisation during a step: whose membership. */
async function askedIn(scene: Scene, step: () => Promise<unknown>): Promise<readonly string[]> {
  const before = scene.forge.seen.length;
  await step();
  await scene.settled();
  return scene.forge.seen
    .slice(before)
    .flatMap(({ path }) => /^\/orgs\/\w+\/(?:members|memberships)\/([^/]+)$/.exec(path)?.[1] ?? []);
}

async function opened(scene: Scene): Promise<number> {
  const number = await scene.open({ 'a.txt': 'a\n' });
  await scene.settled();
  return number;
}

async function signedBy(scene: Scene, signer: string): Promise<string | undefined> {
  const { forge, repository } = scene;
  forge.commit(repository, signer, { 'a.txt': `${signer}\n` }, { verified: true, signer });
  const number = forge.openPullRequest(repository, { head: signer });
  await scene.tell({ kind: 'pull-request', number, action: 'opened' });
  await scene.settled();
  return scene.status(number)?.state;
}

// Serial: they share the members of one organisation, and count what is asked about them.
for (const name of FORGES) {
  test.serial(`${name}: a member who may be hidden never counts as a stranger, nor as a member`, async (t) => {
    const { scene: open } = gatehouse(name);
    const scene = open({ '.gatehouse.yml': STRANGERS });
    scene.forge.addMember('acme', 'alice', 'hidden');
    const number = await opened(scene);
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /the author `alice`; the members of `acme\/\*` could not be read/);
    t.notRegex(scene.comments(number).join(), /must open the pull request/);
    await scene.label(number, 'accepted');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success', 'whoever the author is');

    const reviewed = open({ '.gatehouse.yml': REVIEWED });
    const another = await opened(reviewed);
    await reviewed.review(another, 'mallory', 'approved');
    await reviewed.settled();
    t.is(reviewed.status(another)?.state, 'error');
    t.regex(reviewed.comments(another).join(), /the members of `acme\/\*` could not be read/);

    const own = open({ '.gatehouse.yml': OWN_PEOPLE });
    t.is(own.status(await opened(own))?.state, 'error');
  });

  test.serial(`${name}: no signature counts while its member may be hidden`, async (t) => {
    const { scene: open } = gatehouse(name);
    const scene = open({ '.gatehouse.yml': SIGNED });
    t.is(await signedBy(scene, 'alice'), 'error', 'a hidden member');
    scene.forge.createTeam('acme/release', ['carol']);
    t.is(await signedBy(scene, 'carol'), 'success', 'in the team, whatever the organisation hides');
    t.is(await signedBy(scene, 'mallory'), 'error');
    scene.forge.addMember('acme', 'gatehouse');
    scene.forge.addMember('acme', 'bob');
    t.is(await signedBy(scene, 'bob'), 'success');
    t.is(await signedBy(scene, 'dan'), 'failure');
  });

  test.serial(`${name}: the approval of a member counts, and that of nobody else`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': REVIEWED });
    scene.forge.addMember('acme', 'gatehouse');
    scene.forge.addMember('acme', 'bob');
    const number = await opened(scene);
    t.is(scene.status(number)?.state, 'pending');
    t.deepEqual(await askedIn(scene, () => scene.review(number, 'bob', 'commented')), []);
    const asked = await askedIn(scene, () => scene.review(number, 'mallory', 'approved'));
    t.deepEqual([asked[0], scene.status(number)?.state], ['mallory', 'pending']);
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test.serial(`${name}: the author and all who committed may have to be members`, async (t) => {
    const { scene: open } = gatehouse(name);
    const scene = open({ '.gatehouse.yml': STRANGERS });
    const number = await scene.open({ 'a.txt': 'a\n' }, { author: 'mallory' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    scene.forge.addMember('acme', 'alice', 'hidden');
    let by: readonly string[] = [];
    by = await askedIn(scene, () => opened(scene));
    t.deepEqual(by, ['alice'], 'one request, about the author alone');

    const own = open({ '.gatehouse.yml': OWN_PEOPLE });
    t.is(own.status(await opened(own))?.state, 'success');
  });

  test.serial(`${name}: members of another owner’s organisation are never asked about`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': OF_OTHERS });
    scene.forge.addMember('other', 'gatehouse');
    scene.forge.addMember('other', 'bob');
    const number = await opened(scene);
    const asked = await askedIn(scene, () => scene.review(number, 'bob', 'approved'));
    t.deepEqual([asked, scene.status(number)?.state], [[], 'error']);
  });

  test.serial(`${name}: a member overrides where the policy lets the organisation`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': OVERRIDABLE });
    scene.forge.addMember('acme', 'bob');
    const number = await opened(scene);
    t.is(scene.status(number)?.state, 'failure');
    const command = `/gatehouse override title ${scene.head(number)} We have to.`;
    await scene.comment(number, 'carol', command);
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    await scene.comment(number, 'bob', command);
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test.serial(`${name}: nobody is asked about if no rule names an organisation`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': BY_TEAM });
    scene.forge.createTeam('acme/core', ['carol']);
    const asked = await askedIn(scene, async () => {
      const number = await opened(scene);
      await scene.review(number, 'bob', 'approved');
      await scene.settled();
      t.is(scene.status(number)?.state, 'success');
    });
    t.deepEqual(asked, []);
  });
}
