import { randomUUID } from 'node:crypto';
import { readInstallation } from '../../src/db/installations.ts';
import { sign } from '../helpers/door.ts';
import { type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const gatehouse = shareStories(test, ['github']);

const POLICY = { '.gatehouse.yml': "version: 1\nrules: [{ id: t, require: { title: '^feat' } }]\n" };
const INSTALLATION = { id: 7, account: { login: 'acme' } };

/** Returns when the resync that it starts is over. */
async function deliver(scene: Scene, event: string, payload: object): Promise<void> {
  const since = new Date();
  const body = JSON.stringify(payload);
  const headers = { 'content-type': 'application/json', 'x-github-event': event, 'x-github-delivery': randomUUID() };
  const response = await fetch(`${scene.door.url}/webhook`, {
    method: 'POST',
    headers: { ...headers, 'x-hub-signature-256': sign(body) },
    body,
  });
  if (!response.ok) {
    throw new Error(`the door answered ${response.status}`);
  }
  await gatehouse('github').resynced(since);
  await scene.settled();
}

const listed = ({ repository }: Scene) => [{ id: 1, full_name: repository, private: false }];

// Which events ask for it is a table of unit/events.
for (const [event, payloadOf] of [
  ['installation_repositories', (scene: Scene) => ({ action: 'added', repositories_added: listed(scene) })],
  // Of an installation that does not list its repositories.
  ['installation', () => ({ action: 'unsuspend', installation: INSTALLATION })],
] as const) {
  test.serial(`github: ${event}: what was open before is reviewed`, async (t) => {
    const scene = gatehouse('github').scene(POLICY);
    const number = scene.openSilently({ 'a.txt': 'a' }, { title: 'feat: a' });
    await deliver(scene, event, payloadOf(scene));
    t.is(scene.status(number)?.state, 'success');
    if (event === 'installation') {
      await until(async () => (await readInstallation(scene.door.database, 'acme')) === INSTALLATION.id);
    }
  });
}

test.serial('github: a repository that is given to the App again is looked at again', async (t) => {
  const scene = gatehouse('github').scene(POLICY);
  await scene.settled(scene.open({ 'a.txt': 'a' }, { title: 'feat: a' }));
  const number = scene.openSilently({ 'b.txt': 'b' }, { title: 'feat: b' });
  await deliver(scene, 'installation_repositories', { action: 'added', repositories_added: listed(scene) });
  t.is(scene.status(number)?.state, 'success');
});

test.serial(
  'github: what depends on the visibility of a repository is judged again when it is made public',
  async (t) => {
    const scene = gatehouse('github').scene({
      '.gatehouse.yml': 'version: 1\nrules: [{ id: hidden, require: { visibility: private } }]\n',
    });
    scene.forge.setPrivate(scene.repository, true);
    const number = await scene.settled(scene.open({ 'a.txt': 'a' }));
    scene.forge.age(60_000);
    await scene.resync();
    t.is(scene.status(number)?.state, 'success');
    scene.forge.setPrivate(scene.repository, false);
    // Nobody's turn has come since the round before.
    await deliver(scene, 'repository', { action: 'publicized', repository: listed(scene)[0] });
    t.is(scene.status(number)?.state, 'failure');
  },
);
