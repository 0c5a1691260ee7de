import test from '../../helpers/test.ts';
import { readDescription } from '../../simulated-forge/api/description.ts';
import { githubChecks } from '../../simulated-forge/github-api/checks.ts';
import { fileOf, VERSIONS } from '../../simulated-forge/github-api/versions.ts';
import type { Call } from '../../simulated-forge/routes.ts';
import { startSimulatedForge } from '../../simulated-forge/simulated-forge.ts';

const REPOSITORY = 'acme/widgets';

test('all versions of GitHub describe the operations that are simulated', (t) => {
  const [first, ...others] = VERSIONS.map((version) => Object.keys(readDescription(fileOf(version)).operations));
  t.true(first !== undefined && first.length > 40);
  for (const operations of others) {
    t.deepEqual(operations, first);
  }
});

test('an exchange that GitHub does not describe names operation, field and rule', async (t) => {
  const forge = await startSimulatedForge({ forge: 'github', checked: true });
  forge.createRepository(REPOSITORY, { 'README.md': 'Hello\n' });
  forge.commit(REPOSITORY, 'topic', { 'README.md': 'Bye\n' });
  const number = forge.openPullRequest(REPOSITORY, { head: 'topic' });
  const { headSha } = forge.pull(REPOSITORY, number);
  const ask = async (path: string, body?: object, headers: object = {}) => {
    const sent = { authorization: `token ${forge.token}`, accept: 'application/vnd.github+json', ...headers };
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const type = body && { 'content-type': 'application/json' };
    await fetch(`${forge.url}/api/v3${path}`, { ...init, headers: { ...sent, ...type } });
    return t
      .throws(() => forge.assertValid(), { instanceOf: Error })
      ?.message.split('\n')
      .slice(1);
  };
  const status = 'POST /repos/{owner}/{repo}/statuses/{sha}';
  const pulls = 'GET /repos/{owner}/{repo}/pulls';
  const path = `/repos/${REPOSITORY}`;

  t.deepEqual(await ask(`${path}/pull`), [`GET ${path}/pull: no operation is described`]);
  t.deepEqual(await ask(`${path}/pulls?owner=acme`), [
    `${pulls}: query (all of it) must NOT have additional properties owner`,
  ]);
  t.deepEqual(await ask(`${path}/pulls?state=draft`), [
    `${pulls}: query /state must be equal to one of the allowed values open,closed,all`,
  ]);
  t.deepEqual(await ask(`${path}/pulls?per_page=101`), [`${pulls}: query /per_page is over 100`]);
  t.deepEqual(await ask(`${path}/pulls?page=next`), [`${pulls}: query /page must be integer`]);
  t.deepEqual(await ask(`${path}/pulls/first`), [
    'GET /repos/{owner}/{repo}/pulls/{pull_number}: path /pull_number must be integer',
  ]);
  t.deepEqual(await ask(`${path}/pulls`, undefined, { accept: 'text/html' }), [
    `${pulls}: header Accept has 'text/html', which GitHub does not document`,
  ]);
  t.deepEqual(await ask(`${path}/pulls`, undefined, { 'x-github-api-version': '1' }), [
    `${pulls}: header X-GitHub-Api-Version is '1'`,
  ]);
  const statuses = `${path}/statuses/${headSha}`;
  t.deepEqual(await ask(statuses, { description: 'x' }), [
    `${status}: body (all of it) must have required property 'state'`,
  ]);
  t.deepEqual(await ask(statuses, { state: 'success', name: 'x' }), [
    `${status}: body (all of it) must NOT have additional properties name`,
  ]);
  t.deepEqual(await ask(statuses, { state: 'success', context: 7 }), [`${status}: body /context must be string`]);
  await t.notThrowsAsync(forge.stop());
});

test('an answer has what GitHub always sends, and nothing that it does not describe', (t) => {
  const checks = githubChecks('api.github.com');
  const call: Call = {
    method: 'GET',
    path: '/repos/acme/widgets/pulls/1',
    body: {},
    headers: {},
    query: new URLSearchParams(),
    parameters: {},
    login: 'gatehouse',
    apiUrl: '',
  };
  const operation = 'GET /repos/{owner}/{repo}/pulls/{pull_number}';
  const answered = (status: number, body: object) => checks.complete(call, { status, body });

  const { whole, faults } = answered(200, { number: 1, user: { login: 'alice' } });
  t.deepEqual(faults, []);
  t.is(Object.keys(Object(whole.body)).length, 42);
  t.is(Object.keys(Object(whole.body).user).length, 18);
  t.is(Object(whole.body).user.login, 'alice');
  t.deepEqual(answered(201, {}).faults, [`${operation}: answer 201 is not described`]);
  t.deepEqual(answered(200, { title: null }).faults, [`${operation}: answer 200 /title must be string`]);
  t.deepEqual(answered(200, { colour: 'red' }).faults, [
    `${operation}: answer 200 has the field colour, which is not described`,
  ]);
});
