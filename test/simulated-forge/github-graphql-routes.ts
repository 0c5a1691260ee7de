import { type Commit, type Tree, typeOf } from './git.ts';
import type { Switches } from './github-dialect.ts';
import { associationOf, COPILOT, isApp, latestRuns, suiteNow } from './github-shapes.ts';
import type { Oddity } from './graphql-oddities.ts';
import type { Answer, Call, Routes } from './routes.ts';
import { textIn } from './routes.ts';
import type { FileChange } from './tree-diff.ts';
import {
  baseSha,
  type CheckSuite,
  changesOf,
  commitOf,
  commitsOf,
  findRepository,
  type InlineComment,
  isOutsider,
  lineInDiff,
  newestStatuses,
  type Pull,
  type QueueEntry,
  type Repository,
  type World,
} from './world.ts';

/** Undefined where the packages are not installed, as in the pod of a test: there this server has no GraphQL, as behind some proxies. */
const graphql = await import('./github-graphql.ts').catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') {
    throw error;
  }
  return undefined;
});

function queryError(type: string, message: string): Error {
  return Object.assign(new Error(message), { type });
}

const MAX_PAGE = 100;
const LARGEST_TEXT_BYTES = 524_288;
const MOST_FILES = 3_000;
const MOST_COMMITS = 250;

export function githubGraphqlRoutes(world: World, fields: Switches['graphql'], drawOddity?: () => Oddity): Routes {
  if (graphql === undefined) {
    return {};
  }
  const { runQuery } = graphql;
  const answer = (call: Call): Answer => {
    const root = {
      repository: ({ owner, name }: { owner: string; name: string }) => repositoryNode(world, call, `${owner}/${name}`),
      node: ({ id }: { id: string }) => suiteById(world, id),
    };
    const variables = Object(call.body['variables']);
    return { status: 200, body: runQuery(textIn(call.body, 'query'), variables, root, fields, drawOddity?.()) };
  };
  return { 'POST /graphql': answer, 'POST /graphql/*about': answer };
}

