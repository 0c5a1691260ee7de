import * as z from 'zod';
import type { ChangedFile, Commit, PullRequest } from '../../../src/forges/pull-request.ts';
import type { Facts } from '../../../src/review/facts.ts';

const SHAS = { head: 'b'.repeat(40), old: 'c'.repeat(40), updated: 'd'.repeat(40) };

const file = z.strictObject({
  path: z.string(),
  from: z.string().optional(),
  status: z.enum(['added', 'modified', 'removed', 'renamed']).optional(),
  /** Lines added, at line 1 and on. */
  added: z.array(z.string()).optional(),
  patch: z.string().optional(),
  diff: z.enum(['binary', 'too-large']).optional(),
  additions: z.int().optional(),
  deletions: z.int().optional(),
  /** Whether the forge counted the lines; binary files never are. */
  counted: z.boolean().optional(),
});

const commit = z.strictObject({
  message: z.string(),
  email: z.string().optional(),
  parents: z.int().optional(),
  /** Logins; null where no account has the e-mail address. */
  author: z.string().nullable().optional(),
  committer: z.string().nullable().optional(),
  /** Null where the forge does not say. */
  verified: z.boolean().nullable().optional(),
  /** A merge that changes nothing itself. */
  clean: z.boolean().optional(),
});

const review = z.strictObject({
  author: z.string(),
  state: z.enum(['approved', 'changes-requested', 'commented', 'dismissed']).optional(),
  /** `old` is an earlier head; after `updated` only merges of the base branch came in. */
  at: z.enum(['head', 'old', 'updated']).optional(),
  /** Whether the base was changed, or the head force-pushed, after it. */
  outdated: z.boolean().optional(),
  official: z.boolean().optional(),
  bot: z.boolean().optional(),
});

const check = z.strictObject({
  name: z.string(),
  /** Success unless told. */
  state: z.string().optional(),
  by: z.string().optional(),
  kind: z.enum(['status', 'check-run']).optional(),
});

/** A pull request in short: what a test, or a row of docs/rules.md, cares to say of it. The rest is ordinary. */
export const given = z.strictObject({
  title: z.string().optional(),
  body: z.string().optional(),
  author: z.string().optional(),
  draft: z.boolean().optional(),
  labels: z.array(z.string()).optional(),
  branch: z.string().optional(),
  base: z.string().optional(),
  repository: z.string().optional(),
  files: z.array(file).optional(),
  files_complete: z.boolean().optional(),
  commits: z.array(commit).optional(),
  commits_complete: z.boolean().optional(),
  reviews: z.array(review).optional(),
  reviews_complete: z.boolean().optional(),
  last_change_unread: z.boolean().optional(),
  /** Logins and teams (`@organisation/team`) whose review is requested and not given. */
  requested: z.array(z.string()).optional(),
  requested_unread: z.boolean().optional(),
  teams: z.record(z.string(), z.array(z.string())).optional(),
  codeowners: z.string().optional(),
  codeowners_unread: z.boolean().optional(),
  /** Newest first. */
  checks: z.array(check).optional(),
  checks_complete: z.boolean().optional(),
  dialect: z.enum(['github', 'gitea']).optional(),
});
export type Given = z.input<typeof given>;

export function pullRequestOf(from: Given = {}): PullRequest {
  return {
    repository: from.repository ?? 'octo/example',
    number: 7,
    url: 'https://forge.test/octo/example/pulls/7',
    state: 'open',
    title: from.title ?? 'feat: a title',
    body: from.body ?? '',
    author: from.author ?? 'alice',
    draft: from.draft ?? false,
    labels: from.labels ?? [],
    archived: false,
    updatedAt: '2026-01-01T00:00:00Z',
    base: { branch: from.base ?? 'main' },
    head: { branch: from.branch ?? 'topic', sha: SHAS.head, repository: 'octo/example' },
  };
}

