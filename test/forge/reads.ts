import { z } from 'zod';
import { TRIAGE } from '../../src/facts/triage.ts';
import * as shapes from '../../src/forges/gitea/shapes.ts';
import { makeForge } from '../../src/forges/make-forge.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import { PATIENCE } from '../helpers/patience.ts';
import { MAIN } from '../helpers/site.ts';
import { giteaChecks } from '../simulated-forge/gitea-api/checks.ts';
import { call } from './reading.ts';

/** Where to read, and what was made there last. */
export interface View {
  /** Of the forge. */
  readonly url: string;
  readonly token: string;
  readonly repository: string;
  readonly number: number;
  readonly sha: string;
  readonly lineReview: number;
}

/** What Gatehouse reads, asked as the client asks where it does, with the shapes that it reads it by. */
const ANSWERS: readonly (readonly [name: string, shape: z.ZodType, path: (view: View) => string])[] = [
  ['repository', shapes.inspectedRepository, () => ''],
  ['pull request', shapes.pull, ({ number }) => `/pulls/${number}`],
  ['pull requests', shapes.pulls, () => '/pulls?state=open&sort=oldest&page=1&limit=50'],
  ['files', shapes.files, ({ number }) => `/pulls/${number}/files?page=1&limit=50`],
  ['commits', shapes.commits, ({ number }) => `/pulls/${number}/commits?verification=true&files=false&page=1&limit=50`],
  ['head', shapes.gitRefs, ({ number }) => `/git/refs/pull/${number}/head`],
  ['reviews', shapes.reviews, ({ number }) => `/pulls/${number}/reviews?page=1&limit=50`],
  ['comments', shapes.personComments, ({ number }) => `/issues/${number}/comments`],
  ['timeline', shapes.timeline, ({ number }) => `/issues/${number}/timeline?page=1&limit=50`],
  ['statuses', shapes.statuses, ({ sha }) => `/statuses/${sha}?page=1&limit=50`],
  ['branch', shapes.branch, () => `/branches/${MAIN}`],
  ['contents', shapes.contents, ({ sha }) => `/contents/app.ts?ref=${sha}`],
  ['tree', shapes.tree, ({ sha }) => `/git/trees/${sha}?recursive=true&page=1`],
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
  ['history', shapes.commits, ({ sha }) => `/commits?sha=${sha}&not=${sha}&stat=false&verification=false&files=false`],
  ['directory of a commit', shapes.tree, ({ sha }) => `/git/trees/${sha}?page=1`],
];

/** What the client makes of it, for a review. */
const CLIENT: Readonly<Record<string, (client: Forge, view: View) => Promise<unknown>>> = {
  pullRequest: (client, view) => client.pullRequest(view),
  openPullRequests: (client, { repository }) => client.openPullRequests(repository),
  changedFiles: (client, view) => client.changedFiles(view, view.sha),
  commits: (client, view) => client.commits(view, { signatures: true, signers: true }),
  reviews: (client, view) => client.reviews(view),
  requestedReviews: (client, view) => client.requestedReviews(view),
  triage: (client, view) => client.ask(view, TRIAGE),
  lastForcePushOrRetarget: (client, view) => client.lastForcePushOrRetarget(view),
  comments: (client, view) => client.comments(view),
  conversations: (client, view) => client.conversations(view, view.sha),
  checks: (client, { repository, sha }) => client.checks(repository, sha),
  repository: (client, { repository }) => client.repository(repository),
  branchCommit: (client, { repository }) => client.branchCommit(repository, MAIN),
  tree: (client, { repository, sha }) => client.tree(repository, sha),
  fileAt: (client, { repository, sha }) => client.fileAt(repository, 'app.ts', sha),
  ownComments: (client, view) => client.ownComments(view),
  ownInlineComments: (client, view) => client.ownInlineComments(view, view.sha),
  status: (client, { repository, sha }) => client.status(repository, sha, 'ci'),
};

export interface Seen {
  /** By name, with the same name in each run for ids, times, objects, and for the addresses of forge and site. */
  readonly read: Readonly<Record<string, unknown>>;
  /** Where an answer is not as the forge's own description says. */
  readonly faults: readonly string[];
}

/** All that Gatehouse reads. */
export async function readAll(view: View): Promise<Seen> {
  const checks = giteaChecks();
  const faults: string[] = [];
  const read: Record<string, unknown> = {};
  for (const [name, shape, pathOf] of ANSWERS) {
    const path = `/repos/${view.repository}${pathOf(view)}`;
    const response = await call(view, 'GET', path);
    const { status } = response;
    const body: unknown =
      status !== 200 ? undefined : path.endsWith('.diff') ? await response.text() : await response.json();
    const url = new URL(path, 'http://forge.test');
    const asked = { method: 'GET', path: url.pathname, query: url.searchParams };
    const given = { ...asked, parameters: {}, body: {}, headers: {}, login: '', apiUrl: '' };
    faults.push(...checks.complete(given, { status, body }).faults);
    read[name] = status === 200 ? shape.parse(body) : `status ${status}`;
  }
  const credentials = { kind: 'token', token: view.token } as const;
  const client = makeForge({ forge: 'gitea', url: view.url, credentials }, { patience: PATIENCE });
  for (const [name, ask] of Object.entries(CLIENT)) {
    read[`client.${name}`] = await ask(client, view).catch((error: Error) => error.message);
  }
  await client.close();
  return { read: named(read, view), faults };
}

/** Names of fields that have one, or some. */
const ID = /^id$|Ids?$/;

function withoutNumber(id: unknown): unknown {
  return Array.isArray(id) ? id.map(withoutNumber) : /^\d+$/.test(String(id)) ? 'id' : id;
}

function named(read: Readonly<Record<string, unknown>>, { url, repository }: View): Readonly<Record<string, unknown>> {
  const commits = new Map<string, string>();
  const text = JSON.stringify(read, (key, value) => (ID.test(key) ? withoutNumber(value) : value))
    .replaceAll(url, 'FORGE')
    .replaceAll(repository, 'SITE')
    .replaceAll(/"\d{4}-\d\d-\d\dT[^"]*"/g, '"TIME"')
    .replaceAll(/[0-9a-f]{40}/g, (sha) => {
      const name = commits.get(sha) ?? `SHA${commits.size + 1}`;
      commits.set(sha, name);
      return name;
    });
  return JSON.parse(text);
}
