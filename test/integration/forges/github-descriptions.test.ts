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
  const path = `/repos/${REPOSITORY}`;
  const statuses = `${path}/statuses/${headSha}`;
  const ofPulls = 'GET /repos/{owner}/{repo}/pulls';
  const ofStatuses = 'POST /repos/{owner}/{repo}/statuses/{sha}';
  const withMore = 'must NOT have additional properties';
  for (const [asked, fault, body, headers] of [
    [`${path}/pull`, `GET ${path}/pull: no operation is described`],
    [`${path}/pulls?owner=acme`, `${ofPulls}: query (all of it) ${withMore} owner`],
    [
      `${path}/pulls?state=draft`,
      `${ofPulls}: query /state must be equal to one of the allowed values open,closed,all`,
    ],
    [`${path}/pulls?per_page=101`, `${ofPulls}: query /per_page is over 100`],
    [`${path}/pulls?page=next`, `${ofPulls}: query /page must be integer`],
    [`${path}/pulls/first`, `${ofPulls}/{pull_number}: path /pull_number must be integer`],
    [
      `${path}/pulls`,
      `${ofPulls}: header Accept has 'text/html', which GitHub does not document`,
      undefined,
      { accept: 'text/html' },
    ],
    [`${path}/pulls`, `${ofPulls}: header X-GitHub-Api-Version is '1'`, undefined, { 'x-github-api-version': '1' }],
    [statuses, `${ofStatuses}: body (all of it) must have required property 'state'`, { description: 'x' }],
    [statuses, `${ofStatuses}: body (all of it) ${withMore} name`, { state: 'success', name: 'x' }],
    [statuses, `${ofStatuses}: body /context must be string`, { state: 'success', context: 7 }],
  ] as const) {
    t.deepEqual(await ask(asked, body, headers), [fault]);
  }
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
