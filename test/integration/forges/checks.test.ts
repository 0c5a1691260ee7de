import test from '../../helpers/test.ts';
import { FORGES, forgeError, SITE, setUpPull } from './setup.ts';

const status = (context: string, state: string, author: string) => ({ context, state, author, description: '' });

for (const name of FORGES) {
  test(`${name}: of each status name and reporter the newest is read`, async (t) => {
    const { simulated, forge, sha } = await setUpPull(t, name);
    simulated.setStatus(SITE, sha, status('ci/web', 'pending', 'jenkins'));
    simulated.setStatus(SITE, sha, status('ci/web', 'success', 'mallory'));
    simulated.setStatus(SITE, sha, status('ci/web', 'failure', 'jenkins'));
    // A job whose conditions did not hold says nothing of the failure before it. GitHub's statuses have no such state.
    if (name !== 'github') {
      simulated.setStatus(SITE, sha, status('ci/web', 'skipped', 'jenkins'));
    }
    simulated.setStatus(SITE, sha, status('lint', 'success', 'jenkins'));
    simulated.setStatus(SITE, simulated.head(SITE, 'main'), status('other', 'success', 'jenkins'));
    t.deepEqual(await forge.checks(SITE, sha), {
      checks: [
        { kind: 'status', name: 'lint', reporter: 'jenkins', state: 'success' },
        { kind: 'status', name: 'ci/web', reporter: 'jenkins', state: 'failure' },
        { kind: 'status', name: 'ci/web', reporter: 'mallory', state: 'success' },
      ],
      suites: [],
      complete: true,
    });
  });

  test(`${name}: all pages of statuses are read`, async (t) => {
    const { simulated, forge, sha } = await setUpPull(t, name);
    for (let index = 0; index < 230; index++) {
      simulated.setStatus(SITE, sha, status(`job ${index}`, 'success', 'jenkins'));
    }
    const { checks } = await forge.checks(SITE, sha);
    t.is(new Set(checks.map((check) => check.name)).size, 230);
  });

  test(`${name}: checks that may not be read are refused, and none are made up`, async (t) => {
    const { simulated, forge, sha } = await setUpPull(t, name);
    for (const path of name === 'github' ? [/\/statuses$/, /\/checks$/] : [/\/statuses\//]) {
      simulated.fault({ path, fault: { kind: 'status', status: 403 } });
      t.is((await forgeError(t, () => forge.checks(SITE, sha))).kind, 'refused', String(path));
      simulated.clearFaults();
    }
  });
}

test('github: of each check run name and App the newest is read, and every suite, on all pages', async (t) => {
  const { simulated, forge, sha } = await setUpPull(t, 'github');
  const run = (check: string, app: string, conclusion?: string) =>
    simulated.runCheck(SITE, sha, { name: check, app, ...(conclusion === undefined ? {} : { conclusion }) });
  run('build', 'github-actions', 'failure');
  for (let index = 0; index < 120; index++) {
    run(`job ${index}`, 'github-actions', 'skipped');
  }
  run('build', 'buildkite', 'success');
  run('build', 'github-actions');
  simulated.setStatus(SITE, sha, status('build', 'success', 'jenkins'));
  for (let index = 0; index < 101; index++) {
    simulated.openSuite(SITE, sha, `idle-${index}`);
  }
  const { checks, suites, complete } = await forge.checks(SITE, sha);
  t.true(complete);
  t.is(checks.length, 123);
  t.is(new Set(suites.map(({ reporter }) => reporter).filter((name) => name.startsWith('idle-'))).size, 101);
  t.deepEqual(
    checks.filter(({ name }) => name === 'build').map(({ url: _, ...check }) => check),
    [
      { kind: 'status', name: 'build', reporter: 'jenkins', state: 'success' },
      { kind: 'check-run', name: 'build', reporter: 'github-actions[bot]', state: 'pending' },
      { kind: 'check-run', name: 'build', reporter: 'buildkite[bot]', state: 'success' },
    ],
  );
});

for (const [what, text, by] of [
  ['suites that are counted and not listed', '"totalCount":1,"nodes":[{"id"', '"totalCount":2,"nodes":[{"id"'],
  [
    'runs that are counted and not listed',
    '"totalCount":1,"nodes":[{"databaseId"',
    '"totalCount":2,"nodes":[{"databaseId"',
  ],
] as const) {
  test(`github: ${what} make the checks incomplete`, async (t) => {
    const { simulated, forge, sha } = await setUpPull(t, 'github');
    simulated.runCheck(SITE, sha, { name: 'build', app: 'ci', conclusion: 'success' });
    t.true((await forge.checks(SITE, sha)).complete);
    simulated.fault({ path: /checks$/, fault: { kind: 'replace', text, by } });
    t.false((await forge.checks(SITE, sha)).complete);
  });
}

test('github: pages of checks that never end make the checks incomplete', async (t) => {
  const { simulated, forge, sha } = await setUpPull(t, 'github');
  const fault = { kind: 'replace', text: '"hasNextPage":false', by: '"hasNextPage":true' } as const;
  simulated.fault({ path: /checks$/, fault });
  t.false((await forge.checks(SITE, sha)).complete);
});

for (const [field, lacking] of [
  ['workflowRun', 'Actions: read'],
  ['checkSuites', 'Checks: read'],
] as const) {
  test(`github: without ${lacking} the checks are incomplete, and say so`, async (t) => {
    const { simulated, forge, sha } = await setUpPull(t, 'github');
    simulated.runCheck(SITE, sha, { name: 'build', app: 'github-actions', conclusion: 'success' });
    simulated.setStatus(SITE, sha, status('build', 'success', 'jenkins'));
    simulated.graphql.forbidden.push(field);
    t.like(await forge.checks(SITE, sha), { complete: false, lacking });
  });
}

test('github: a server that does not know workflows makes the checks invalid', async (t) => {
  const { simulated, forge, sha } = await setUpPull(t, 'github');
  simulated.graphql.missing.push('workflowRun');
  t.is((await forgeError(t, () => forge.checks(SITE, sha))).kind, 'invalid');
});
