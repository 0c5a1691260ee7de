import { type Changes, makeCommit, mergeBase } from './git.ts';
import { makeHook } from './gitea-settings-routes.ts';
import { compareTrees } from './tree-diff.ts';
import { makeWebhook, type Webhook, type WebhookEvent, type WebhookParts } from './webhooks.ts';
import {
  baseSha,
  type CheckRun,
  type Comment,
  changesOf,
  commitOf,
  type Delivery,
  findRepository,
  type Hook,
  type InlineComment,
  moveHead,
  newId,
  type Protection,
  type Pull,
  type PullEvent,
  type Repository,
  type Review,
  type Ruleset,
  type Status,
  touch,
  type World,
} from './world.ts';

/** What people do on a forge, for stories to tell. Repositories are `owner/name`. */
export interface Driver {
  createRepository(fullName: string, files?: Changes): void;
  /** Commits on a branch, which is made from the default one if need be. Returns the commit's id. */
  commit(repository: string, branch: string, files: Changes, details?: CommitDetails): string;
  /** Names a commit; one of the same name moves. */
  tag(repository: string, name: string, sha: string): void;
  openPullRequest(repository: string, details: OpenDetails): number;
  /** Commits on the pull request's branch. Returns the new head. */
  push(repository: string, number: number, files: Changes, details?: CommitDetails): string;
  /** Merges the base branch into the pull request's, as the button does, with changes of the merge's own. */
  updateBranch(repository: string, number: number, author: string, own?: Changes): string;
  /**
   * Puts one commit upon the base branch in the place of all that the pull request had. Returns the new head. On GitHub
   * the reviews move to it if the patch is the same.
   */
  forcePush(repository: string, number: number, files: Changes, details?: CommitDetails): string;
  /** Pushes a commit that exists already, by force. Reviews stay at the commit they were given for. */
  pushCommit(repository: string, number: number, sha: string): void;
  /** Pull requests from it keep what they had; GitHub and Gitea close them. */
  deleteBranch(repository: string, branch: string): void;
  edit(repository: string, number: number, change: Partial<Pick<Pull, 'title' | 'body' | 'draft'>>): void;
  label(repository: string, number: number, ...names: string[]): void;
  unlabel(repository: string, number: number, name: string): void;
  clearLabels(repository: string, number: number): void;
  /** Asks for a merge into another branch. */
  retarget(repository: string, number: number, branch: string): void;
  /** Of the present head. */
  review(repository: string, number: number, author: string, state: Review['state'], body?: string): Review;
  dismiss(repository: string, number: number, review: number): void;
  /** Requests a review of a person, or of a team (`organisation/team`). It ends with the next one of that person, or of a member. */
  requestReview(repository: string, number: number, reviewer: string): void;
  withdrawReviewRequest(repository: string, number: number, reviewer: string): void;
  comment(
    repository: string,
    number: number,
    author: string,
    body: string,
    details?: Pick<Comment, 'byEmail' | 'importedFrom'>,
  ): Comment;
  /** Whoever may write can edit anybody's. */
  editComment(repository: string, number: number, comment: number, body: string): void;
  deleteComment(repository: string, number: number, comment: number): void;
  commentInline(repository: string, number: number, author: string, at: InlineAt): InlineComment;
  close(repository: string, number: number): void;
  reopen(repository: string, number: number): void;
  /** From now on a merge into the branch requires these statuses: names, or patterns that end in `*`. */
  protect(repository: string, branch: string, statuses: readonly string[], appId?: number): void;
  /** False when the base branch requires a status that the head does not have as a success. */
  merge(repository: string, number: number): boolean;
  /** Puts it last in the merge queue of its base. Returns the commit of its group. */
  enqueue(repository: string, number: number): string;
  /** Takes it out of its queue. The groups of those behind it stay as they are. */
  dequeue(repository: string, number: number): void;
  /** A copy under another owner. Returns its full name. */
  fork(repository: string, owner: string): string;
  rename(repository: string, newFullName: string): void;
  /** From now on it can be read only; its pull requests stay open. No webhook is sent of it. */
  archive(repository: string): void;
  unarchive(repository: string): void;
  /** Gitea and Forgejo close the pull requests from it. */
  deleteRepository(repository: string): void;
  setPrivate(repository: string, isPrivate: boolean): void;
  /** As if everything had happened so much earlier, up to now. */
  age(milliseconds: number): void;
  createTeam(team: string, members: readonly string[]): void;
  /** Without scopes it may do everything. On GitHub a token with scopes is a classic one, which only shows them. */
  addToken(token: string, login: string, scopes?: readonly string[]): void;
  /** From now on the token is not accepted. */
  revokeToken(token: string): void;
  /** From now on this person may look and speak, and decides nothing. */
  addOutsider(login: string): void;
  /** On Gitea and Forgejo: from now on what is done through the API is told there. What people do is told by the test. */
  addHook(repository: string, hook: Pick<Hook, 'url' | 'secret'> & Partial<Hook>): Hook;
  /** The webhooks of a repository, or of an organisation. */
  hooks(owner: string): readonly Hook[];
  deleteHook(owner: string, hook: number): void;
  /** Who may change the settings of every repository and organisation, as its owner may. */
  addAdministrator(login: string): void;
  protection(repository: string, branch: string): Protection | undefined;
  rulesets(repository: string): readonly Ruleset[];
  /**
   * How long files, difference and commits of Gitea and Forgejo stay those of the head before a push: 0 unless set.
   * Infinite holds them back until it is set anew.
   */
  delayDifferences(milliseconds: number): void;
  addDelivery(delivery: Omit<Delivery, 'id'>): Delivery;

