import { randomBytes } from 'node:crypto';
import { type Gitea, HOST_NAME, inContainer, logOf, type Person, REPOSITORIES } from '../helpers/gitea-container.ts';
import { DISMISSAL, expectStatus, MAIN, type OpenDetails, type ShownInline } from '../helpers/site.ts';
import { nextSecond, until } from '../helpers/until.ts';
import { UNITS } from '../simulated-forge/gitea-people-routes.ts';
import { type Clone, makeClone } from './git-push.ts';
import { HOOK_EVENTS, type HookedSite, type TestForge } from './test-forge.ts';

const OWNER = 'alice';
const STATES = { approved: 'APPROVED', 'changes-requested': 'REQUEST_CHANGES', commented: 'COMMENT' } as const;

export function realForge(gitea: Gitea): TestForge {
  const clones: Clone[] = [];
  return {
    kind: 'real',
    name: 'gitea',
    url: gitea.url,
    token: gitea.tokens.gatehouse,
    readingToken: gitea.tokens.reader,
    ownerToken: gitea.tokens[OWNER],
    hostName: HOST_NAME,
    // Not the loopback address, which a container cannot reach.
    listenOn: '0.0.0.0',
    async site(files = {}) {
      const name = `site-${randomBytes(6).toString('hex')}`;
      await api(gitea, OWNER, 'POST', '/user/repos', { name, auto_init: true, default_branch: MAIN });
      for (const person of ['bob', 'gatehouse']) {
        const permission = { permission: 'write' };
        await api(gitea, OWNER, 'PUT', `/repos/${OWNER}/${name}/collaborators/${person}`, permission);
      }
      const site = makeSite(gitea, name, clones);
      await site.push(MAIN, { 'README.md': 'Hello\n', ...files });
      return site;
    },
    async organisationRepository(teams) {
      const organisation = `org-${randomBytes(6).toString('hex')}`;
      const repository = `${organisation}/site`;
      await api(gitea, OWNER, 'POST', '/orgs', { username: organisation });
      await api(gitea, OWNER, 'POST', `/orgs/${organisation}/repos`, { name: 'site', auto_init: true });
      for (const person of ['bob', 'gatehouse']) {
        const permission = { permission: 'write' };
        await api(gitea, OWNER, 'PUT', `/repos/${repository}/collaborators/${person}`, permission);
      }
      const ids = new Map<string, number>();
      const add = (team: string, person: Person) =>
        api<void>(gitea, OWNER, 'PUT', `/teams/${ids.get(team)}/members/${person}`);
      for (const [name, { access, members }] of Object.entries(teams)) {
        const team = { name, units_map: UNITS[access] };
        ids.set(name, (await api<{ id: number }>(gitea, OWNER, 'POST', `/orgs/${organisation}/teams`, team)).id);
        await api(gitea, OWNER, 'PUT', `/teams/${ids.get(name)}/repos/${repository}`);
        for (const person of members) {
          await add(name, person);
        }
      }
      return { repository, join: (team) => add(team, 'gatehouse') };
    },
    async organisation(members) {
      const name = `org-${randomBytes(6).toString('hex')}`;
      await api(gitea, OWNER, 'POST', '/orgs', { username: name });
      const team = { name: 'members', permission: 'read', units: ['repo.code'] };
      const { id } = await api<{ id: number }>(gitea, OWNER, 'POST', `/orgs/${name}/teams`, team);
      for (const [login, as] of Object.entries({ ...members, [OWNER]: 'public' as const })) {
        if (login !== OWNER) {
          await api(gitea, OWNER, 'PUT', `/teams/${id}/members/${login}`);
        }
        if (as === 'public') {
          await api(gitea, login as Person, 'PUT', `/orgs/${name}/public_members/${login}`);
        }
      }
      return name;
    },
    async requests(site) {
      const log = await logOf(gitea.container);
      return [...log.matchAll(/"(\w+ (\S+)) HTTP[^"]*" \d+ .*"gatehouse"/g)]
        .filter(([, , path = '']) => path.startsWith(`/api/v1/repos/${site.repository}/`))
        .map(([, request = '']) => request);
    },
    async close() {
      await Promise.all(clones.map((clone) => clone.remove()));
    },
  };
}

function makeSite(gitea: Gitea, firstName: string, clones: Clone[]): HookedSite {
  let name = firstName;
  let hookId: number | undefined;
  const made = new Map<string, Promise<Clone>>();
  const path = () => `/repos/${OWNER}/${name}`;
  const as = <T>(person: Person, method: string, rest: string, body?: object) =>
    api<T>(gitea, person, method, `${path()}${rest}`, body);

  async function cloneOf(person: Person, owner = person): Promise<Clone> {
    const url = new URL(`${gitea.url}/${owner}/${name}.git`);
    url.username = person;
    url.password = gitea.tokens[person];
    const key = `${person} at ${owner}`;
    const clone = made.get(key) ?? makeClone(url.href, person);
    made.set(key, clone);
    const done = await clone;
    clones.push(done);
    return done;
  }

  async function opened(head: string, person: Person, details: OpenDetails, more: object = {}): Promise<number> {
    const { title = 'feat: change something', body = '', base = MAIN, draft = false } = details;
    const pull = { head, base, title: draft ? `WIP: ${title}` : title, body, ...more };
    return (await as<{ number: number }>(person, 'POST', '/pulls', pull)).number;
  }

  const pullOf = (number: number) =>
    as<{
      state: 'open' | 'closed';
      merged: boolean;
      head: { sha: string; ref: string };
      base: { sha: string };
      merge_base: string;
      mergeable: boolean;
    }>('gatehouse', 'GET', `/pulls/${number}`);
  const branchOf = async (of: number | string) => (typeof of === 'number' ? (await pullOf(of)).head.ref : of);

  /** Newest first. */
  async function statusesOf(of: number | string) {
    const sha = typeof of === 'number' ? (await pullOf(of)).head.sha : of;
    return as<{ context: string; status: string; description: string }[]>(
      'gatehouse',
      'GET',
      // Gitea sorts by the highest index when asked for the least, and the other way around.
      `/statuses/${sha}?sort=leastindex&limit=50`,
    );
  }

  interface Written {
    readonly id: number;
    readonly body: string;
    readonly user: { readonly login: string };
  }
  /** What Gatehouse has written there. */
  async function ownOf<T extends Written>(rest: string): Promise<readonly T[]> {
    return (await as<T[]>('gatehouse', 'GET', rest)).filter(({ user }) => user.login === 'gatehouse');
  }

  async function labelIds(names: readonly string[]): Promise<readonly number[]> {
    const present = await as<{ id: number; name: string }[]>(OWNER, 'GET', '/labels');
    const ids: number[] = [];
    for (const label of names) {
      const found =
        present.find((one) => one.name === label) ??
        (await as<{ id: number }>(OWNER, 'POST', '/labels', { name: label, color: '#ededed' }));
      ids.push(found.id);
    }
    return ids;
  }

  const site: HookedSite = {
    get repository() {
      return `${OWNER}/${name}`;
    },
    push: async (to, ...changes) => (await cloneOf(OWNER)).push(await branchOf(to), changes),
    forcePush: async (to, changes) => (await cloneOf(OWNER)).push(await branchOf(to), [changes], { onto: MAIN }),
    merge: async (branch, commit, changes) => (await cloneOf(OWNER)).merge(branch, commit, changes),
    async updateBranch(number) {
      // Gitea handles the push later: it writes the entry `pull_push`, and then computes the merge base. A merge before
      // that can keep the head as the merge base, and then the merged pull request has no commits.
      const pushes = async () => {
        const events = await as<{ type: string }[]>('bob', 'GET', `/issues/${number}/timeline?limit=50`);
        return events.filter(({ type }) => type === 'pull_push').length;
      };
      const [before, had] = [await pullOf(number), await pushes()];
      await as('bob', 'POST', `/pulls/${number}/update?style=merge`);
      await until(async () => (await pushes()) > had);
      await until(async () => {
        const { head, base, merge_base, mergeable } = await pullOf(number);
        return head.sha !== before.head.sha && merge_base === base.sha && mergeable;
      });
      return (await pullOf(number)).head.sha;
    },
    async deleteBranch(branch) {
      await as(OWNER, 'DELETE', `/branches/${encodeURIComponent(branch)}`);
    },
    async open(from, details = {}) {
      if (typeof from === 'string') {
        return opened(from, OWNER, details);
      }
      const { head = `topic-${randomBytes(6).toString('hex')}` } = details;
      await site.push(head, from);
      return opened(head, OWNER, details);
    },
    async openFromFork(changes, { labels, assignees } = { labels: [], assignees: [] }) {
      await as('mallory', 'POST', '/forks', {});
      await (await cloneOf('mallory')).push('topic', [changes]);
      const more = { labels: await labelIds(labels), assignees };
      return opened('mallory:topic', 'mallory', { title: 'feat: from a fork' }, more);
    },
    async deleteFork() {
      await api(gitea, 'mallory', 'DELETE', `/repos/mallory/${name}`);
    },
    async pushForReview(changes) {
      await (await cloneOf('mallory', OWNER)).pushForReview(changes);
      const open = await as<{ number: number; user: { login: string } }[]>(OWNER, 'GET', '/pulls?state=open');
      return Math.max(...open.filter(({ user }) => user.login === 'mallory').map(({ number }) => number));
    },
    async edit(number, change) {
      await as(OWNER, 'PATCH', `/pulls/${number}`, change);
    },
    async close(number) {
      await as(OWNER, 'PATCH', `/pulls/${number}`, { state: 'closed' });
    },
    async reopen(number) {
      await as(OWNER, 'PATCH', `/pulls/${number}`, { state: 'open' });
    },
    async retarget(number, base) {
      await as(OWNER, 'PATCH', `/pulls/${number}`, { base });
    },
    async label(number, ...names) {
      await as(OWNER, 'POST', `/issues/${number}/labels`, { labels: await labelIds(names) });
    },
    async unlabel(number, label) {
      const [id] = await labelIds([label]);
      await as(OWNER, 'DELETE', `/issues/${number}/labels/${id}`);
    },
    async clearLabels(number) {
      await as(OWNER, 'DELETE', `/issues/${number}/labels`);
    },
    async review(number, person, state, body = state) {
      const review = { event: STATES[state], body };
      return (await as<{ id: number }>(person, 'POST', `/pulls/${number}/reviews`, review)).id;
    },
    async requestReview(number, person, by = OWNER) {
      await as(by, 'POST', `/pulls/${number}/requested_reviewers`, { reviewers: [person] });
    },
    async withdrawReviewRequest(number, person, by) {
      await as(by, 'DELETE', `/pulls/${number}/requested_reviewers`, { reviewers: [person] });
    },
    async assign(number, ...assignees) {
      await as(OWNER, 'PATCH', `/issues/${number}`, { assignees });
    },
    async setMilestone(number, title) {
      const made = title === null ? { id: 0 } : await as<{ id: number }>(OWNER, 'POST', '/milestones', { title });
      await as(OWNER, 'PATCH', `/issues/${number}`, { milestone: made.id });
    },
    async comment(number, person, body) {
      return (await as<{ id: number }>(person, 'POST', `/issues/${number}/comments`, { body })).id;
    },
    async editComment(_number, person, comment, body) {
      await as(person, 'PATCH', `/issues/comments/${comment}`, { body });
    },
    async deleteComment(_number, person, comment) {
      await as(person, 'DELETE', `/issues/comments/${comment}`);
    },
    async dismiss(number, review) {
      await as(OWNER, 'POST', `/pulls/${number}/reviews/${review}/dismissals`, { message: DISMISSAL });
    },
    async commentInline(number, person, { path: file, line, body }) {
      const comments = [{ path: file, new_position: line, body }];
      const { id } = await as<{ id: number }>(person, 'POST', `/pulls/${number}/reviews`, {
        event: 'COMMENT',
        comments,
      });
      const [first] = await as<{ id: number }[]>(person, 'GET', `/pulls/${number}/reviews/${id}/comments`);
      return first?.id ?? 0;
    },
    async resolve(_number, person, comment, resolved = true) {
      await as(person, 'POST', `/pulls/comments/${comment}/${resolved ? 'resolve' : 'unresolve'}`);
    },
    async setStatus(person, sha, status) {
      await as(person, 'POST', `/statuses/${sha}`, status);
    },
    async protect(branch, status) {
      const rule = { rule_name: branch, enable_status_check: true, status_check_contexts: [status] };
      await as(OWNER, 'POST', '/branch_protections', rule);
    },
    async stopRequiring(branch) {
      await as(OWNER, 'PATCH', `/branch_protections/${branch}`, { enable_status_check: false });
    },
    async mergeByButton(number) {
      let refused = false;
      await until(async () => {
        const answer = await as('bob', 'POST', `/pulls/${number}/merge`, { Do: 'merge' }).catch(refusalOf);
        refused = answer === 'refused';
        return answer !== 'checking';
      });
      return !refused;
    },
    async rename(newName) {
      await as(OWNER, 'PATCH', '', { name: newName });
      name = newName;
    },
    async setTopics(...topics) {
      await as(OWNER, 'PUT', '/topics', { topics });
    },
    async setPrivate(isPrivate) {
      await as(OWNER, 'PATCH', '', { private: isPrivate });
    },
    async remove() {
      await as(OWNER, 'DELETE', '');
    },
    async hook(port, secret) {
      const config = { url: `http://${HOST_NAME}:${port}/webhook`, content_type: 'json', secret };
      const hook = { type: 'gitea', active: true, events: HOOK_EVENTS, config };
      hookId = (await as<{ id: number }>(OWNER, 'POST', '/hooks', hook)).id;
    },
    async loseWebhooks(lost) {
      // Without its events the webhook would keep none but pushes.
      await as(OWNER, 'PATCH', `/hooks/${hookId}`, { active: !lost, events: HOOK_EVENTS });
    },
    nextSecond,
    async pushHeld(branch, changes) {
      const clone = await cloneOf(OWNER);
      const hooks = `${REPOSITORIES}/${OWNER}/${name}.git/hooks/post-receive.d`;
      const sh = (script: string) => inContainer(gitea.container, ['sh', '-c', script]);
      const before = await clone.tip(branch);
      // Its name comes before Gitea's own, which is what moves refs/pull/N/head.
      const script = `#!/bin/sh\\nwhile [ -e ${hooks}.held ]; do sleep 0.05; done\\n`;
      await sh(`touch ${hooks}.held && printf '${script}' >${hooks}/a-slow && chmod 755 ${hooks}/a-slow`);
      const pushing = clone.push(branch, [changes]);
      await until(async () => (await gitTip(gitea, `${OWNER}/${name}`, branch)) !== before);
      return {
        sha: await gitTip(gitea, `${OWNER}/${name}`, branch),
        async release() {
          await sh(`rm -f ${hooks}.held`);
          await pushing;
          await sh(`rm -f ${hooks}/a-slow`);
        },
      };
    },
    head: async (number) => (await pullOf(number)).head.sha,
    async state(number) {
      const { state, merged } = await pullOf(number);
      return merged ? 'merged' : state;
    },
    async status(of, context) {
      const newest = (await statusesOf(of)).find((one) => context === undefined || one.context === context);
      return newest && { state: newest.status, description: newest.description };
    },
    states: async (of) => (await statusesOf(of)).map(({ status }) => status).toReversed(),
    comments: async (number) => (await ownOf(`/issues/${number}/comments`)).map(({ body }) => body),
    async inlines(number) {
      const found: ShownInline[] = [];
      for (const { id } of await ownOf(`/pulls/${number}/reviews`)) {
        const comments = await as<{ path: string; position: number; body: string }[]>(
          'gatehouse',
          'GET',
          `/pulls/${number}/reviews/${id}/comments`,
        );
        found.push(...comments.map(({ path: file, position, body }) => ({ path: file, line: position, body })));
      }
      return found;
    },
    expect: (t, of, state, base) => expectStatus(t, site, of, state, base),
  };
  return site;
}

/** Why Gitea did not merge; throws what it does not say of branch protection or of its own search for conflicts. */
function refusalOf(error: Error): 'refused' | 'checking' {
  if (error.message.includes('Not all required status checks successful')) {
    return 'refused';
  }
  if (error.message.includes('Please try again later')) {
    return 'checking';
  }
  throw error;
}

function gitTip(gitea: Gitea, repository: string, branch: string): Promise<string> {
  const command = ['git', '-C', `${REPOSITORIES}/${repository}.git`, 'rev-parse', `refs/heads/${branch}`];
  return inContainer(gitea.container, command).then((sha) => sha.trim());
}

/** What a person does over the API. */
async function api<T>(gitea: Gitea, person: Person, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${gitea.url}/api/v1${path}`, {
    method,
    headers: { authorization: `token ${gitea.tokens[person]}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${person}: ${method} ${path}: ${response.status} ${text}`);
  }
  return (text === '' ? undefined : JSON.parse(text)) as T;
}
