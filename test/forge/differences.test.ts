import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { z } from 'zod';
import * as shapes from '../../src/forges/gitea/shapes.ts';
import { sharedGitea } from '../helpers/gitea.ts';
import { MAIN, type Site } from '../helpers/site.ts';
import { giteaChecks } from '../simulated-forge/gitea-api/checks.ts';
import { call } from './reading.ts';
import { realForge } from './real.ts';
import { simulatedForge } from './simulated.ts';
import type { TestForge } from './test-forge.ts';

/** Where the simulated Gitea differs from the real one in what Gatehouse reads, and why that is accepted. */
const ACCEPTED: readonly { readonly difference: RegExp; readonly why: string }[] = [
  {
    difference: /^\/assignees\//,
    why: 'the simulated forge has no list of collaborators: whoever commented, and is no outsider, may write',
  },
];

/** The real one processes a push later: it is asked so often before the first difference counts. */
const LOOKS = 60;
/** After that one, which fails the test. */
const LATER_LOOKS = 4;
const PAUSE_MS = 400;
const TIMEOUT_MS = 900_000;

interface Played {
  readonly forge: TestForge;
  readonly site: Site;
  number: number;
  sha: string;
  review: number;
  comment: number;
  lineReview: number;
}

/** What people do, in this order. */
const SCRIPT: Readonly<Record<string, (on: Played) => Promise<unknown>>> = {
  open: async (on) => {
    on.sha = await on.site.push('topic', { 'app.ts': 'one\n2\nthree\n' });
    on.number = await on.site.open('topic');
  },
  push: async (on) => {
    on.sha = await on.site.push('topic', { 'more.ts': 'more\n', 'old name.ts': null }, { 'new name.ts': 'old\n' });
  },
  'force-push': async (on) => {
    on.sha = await on.site.forcePush('topic', { 'app.ts': 'one\n2\nthree\nfour\n', 'bin.dat': 'a\0b' });
  },
  retarget: async ({ site, number }) => {
    await site.push('release', { 'other.ts': 'released\n' });
    await site.retarget(number, 'release');
  },
  'retarget back': ({ site, number }) => site.retarget(number, MAIN),
  label: ({ site, number }) => site.label(number, 'one', 'two'),
  'request a review': ({ site, number }) => site.requestReview(number, 'bob'),
  review: async (on) => {
    on.review = await on.site.review(on.number, 'bob', 'approved');
  },
  'review of an outsider': ({ site, number }) => site.review(number, 'mallory', 'changes-requested'),
  dismiss: ({ site, number, review }) => site.dismiss(number, review),
  comment: async (on) => {
    on.comment = await on.site.comment(on.number, 'bob', 'Hm.');
  },
  'edit the comment': ({ site, number, comment }) => site.editComment(number, 'bob', comment, 'Hm!'),
  status: ({ site, sha }) => site.setStatus('bob', sha, { context: 'ci', state: 'success' }),
  edit: ({ site, number }) => site.edit(number, { title: 'WIP: later', body: 'A description' }),
  'edit again': ({ site, number }) => site.edit(number, { title: 'feat: now' }),
  rename: ({ site }) => site.rename(`${site.repository.split('/')[1]}-renamed`),
  'comment at a line': async (on) => {
    const response = await call(on.forge, 'POST', `/repos/${on.site.repository}/pulls/${on.number}/reviews`, {
      event: 'COMMENT',
      commit_id: on.sha,
      comments: [{ path: 'app.ts', new_position: 2, body: 'Here' }],
    });
    on.lineReview = ((await response.json()) as { readonly id: number }).id;
  },
  'remove a label': ({ site, number }) => site.unlabel(number, 'one'),
  'remove all labels': ({ site, number }) => site.clearLabels(number),
  'comment again': async (on) => {
    on.comment = await on.site.comment(on.number, 'bob', 'Once more.');
  },
  'delete the comment': ({ site, number, comment }) => site.deleteComment(number, 'bob', comment),
  close: ({ site, number }) => site.close(number),
  reopen: ({ site, number }) => site.reopen(number),
  'another status': ({ site, sha }) => site.setStatus('gatehouse', sha, { context: 'ci', state: 'failure' }),
  protect: ({ site }) => site.protect('release', 'gatehouse*'),
  'advance the base': ({ site }) => site.push(MAIN, { 'base.ts': 'base\n' }),
  update: async (on) => {
    on.sha = await on.site.updateBranch(on.number);
  },
  'force-push again': async (on) => {
    on.sha = await on.site.forcePush('topic', { 'app.ts': 'one\n2\nthree\nfour\n5\n' });
  },
  'push two commits': async (on) => {
    on.sha = await on.site.push('topic', { 'src/two.ts': '2\n' }, { 'src/three.ts': '3\n' });
  },
  merge: ({ site, number }) => site.mergeByButton(number),
};

