import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES, { own: true });

const OWNED = `version: 1
rules:
  - id: owners
    require: { approvals: { from: [CODEOWNERS] } }
  - id: security
    require: { approvals: { from: ['@acme/security'] } }
  - id: anyone
    require: { approvals: 1 }
`;

async function state(scene: Scene, number: number): Promise<string> {
  await scene.settled();
  return scene.status(number)?.description ?? '';
}

const OWNERS = '1 approval from the code owners of each changed file';
const ALL_THREE = `Waiting for ${OWNERS} and 1 approval from @acme/security and 1 approval`;

for (const name of FORGES) {
  test(`${name}: neither the author nor a changed CODEOWNERS can approve`, async (t) => {
    const story = gatehouse(name);
    story.forge.createTeam('acme/security', ['sally']);
    // Gitea and Forgejo read expressions where GitHub reads globs; this is either.
    const owners = (login: string) => ({ CODEOWNERS: `.* @${login}\n* @${login}\n` });
    const scene = story.scene({ '.gatehouse.yml': OWNED, ...owners('olivia') });
    const number = await scene.open({ 'a.txt': 'a\n', ...owners('mallory') }, { author: 'mallory' });
    t.is(await state(scene, number), ALL_THREE);

    await scene.review(number, 'mallory', 'approved');
    t.is(await state(scene, number), ALL_THREE, 'the author counts for nothing');

    story.forge.addOutsider('otto');
    await scene.review(number, 'otto', 'approved');
    t.is(await state(scene, number), ALL_THREE, 'an outsider neither');

    await scene.review(number, 'olivia', 'commented');
    t.is(await state(scene, number), ALL_THREE, 'a comment is no approval');
    await scene.review(number, 'olivia', 'approved');
    t.is(await state(scene, number), 'Waiting for 1 approval from @acme/security', 'the owner by the base branch');
    await scene.review(number, 'sally', 'approved');
    t.is(await state(scene, number), 'All 3 rules that apply are met');
    await scene.review(number, 'olivia', 'changes-requested');
    t.is(await state(scene, number), `Waiting for ${OWNERS}`, 'the latest word counts');
  });
}