  // What there is to see
  pull(repository: string, number: number): Pull;
  statuses(repository: string, sha?: string): readonly Status[];
  /** Sets a status in anybody's name. */
  setStatus(
    repository: string,
    sha: string,
    status: Pick<Status, 'context' | 'state' | 'description' | 'author'>,
  ): Status;
  /** A check run of an App's: a new one, as each attempt has. Without a conclusion it is in progress. GitHub's alone. */
  runCheck(repository: string, sha: string, run: Pick<CheckRun, 'name' | 'app'> & { conclusion?: string }): CheckRun;
  head(repository: string, branch: string): string;
  parents(sha: string): readonly string[];

  /** What the forge would send of it now. */
  webhook(repository: string, event: WebhookEvent, details: DeliveryDetails): Webhook;
  /** Sends it, as the forge would. */
  deliver(url: string, repository: string, event: WebhookEvent, details: DeliveryDetails): Promise<Response>;
}

interface CommitDetails {
  readonly message?: string;
  readonly author?: string;
  /** More parents make a merge: ids of commits. */
  readonly merging?: readonly string[];
  /** Whether it has a signature that the forge has verified. */
  readonly verified?: boolean;
}

interface OpenDetails {
  readonly head: string;
  /** A fork's full name, when the branch is there. */
  readonly from?: string;
  readonly base?: string;
  readonly title?: string;
  readonly body?: string;
  readonly author?: string;
  readonly draft?: boolean;
  readonly labels?: readonly string[];
}

type DeliveryDetails = Pick<WebhookParts, 'secret' | 'hookId' | 'deliveryId'>;

interface InlineAt {
  readonly path: string;
  readonly line: number;
  readonly body: string;
}

const MAIN = 'main';