/** What Gatehouse reads, with the shapes that it reads it by. */
const READ: readonly (readonly [name: string, shape: z.ZodType, path: (on: Played) => string])[] = [
  ['repository', shapes.inspectedRepository, () => ''],
  ['pull request', shapes.pull, ({ number }) => `/pulls/${number}`],
  ['pull requests', shapes.pulls, () => '/pulls?state=all'],
  ['files', shapes.files, ({ number }) => `/pulls/${number}/files`],
  ['commits', shapes.commits, ({ number }) => `/pulls/${number}/commits?verification=true&files=false`],
  ['head', shapes.gitRefs, ({ number }) => `/git/refs/pull/${number}/head`],
  ['reviews', shapes.reviews, ({ number }) => `/pulls/${number}/reviews`],
  ['comments', shapes.personComments, ({ number }) => `/issues/${number}/comments`],
  ['timeline', shapes.timeline, ({ number }) => `/issues/${number}/timeline`],
  ['statuses', shapes.statuses, ({ sha }) => `/statuses/${sha}?sort=highestindex`],
  ['branch', shapes.branch, () => `/branches/${MAIN}`],
  ['contents', shapes.contents, ({ sha }) => `/contents/app.ts?ref=${sha}`],
  ['tree', shapes.tree, ({ sha }) => `/git/trees/${sha}?recursive=true`],
  [
    'comments at lines',
    shapes.inlineComments,
    ({ number, lineReview }) => `/pulls/${number}/reviews/${lineReview}/comments`,
  ],
  ['directory', shapes.contents, ({ sha }) => `/contents/src?ref=${sha}`],
  ['absent file', shapes.contents, ({ sha }) => `/contents/absent.ts?ref=${sha}`],
  ['absent branch', shapes.branch, () => '/branches/absent'],
  ['absent pull request', shapes.pull, () => '/pulls/999'],
  ['protected branch', shapes.protectedBranch, () => '/branches/release'],
  ['assignees', shapes.assignees, () => '/assignees'],
  ['teams', shapes.repositoryTeams, () => '/teams'],
  ['hooks', shapes.hooks, () => '/hooks'],
  ['diff', z.string(), ({ number }) => `/pulls/${number}.diff`],
  ['commits', shapes.commits, ({ sha }) => `/commits?sha=${sha}&not=${sha}&stat=false&verification=false&files=false`],
  ['directory of a commit', shapes.tree, ({ sha }) => `/git/trees/${sha}`],
];

/** Where the run has none, a second simulated one: what then differs is a fault of the comparison. */
const gitea = sharedGitea();

test('the simulated Gitea answers as the real one in all that Gatehouse reads', async (t) => {
  t.timeout(TIMEOUT_MS);
  const forges = {
    real: gitea ? realForge(gitea) : await simulatedForge('gitea'),
    simulated: await simulatedForge('gitea'),
  };
  t.log(`compared with a ${forges.real.kind} Gitea`);
  try {
    const { found, faults } = await play(await start(forges.real), await start(forges.simulated));
    t.deepEqual(faults, [], 'the answers of the real one, checked against its own description');
    t.deepEqual(
      found.filter((one) => !isAccepted(one)),
      [],
    );
    const unused = ACCEPTED.filter(({ difference }) => !found.some((one) => difference.test(one)));
    t.deepEqual(gitea === undefined ? [] : unused, [], 'accepted, but not found');
  } finally {
    await Promise.all(Object.values(forges).map((forge) => forge.close()));
  }
});