export function factsOf(from: Given = {}): Facts {
  return {
    pullRequest: pullRequestOf(from),
    changedFiles: { files: (from.files ?? []).map(changedFile), complete: from.files_complete ?? true },
    commits: {
      commits: (from.commits ?? []).map(commitOf),
      complete: from.commits_complete ?? true,
      cleanMerges: cleanMergesOf(from.commits ?? []),
      updatedFrom: [SHAS.updated],
    },
    reviews: {
      reviews: (from.reviews ?? []).map(({ author, state, at, official, bot }, index) => ({
        author,
        state: state ?? 'approved',
        sha: SHAS[at ?? 'head'],
        submittedAt: minute(index),
        official: official ?? true,
        bot: bot ?? false,
      })),
      complete: from.reviews_complete ?? true,
      lastChange: lastChangeOf(from),
      requested: from.requested_unread ? undefined : requestedOf(from.requested ?? []),
    },
    teams: new Map(Object.entries(from.teams ?? {})),
    codeOwners: codeOwnersOf(from),
    checks: {
      checks: (from.checks ?? []).map(({ name, state = 'success', by = 'ci', kind = 'status' }) => ({
        kind,
        name,
        reporter: by,
        state,
      })),
      complete: from.checks_complete ?? true,
    },
  };
}

function requestedOf(requested: readonly string[]): Facts['reviews']['requested'] {
  const teams = requested.filter((name) => name.startsWith('@'));
  return { people: requested.filter((name) => !teams.includes(name)), teams: teams.map((team) => team.slice(1)) };
}

function minute(index: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString();
}

/** In the very second of the last review that is outdated. */
function lastChangeOf({ reviews = [], last_change_unread }: Given): Facts['reviews']['lastChange'] {
  const last = reviews.findLastIndex(({ outdated }) => outdated === true);
  if (last_change_unread === true) {
    return { kind: 'unread' };
  }
  return last === -1 ? { kind: 'none' } : { kind: 'change', at: minute(last) };
}

function changedFile(from: z.input<typeof file>): ChangedFile {
  const { path, from: previousPath, added = [], diff } = from;
  const patch = from.patch ?? (added.length === 0 ? '' : patchOf(added));
  return {
    path,
    ...(previousPath === undefined ? {} : { previousPath }),
    status: from.status ?? (previousPath === undefined ? 'modified' : 'renamed'),
    additions: from.additions ?? added.length,
    deletions: from.deletions ?? 0,
    counted: diff !== 'binary' && from.counted !== false,
    diff: diff === undefined ? { kind: 'text', patch } : { kind: diff },
  };
}

/** A hunk that adds these lines at the top of an empty file. */
export function patchOf(added: readonly string[]): string {
  return `@@ -0,0 +1,${added.length} @@\n${added.map((line) => `+${line}\n`).join('')}`;
}

function shaOf(index: number): string {
  return index.toString(16).padStart(40, '0');
}

function commitOf(
  { message, email, parents, author, committer, verified }: z.input<typeof commit>,
  index: number,
): Commit {
  const person = {
    name: 'Alice',
    email: email ?? 'alice@example.test',
    login: author === undefined ? 'alice' : author,
  };
  return {
    sha: shaOf(index),
    message,
    author: person,
    committer: committer === undefined ? person : { ...person, login: committer },
    parents: Array.from({ length: parents ?? 1 }, (_, parent) => shaOf(1_000 + parent)),
    verified: verified ?? null,
  };
}

function cleanMergesOf(commits: readonly z.input<typeof commit>[]): ReadonlySet<string> {
  return new Set(commits.flatMap(({ clean }, index) => (clean === true ? [shaOf(index)] : [])));
}

function codeOwnersOf({ codeowners, codeowners_unread, dialect }: Given): Facts['codeOwners'] {
  if (codeowners_unread === true) {
    return { kind: 'unread' };
  }
  if (codeowners === undefined) {
    return { kind: 'absent' };
  }
  return { kind: 'file', path: 'CODEOWNERS', text: codeowners, dialect: dialect ?? 'github' };
}

/** Lines of a and b as if thrown with a coin, always the same: what makes an automaton grow. */
export function noise(lines: number, length: number): readonly string[] {
  let seed = 7;
  const letter = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % 65_536 < 32_768 ? 'a' : 'b';
  };
  return Array.from({ length: lines }, () => Array.from({ length }, letter).join(''));
}
