import { randomUUID } from 'node:crypto';
import { sign } from '../helpers/door.ts';
import { REPOSITORY, type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const POLICY = { '.gatehouse.yml': "version: 1\nrules: [{ id: t, require: { title: '^feat' } }]\n" };
const LISTED = [{ id: 1, full_name: REPOSITORY, private: false }];
const INSTALLATION = { id: 7, account: { login: 'acme' } };

async function deliver({ door }: Story, event: string, payload: object): Promise<void> {
  const body = JSON.stringify(payload);
  const headers = { 'content-type': 'application/json', 'x-github-event': event, 'x-github-delivery': randomUUID() };
  const response = await fetch(`${door.url}/webhook`, {
    method: 'POST',
    headers: { ...headers, 'x-hub-signature-256': sign(body) },
    body,
  });
  if (!response.ok) {
    throw new Error(`the door answered ${response.status}`);
  }
}

for (const [event, payload] of [
  ['installation', { action: 'created', installation: INSTALLATION, repositories: LISTED }],
  [
    'installation_repositories',
    { action: 'added', installation: INSTALLATION, repositories_added: LISTED, repositories_removed: [] },
  ],
  ['repository', { action: 'transferred', repository: { full_name: REPOSITORY } }],
  ['repository', { action: 'publicized', repository: { full_name: REPOSITORY } }],
  ['ping', { zen: 'Keep it logically awesome.', hook_id: 1, repository: { full_name: REPOSITORY } }],
] as const) {
  const action = 'action' in payload ? ` ${payload.action}` : '';
  test(`github: ${event}${action}: pull requests that were open before never wait to be touched`, async (t) => {
    await using story = await tellStory('github', POLICY);
    const number = story.openSilently({ 'a.txt': 'a' }, { title: 'feat: a' });
    const since = new Date();
    await deliver(story, event, payload);
    await story.resynced(since);
    await story.settled();
    t.is(story.status(number)?.state, 'success');
  });
}

test('github: a repository that is given to the App again is looked at again', async (t) => {
  await using story = await tellStory('github', POLICY);
  await story.open({ 'a.txt': 'a' }, { title: 'feat: a' });
  await story.settled();
  const number = story.openSilently({ 'b.txt': 'b' }, { title: 'feat: b' });
  const since = new Date();
  await deliver(story, 'installation_repositories', { action: 'added', repositories_added: LISTED });
  await story.resynced(since);
  await story.settled();
  t.is(story.status(number)?.state, 'success');
});

test('github: an installation that does not list its repositories has them listed', async (t) => {
  await using story = await tellStory('github', POLICY);
  const number = story.openSilently({ 'a.txt': 'a' }, { title: 'feat: a' });
  const since = new Date();
  await deliver(story, 'installation', { action: 'unsuspend', installation: INSTALLATION });
  await story.resynced(since);
  await story.settled();
  t.is(story.status(number)?.state, 'success');
});