/** Each difference once, with the step after which it appeared. */
async function play(real: Played, simulated: Played) {
  const faults = new Set<string>();
  const steps = new Map<string, string>();
  for (const [step, act] of Object.entries(SCRIPT)) {
    await act(simulated);
    await act(real);
    const looks = [...steps.keys()].every(isAccepted) ? LOOKS : LATER_LOOKS;
    for (const difference of await differencesAfter(real, simulated, faults, looks)) {
      steps.set(difference, steps.get(difference) ?? step);
    }
  }
  return { faults: [...faults], found: [...steps].map(([difference, step]) => `${difference} (after: ${step})`) };
}

async function start(forge: TestForge): Promise<Played> {
  const site = await forge.site({ 'app.ts': 'one\ntwo\nthree\n', 'old name.ts': 'old\n', 'src/in.ts': 'in\n' });
  return { forge, site, number: 0, sha: '', review: 0, comment: 0, lineReview: 0 };
}

function isAccepted(found: string): boolean {
  return ACCEPTED.some(({ difference }) => difference.test(found));
}

async function differencesAfter(
  real: Played,
  simulated: Played,
  faults: Set<string>,
  looks: number,
): Promise<readonly string[]> {
  const expected = await look(simulated, new Set());
  let found: readonly string[] = [];
  for (let count = 0; count < looks; count += 1) {
    found = differencesOf(await look(real, faults), expected, '');
    if (found.every(isAccepted)) {
      break;
    }
    await sleep(PAUSE_MS);
  }
  return found;
}

/** All that Gatehouse reads, by name. */
async function look(on: Played, faults: Set<string>): Promise<Readonly<Record<string, unknown>>> {
  const checks = giteaChecks();
  const seen: Record<string, unknown> = {};
  for (const [name, shape, pathOf] of READ) {
    const path = `/repos/${on.site.repository}${pathOf(on)}`;
    const response = await call(on.forge, 'GET', path);
    const { status } = response;
    const body: unknown =
      status !== 200 ? undefined : path.endsWith('.diff') ? await response.text() : await response.json();
    const url = new URL(path, 'http://forge.test');
    const asked = { method: 'GET', path: url.pathname, query: url.searchParams };
    const { faults: told } = checks.complete(
      { ...asked, parameters: {}, body: {}, headers: {}, login: '', apiUrl: '' },
      { status, body },
    );
    for (const fault of told) {
      faults.add(fault);
    }
    seen[name] = status === 200 ? shape.parse(body) : `status ${status}`;
  }
  return named(seen, on);
}

/** With the same name in each run for ids, times, objects, and for the names of the site and the forge. */
function named(seen: Readonly<Record<string, unknown>>, { forge, site }: Played) {
  const commits = new Map<string, string>();
  const text = JSON.stringify(seen, (key, value) => (key === 'id' ? 'id' : value))
    .replaceAll(forge.url, 'FORGE')
    .replaceAll(site.repository, 'SITE')
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"TIME"')
    .replaceAll(/[0-9a-f]{40}/g, (sha) => {
      const name = commits.get(sha) ?? `SHA${commits.size + 1}`;
      commits.set(sha, name);
      return name;
    });
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** Each begins with the path of its field. */
function differencesOf(real: unknown, simulated: unknown, at: string): readonly string[] {
  if (isObject(real) && isObject(simulated)) {
    const names = [...new Set([...Object.keys(real), ...Object.keys(simulated)])];
    return names.flatMap((name) => differencesOf(real[name], simulated[name], `${at}/${name}`));
  }
  return Object.is(real, simulated)
    ? []
    : [`${at}: real ${JSON.stringify(real)}, simulated ${JSON.stringify(simulated)}`];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