function repositoryNode(world: World, call: Call, fullName: string): object {
  const found = visibleRepository(world, call, fullName);
  if (found === undefined) {
    throw queryError('NOT_FOUND', `Could not resolve to a Repository with the name '${fullName}'.`);
  }
  return {
    nameWithOwner: found.fullName,
    isArchived: found.archived,
    object: ({ oid }: { oid: string }) => {
      const commit = world.objects.get(oid);
      return commit === undefined
        ? null
        : { ...commitNode(found, commit), associatedPullRequests: (page: Page) => pullsWith(world, found, oid, page) };
    },
    mergeQueue: ({ branch }: { branch: string }) => {
      const entries = found.mergeQueues.get(branch);
      return (
        entries && {
          entries: (page: Page) => connection(entries, page, (entry, index) => queueNode(world, found, entry, index)),
        }
      );
    },
    pullRequests({ states, ...page }: Page & { readonly states: readonly string[] }) {
      const pulls = [...found.pulls.values()].filter(({ state }) => states.includes(state.toUpperCase()));
      return connection(pulls, page, (pull) => pullNode(world, call, found, pull));
    },
    pullRequest({ number }: { number: number }) {
      const pull = found.pulls.get(number);
      if (pull === undefined) {
        throw queryError('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`);
      }
      return pullNode(world, call, found, pull);
    },
  };
}

/** Those whose change has the commit. None from forks, whose commits GitHub does not look for here. */
function pullsWith(world: World, repository: Repository, sha: string, page: Page): object {
  const pulls = [...repository.pulls.values()].filter(
    (pull) =>
      (pull.state === 'open' || pull.merged) &&
      pull.headRepository === repository &&
      commitsOf(world, pull).some((commit) => commit.sha === sha),
  );
  return connection(pulls, page, ({ number, headSha }) => ({ number, headRefOid: headSha }));
}

/** By its old name, too. An installation sees the repositories of its own owner: all here count as private. */
function visibleRepository(world: World, call: Call, fullName: string): Repository | undefined {
  const repository = findRepository(world, fullName) ?? world.renames.get(fullName.toLowerCase());
  const owner = world.installationTokens.get(call.headers['authorization']?.split(' ')[1] ?? '');
  const hidden = owner !== undefined && repository?.fullName.split('/')[0] !== owner;
  return hidden || repository?.deleted === true ? undefined : repository;
}

interface Page {
  readonly first?: number;
  readonly last?: number;
  readonly after?: string;
}

function connection<T>(
  items: readonly T[],
  { first, last, after }: Page,
  node: (item: T, index: number) => object,
): object {
  const size = first ?? last ?? 0;
  if (size < 1 || size > MAX_PAGE) {
    throw queryError('EXCESSIVE_PAGINATION', `Requesting ${size} records exceeds the limit of ${MAX_PAGE} records.`);
  }
  const start = last === undefined ? Number(after ?? 0) : Math.max(0, items.length - last);
  const end = start + size;
  return {
    totalCount: items.length,
    nodes: items.slice(start, end).map((item, index) => node(item, start + index)),
    pageInfo: { hasNextPage: end < items.length, endCursor: String(end) },
  };
}

function queueNode(world: World, repository: Repository, { number, headSha }: QueueEntry, index: number): object {
  const head = commitOf(world, headSha);
  const pull = repository.pulls.get(number);
  return {
    position: index + 1,
    baseCommit: { oid: head.parents[0] },
    headCommit: commitNode(repository, head),
    pullRequest: { number, headRefOid: pull?.headSha, baseRefName: pull?.baseBranch },
  };
}

function pullNode(world: World, call: Call, repository: Repository, pull: Pull): object {
  const list =
    <T>(items: () => readonly T[], node: (item: T, index: number) => object) =>
    (page: Page) =>
      connection(items(), page, node);
  const [owner] = repository.fullName.split('/');
  const web = call.apiUrl.replace(/\/api\/v3$/, '');
  const base = baseSha(pull);
  const queue = repository.mergeQueues.get(pull.baseBranch) ?? [];
  const place = queue.findIndex(({ number }) => number === pull.number);
  const entry = queue[place];
  return {
    mergeQueueEntry: entry === undefined ? null : queueNode(world, repository, entry, place),
    number: pull.number,
    url: `${web}/${repository.fullName}/pull/${pull.number}`,
    state: pull.merged ? 'MERGED' : pull.state.toUpperCase(),
    title: pull.title,
    body: pull.body,
    isDraft: pull.draft,
    updatedAt: pull.updatedAt,
    changedFiles: () => changesOf(world, pull).length,
    baseRefName: pull.baseBranch,
    baseRefOid: base,
    headRefName: pull.headBranch,
    headRefOid: pull.headSha,
    author: actor(pull.author),
    authorAssociation: associationOf(pull.author),
    labels: list(
      () => pull.labels,
      (name) => ({ name }),
    ),
    headRepository: pull.headRepository.deleted ? null : { nameWithOwner: pull.headRepository.fullName, owner },
    baseRef:
      base === ''
        ? null
        : {
            name: pull.baseBranch,
            prefix: 'refs/heads/',
            target: commitNode(repository, commitOf(world, base)),
          },
    files: list(() => changesOf(world, pull).slice(0, MOST_FILES), fileNode),
    commits: list(
      () => commitsOf(world, pull).slice(0, MOST_COMMITS),
      (commit) => ({ commit: commitNode(repository, commit) }),
    ),
    reviews({ states, ...page }: Page & { readonly states?: readonly string[] }) {
      const shown = pull.reviews
        .filter(({ state, author }) => state !== 'pending' || author === call.login)
        .map((review) => reviewNode(world, review));
      return connection(
        shown.filter(({ state }) => states?.includes(state) ?? true),
        page,
        (review) => review,
      );
    },
    comments: list(
      () => pull.comments,
      ({ id, body, author, at, editedAt, byEmail }) => ({
        ...commentNode(call, author),
        url: `${web}/${repository.fullName}/pull/${pull.number}#issuecomment-${id}`,
        fullDatabaseId: String(id),
        body,
        createdAt: at,
        lastEditedAt: editedAt ?? null,
        createdViaEmail: byEmail ?? false,
      }),
    ),
    reviewThreads: list(
      () => threadsOf(pull),
      (comments) => threadNode(world, call, pull, comments),
    ),
  };
}

function reviewNode(world: World, { id, author, state, dismissed, at, sha }: Pull['reviews'][number]) {
  return {
    fullDatabaseId: String(id),
    author: actor(author),
    state: dismissed ? 'DISMISSED' : state.replace('-', '_').toUpperCase(),
    submittedAt: state === 'pending' ? null : at,
    // Of a bot too, whose permission REST calls `none`.
    authorCanPushToRepository: author !== 'ghost' && !isOutsider(world, author),
    commit: { oid: sha },
  };
}

function threadsOf({ inlineComments }: Pull): readonly (readonly InlineComment[])[] {
  return [...Map.groupBy(inlineComments, ({ id, replyTo }) => replyTo ?? id).values()];
}

function threadNode(world: World, call: Call, pull: Pull, comments: readonly InlineComment[]): object {
  const [first] = comments;
  const isThere = (comment: InlineComment) => lineInDiff(world, pull, comment.path, comment.line) === comment.text;
  const shownLine = (comment: InlineComment) => (isThere(comment) ? comment.line : null);
  const resolvedBy = first?.resolvedBy;
  return {
    isResolved: resolvedBy !== undefined,
    isOutdated: first !== undefined && !isThere(first),
    resolvedBy: resolvedBy === undefined || isApp(resolvedBy) ? null : { login: resolvedBy },
    path: first?.path,
    line: first && shownLine(first),
    comments: (page: Page) =>
      connection(comments, page, (comment) => ({
        ...commentNode(call, comment.author),
        fullDatabaseId: String(comment.id),
        body: comment.body,
        path: comment.path,
        line: shownLine(comment),
      })),
  };
}

function commentNode({ login }: Call, author: string): object {
  return { author: actor(author), viewerDidAuthor: author === login };
}

/** An App's login has no `[bot]` here, and one of GitHub's own another name. */
function actor(login: string): object | null {
  if (login === 'ghost') {
    return null;
  }
  if (!isApp(login)) {
    return { __typename: 'User', login };
  }
  return { __typename: 'Bot', login: login === COPILOT ? 'copilot-swe-agent' : login.slice(0, -'[bot]'.length) };
}

const CHANGES = { added: 'ADDED', modified: 'MODIFIED', removed: 'DELETED', renamed: 'RENAMED' } as const;

function fileNode({ path, additions, deletions, status }: FileChange): object {
  return { path, additions, deletions, changeType: CHANGES[status] };
}

function commitNode(repository: Repository, commit: Commit): object {
  const author = gitActor(commit.author);
  return {
    __typename: 'Commit',
    id: commit.sha,
    oid: commit.sha,
    message: commit.message,
    author,
    committer: gitActor(commit.committer),
    // The server knows its own address, whichever an administrator has set.
    committedViaWeb: /^(?:web-flow$|noreply@)/.test(commit.committer.name),
    authors: (page: Page) => connection([author, ...coAuthorsOf(commit.message)], page, (one) => one),
    signature: commit.verified || commit.signer !== null ? signatureNode(commit) : null,
    parents: (page: Page) => connection(commit.parents, page, (oid) => ({ oid })),
    file: ({ path }: { path: string }) => entryNode(commit.tree, path),
    status: () => statusNode(repository, commit.sha),
    checkSuites: (page: Page) =>
      connection(
        repository.checkSuites.filter(({ sha }) => sha === commit.sha),
        page,
        (suite) => suiteNode(repository, suite),
      ),
  };
}

function suiteById(world: World, id: string): object | null {
  const found = [...world.repositories.values()].flatMap((repository) =>
    repository.checkSuites.filter((suite) => `CS_${suite.id}` === id).map((suite) => suiteNode(repository, suite)),
  );
  return found[0] ?? null;
}

function suiteNode(repository: Repository, suite: CheckSuite): object {
  const { id, app, workflow } = suite;
  const runs = repository.checkRuns.filter((run) => run.suite === id);
  const { status, conclusion } = suiteNow(suite, repository.checkRuns);
  return {
    __typename: 'CheckSuite',
    id: `CS_${id}`,
    databaseId: id,
    status: status.toUpperCase(),
    conclusion: conclusion?.toUpperCase() ?? null,
    app: { slug: app },
    branch: workflow?.branch ? { name: workflow.branch } : null,
    workflowRun: workflow === undefined ? null : { event: workflow.event, workflow: { id: `W_${workflow.file}` } },
    checkRuns: ({ filterBy, ...page }: Page & { readonly filterBy?: { readonly checkType: string } }) =>
      connection(filterBy?.checkType === 'ALL' ? runs : latestRuns(runs, suite), page, (run) => ({
        databaseId: run.id,
        name: run.name,
        status: run.status.toUpperCase(),
        conclusion: run.conclusion?.toUpperCase() ?? null,
        startedAt: run.startedAt,
        completedAt: run.endedAt,
        url: `https://github.test/runs/${run.id}`,
      })),
  };
}

/** Only people are users: no App, and nobody without an account, who has an e-mail address for a name here. */
function gitActor({ name, email }: Commit['author']): object {
  return { name, email, user: isApp(name) || name.includes('@') ? null : { login: name } };
}

function signatureNode({ verified, signer }: Commit): object {
  const byForge = signer === null;
  return {
    __typename: 'GpgSignature',
    isValid: verified,
    wasSignedByGitHub: byForge,
    signer: signer === 'ghost' ? null : { login: signer ?? 'web-flow' },
  };
}

/** An address that an account has, or that hides it, whatever was its login then. Only people are users. */
function coAuthorsOf(message: string): readonly object[] {
  const unfolded = message.replaceAll(/\n[ \t]+/g, ' ');
  return [...unfolded.matchAll(/^co-authored-by *: *([^<\n]*)<([^>\n]*)>/gim)].map(([, name = '', email = '']) => {
    const login = /^(?:\d+\+)?([^@]+)@(?:example\.test$|users\.noreply\.127\.0\.0\.1)/i.exec(email)?.[1];
    return {
      name: name.trim(),
      email,
      user: login === undefined || isApp(login) ? null : { login: login.toLowerCase() },
    };
  });
}

const BLOB_MODES = { file: 0o100644, symlink: 0o120000 } as const;

function entryNode(tree: Tree, path: string): object | null {
  const content = tree.get(path);
  if (content === undefined) {
    const isDirectory = [...tree.keys()].some((name) => name.startsWith(`${path}/`));
    return isDirectory ? { type: 'tree', mode: 0o040000, object: { __typename: 'Tree' } } : null;
  }
  const type = typeOf(content);
  if (type === 'submodule') {
    return { type: 'commit', mode: 0o160000, object: null };
  }
  const { byteLength: byteSize } = content;
  return {
    type: 'blob',
    mode: BLOB_MODES[type],
    object: {
      __typename: 'Blob',
      text: content.includes(0) ? null : content.toString('utf8', 0, LARGEST_TEXT_BYTES),
      byteSize,
      isTruncated: byteSize > LARGEST_TEXT_BYTES,
    },
  };
}

function statusNode(repository: Repository, sha: string): object | null {
  const contexts = newestStatuses(repository, sha).map(({ context, state, description, targetUrl, at, author }) => ({
    context,
    state: state.toUpperCase(),
    description: description || null,
    targetUrl: targetUrl || null,
    createdAt: at,
    creator: actor(author),
  }));
  return contexts.length === 0 ? null : { contexts };
}