export function makeDriver(world: World, forge: WebhookParts['forge'], url: string): Driver {
  const now = () => new Date().toISOString();

  function find(fullName: string): Repository {
    const repository = findRepository(world, fullName) ?? world.renames.get(fullName.toLowerCase());
    if (repository === undefined) {
      throw new Error(`no repository ${fullName} in the simulated forge`);
    }
    return repository;
  }

  function pull(repository: string, number: number): Pull {
    const found = find(repository).pulls.get(number);
    if (found === undefined) {
      throw new Error(`no pull request ${repository}#${number} in the simulated forge`);
    }
    return found;
  }

  function addRepository(fullName: string, branches: Map<string, string>): Repository {
    const repository = {
      id: newId(world),
      fullName,
      defaultBranch: MAIN,
      branches,
      tags: new Map(),
      pulls: new Map(),
      statuses: [],
      checkRuns: [],
      mergeQueues: new Map(),
      hooks: [],
      protections: new Map(),
      rulesets: [],
      pushedAt: now(),
      deleted: false,
      isPrivate: false,
      archived: false,
    };
    world.repositories.set(fullName.toLowerCase(), repository);
    return repository;
  }

  function commitOn(repository: Repository, branch: string, files: Changes, details: CommitDetails = {}): string {
    const { message = 'Change something', author = 'alice', merging = [], verified = false } = details;
    const tip = repository.branches.get(branch) ?? repository.branches.get(MAIN);
    const parents = [...(tip === undefined ? [] : [tip]), ...merging];
    const { sha } = makeCommit(world.objects, parents, files, { message, author, date: now(), verified });
    repository.branches.set(branch, sha);
    repository.pushedAt = now();
    for (const open of openFrom(repository, branch)) {
      moveHead(world, open, sha);
      record(open, 'pushed');
    }
    return sha;
  }

  function openFrom(repository: Repository, branch: string): readonly Pull[] {
    const found: Pull[] = [];
    for (const { pulls } of world.repositories.values()) {
      for (const one of pulls.values()) {
        if (one.state === 'open' && one.headRepository === repository && one.headBranch === branch) {
          found.push(one);
        }
      }
    }
    return found;
  }

  function record(on: Pull, kind: PullEvent['kind']): void {
    on.events.push({ id: newId(world), kind, at: now() });
  }

  /** As Gitea: of the statuses that a pattern names there is one at least, and all are a success. */
  function meetsProtection({ repository, baseBranch, headSha }: Pull): boolean {
    const present = new Map(
      repository.statuses.filter(({ sha }) => sha === headSha).map(({ context, state }) => [context, state]),
    );
    const protection = repository.protections.get(baseBranch);
    const required = protection?.checks === true ? protection.statuses : [];
    return required.every((pattern) => {
      const named = [...present].filter(([context]) =>
        pattern.endsWith('*') ? context.startsWith(pattern.slice(0, -1)) : context === pattern,
      );
      return named.length > 0 && named.every(([, state]) => state === 'success');
    });
  }

  const patchOf = (of: Pull) => JSON.stringify(changesOf(world, of).map(({ path, patch }) => [path, patch]));

  function change(repository: string, number: number, changes: Partial<Pull>): void {
    const changed = pull(repository, number);
    Object.assign(changed, changes);
    touch(changed);
  }

  const driver: Driver = {
    createRepository(fullName, files = { 'README.md': 'Hello\n' }) {
      commitOn(addRepository(fullName, new Map()), MAIN, files, { message: 'Begin' });
    },
    commit: (repository, branch, files, details) => commitOn(find(repository), branch, files, details),

    tag(repository, name, sha) {
      find(repository).tags.set(name, sha);
    },

    openPullRequest(repository, details) {
      const target = find(repository);
      const source = details.from === undefined ? target : find(details.from);
      const number = target.pulls.size + 1;
      target.pulls.set(number, {
        number,
        repository: target,
        headRepository: source,
        headBranch: details.head,
        baseBranch: details.base ?? MAIN,
        headSha: source.branches.get(details.head) ?? '',
        author: details.author ?? 'alice',
        createdAt: now(),
        updatedAt: now(),
        behind: undefined,
        title: details.title ?? 'feat: change something',
        body: details.body ?? '',
        draft: details.draft ?? false,
        labels: [...(details.labels ?? [])],
        state: 'open',
        merged: undefined,
        reviews: [],
        requested: [],
        comments: [],
        inlineComments: [],
        events: [],
      });
      record(pull(repository, number), 'pushed');
      return number;
    },

    push(repository, number, files, details) {
      const { headRepository, headBranch } = pull(repository, number);
      return commitOn(headRepository, headBranch, files, details);
    },
    updateBranch(repository, number, author, own = {}) {
      const on = pull(repository, number);
      const tip = baseSha(on);
      const before = commitOf(world, mergeBase(world.objects, tip, on.headSha) ?? tip).tree;
      const brought = compareTrees(before, commitOf(world, tip).tree).map(
        ({ path }) => [path, commitOf(world, tip).tree.get(path) ?? null] as const,
      );
      const files = { ...Object.fromEntries(brought), ...own };
      return commitOn(on.headRepository, on.headBranch, files, { message: 'Merge main', author, merging: [tip] });
    },
    forcePush(repository, number, files, details) {
      const { headRepository, headBranch, baseBranch, repository: target } = pull(repository, number);
      const pulls = openFrom(headRepository, headBranch).map((on) => ({ on, sha: on.headSha, patch: patchOf(on) }));
      headRepository.branches.set(headBranch, target.branches.get(baseBranch) ?? '');
      const head = commitOn(headRepository, headBranch, files, details);
      for (const { on, sha, patch } of pulls) {
        record(on, 'force-pushed');
        const moving = forge === 'github' && patchOf(on) === patch ? on.reviews : [];
        for (const review of moving.filter((one) => one.sha === sha)) {
          review.sha = head;
        }
      }
      return head;
    },
    pushCommit(repository, number, sha) {
      const { headRepository, headBranch } = pull(repository, number);
      headRepository.branches.set(headBranch, sha);
      headRepository.pushedAt = now();
      for (const on of openFrom(headRepository, headBranch)) {
        moveHead(world, on, sha);
        on.events.push({ id: newId(world), kind: 'force-pushed', at: now() });
      }
    },
    deleteBranch(repository, branch) {
      const from = find(repository);
      for (const open of forge === 'forgejo' ? [] : openFrom(from, branch)) {
        change(open.repository.fullName, open.number, { state: 'closed' });
      }
      from.branches.delete(branch);
    },
    edit: change,
    label(repository, number, ...names) {
      change(repository, number, { labels: [...pull(repository, number).labels, ...names] });
    },
    unlabel(repository, number, name) {
      change(repository, number, { labels: pull(repository, number).labels.filter((label) => label !== name) });
    },
    clearLabels: (repository, number) => change(repository, number, { labels: [] }),
    retarget(repository, number, baseBranch) {
      change(repository, number, { baseBranch });
      const on = pull(repository, number);
      record(on, 'retargeted');
      if (forge !== 'github') {
        on.events = on.events.filter(({ kind }) => kind === 'retargeted');
        record(on, 'pushed');
      }
    },

    review(repository, number, author, state, body = '') {
      const on = pull(repository, number);
      const official = !world.outsiders.has(author);
      const made: Review = {
        id: newId(world),
        author,
        state,
        dismissed: false,
        sha: on.headSha,
        body,
        at: now(),
        official,
      };
      on.reviews.push(made);
      on.requested = on.requested.filter((asked) => asked !== author && !world.teams.get(asked)?.includes(author));
      touch(on);
      return made;
    },
    requestReview(repository, number, reviewer) {
      change(repository, number, { requested: [...pull(repository, number).requested, reviewer] });
    },
    withdrawReviewRequest(repository, number, reviewer) {
      const { requested } = pull(repository, number);
      change(repository, number, { requested: requested.filter((candidate) => candidate !== reviewer) });
    },
    dismiss(repository, number, review) {
      if (forge === 'gitea' && pull(repository, number).merged) {
        throw new Error("can't dismiss a review associated to a closed or merged PR");
      }
      const found = pull(repository, number).reviews.find((candidate) => candidate.id === review);
      if (found !== undefined) {
        found.dismissed = true;
      }
      touch(pull(repository, number));
    },
    comment(repository, number, author, body, details = {}) {
      const made = { id: newId(world), author, body, at: now(), ...details };
      const on = pull(repository, number);
      on.comments.push(made);
      touch(on);
      return made;
    },
    editComment(repository, number, comment, body) {
      const edited = pull(repository, number).comments.find(({ id }) => id === comment);
      Object.assign(edited ?? {}, { body, editedAt: now() });
    },
    deleteComment(repository, number, comment) {
      const { comments } = pull(repository, number);
      comments.splice(
        comments.findIndex(({ id }) => id === comment),
        1,
      );
    },
    commentInline(repository, number, author, at) {
      const on = pull(repository, number);
      const { id: review } = driver.review(repository, number, author, 'commented');
      const made = { id: newId(world), author, at: now(), review, text: '', sha: on.headSha };
      const comment: InlineComment = { ...made, path: at.path, line: at.line, body: at.body };
      on.inlineComments.push(comment);
      return comment;
    },

    close: (repository, number) => change(repository, number, { state: 'closed' }),
    reopen: (repository, number) => change(repository, number, { state: 'open' }),
    protect(repository, branch, statuses, appId) {
      const protection = { checks: true, approvals: 0, push: false, statuses, ...(appId !== undefined && { appId }) };
      find(repository).protections.set(branch, protection);
    },
    merge(repository, number) {
      const found = pull(repository, number);
      if (!meetsProtection(found)) {
        return false;
      }
      const tree = commitOf(world, found.headSha).tree;
      const files: Record<string, Buffer | null> = {};
      for (const { path, previousPath } of changesOf(world, found)) {
        files[previousPath ?? path] = null;
        files[path] = tree.get(path) ?? null;
      }
      const details = { message: `Merge #${number}`, merging: [found.headSha], author: found.author };
      const into = baseSha(found);
      const as = commitOn(found.repository, found.baseBranch, files, details);
      change(repository, number, { state: 'closed', merged: { at: now(), into, as } });
      return true;
    },
    enqueue(repository, number) {
      const { headSha, baseBranch, repository: target } = pull(repository, number);
      const entries = target.mergeQueues.get(baseBranch) ?? [];
      const onto = entries.at(-1)?.headSha ?? target.branches.get(baseBranch) ?? '';
      const details = { message: `Merge #${number}`, author: 'github-merge-queue', date: now() };
      const files = Object.fromEntries(commitOf(world, headSha).tree);
      const { sha } = makeCommit(world.objects, [onto, headSha], files, details);
      target.mergeQueues.set(baseBranch, [...entries, { number, headSha: sha }]);
      return sha;
    },
    dequeue(repository, number) {
      const { baseBranch, repository: target } = pull(repository, number);
      const entries = target.mergeQueues.get(baseBranch) ?? [];
      target.mergeQueues.set(
        baseBranch,
        entries.filter((entry) => entry.number !== number),
      );
    },
    fork(repository, owner) {
      const fullName = `${owner}/${repository.split('/')[1]}`;
      addRepository(fullName, new Map(find(repository).branches));
      return fullName;
    },
    rename(repository, newFullName) {
      const found = find(repository);
      world.repositories.delete(repository.toLowerCase());
      world.renames.set(repository.toLowerCase(), found);
      found.fullName = newFullName;
      world.repositories.set(newFullName.toLowerCase(), found);
    },
    archive(repository) {
      find(repository).archived = true;
    },
    unarchive(repository) {
      find(repository).archived = false;
    },
    setPrivate(repository, isPrivate) {
      find(repository).isPrivate = isPrivate;
    },
    deleteRepository(repository) {
      const gone = find(repository);
      for (const branch of forge === 'github' ? [] : gone.branches.keys()) {
        for (const open of openFrom(gone, branch)) {
          change(open.repository.fullName, open.number, { state: 'closed' });
        }
      }
      gone.deleted = true;
    },
    age(milliseconds) {
      const earlier = (time: string) => new Date(Date.parse(time) - milliseconds).toISOString();
      for (const repository of world.repositories.values()) {
        repository.pushedAt = earlier(repository.pushedAt);
        for (const on of repository.pulls.values()) {
          on.updatedAt = earlier(on.updatedAt);
        }
      }
    },
    createTeam(team, members) {
      world.teams.set(team, members);
    },
    addOutsider(login) {
      world.outsiders.add(login);
    },
    addToken(token, login, scopes) {
      world.tokens.set(token, login);
      if (scopes !== undefined) {
        world.scopes.set(token, scopes);
      }
    },
    revokeToken(token) {
      world.tokens.delete(token);
    },
    addHook(repository, hook) {
      const made = makeHook(world, hook);
      find(repository).hooks.push(made);
      return made;
    },
    hooks: (owner) => (owner.includes('/') ? find(owner).hooks : (world.organisationHooks.get(owner) ?? [])),
    deleteHook(owner, hook) {
      const list = owner.includes('/') ? find(owner).hooks : (world.organisationHooks.get(owner) ?? []);
      list.splice(
        list.findIndex(({ id }) => id === hook),
        1,
      );
    },
    addAdministrator(login) {
      world.administrators.add(login);
    },
    protection: (repository, branch) => find(repository).protections.get(branch),
    rulesets: (repository) => find(repository).rulesets,
    delayDifferences(milliseconds) {
      world.differenceDelayMs = milliseconds;
    },
    addDelivery(delivery) {
      const made = { ...delivery, id: newId(world) };
      world.deliveries.push(made);
      return made;
    },

    setStatus(repository, sha, status) {
      const made = { id: newId(world), sha, targetUrl: '', at: new Date().toISOString(), ...status };
      find(repository).statuses.push(made);
      return made;
    },
    runCheck(repository, sha, { name, app, conclusion }) {
      const status = conclusion === undefined ? 'in_progress' : 'completed';
      const made = { id: newId(world), sha, name, app, status, conclusion: conclusion ?? null } as const;
      find(repository).checkRuns.push(made);
      return made;
    },
    pull,
    statuses: (repository, sha) =>
      find(repository).statuses.filter((status) => sha === undefined || status.sha === sha),
    head: (repository, branch) => find(repository).branches.get(branch) ?? '',
    parents: (sha) => commitOf(world, sha).parents,

    webhook: (repository, event, details) =>
      makeWebhook(world, find(repository), event, { forge, web: url, ...details }),
    deliver(to, repository, event, details) {
      const { headers, body } = driver.webhook(repository, event, details);
      return fetch(to, { method: 'POST', headers, body });
    },
  };
  return driver;
}
