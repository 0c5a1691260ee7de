import * as z from 'zod';
import { hiddenAddress } from '../../forges/port/accounts.ts';
import type { CheckSuites } from '../../forges/port/checks.ts';
import type { Conversation } from '../../forges/port/conversations.ts';
import { CODE_OWNERS_DIALECTS } from '../../forges/port/forges.ts';
import type { ChangedFile, Commit, PullRequest } from '../../forges/port/pull-request.ts';
import { coAuthorsOf } from '../authors/co-authors.ts';
import { trailersOf } from '../authors/trailers.ts';
import type { Facts } from '../facts.ts';

const SHAS = { head: 'b'.repeat(40), old: 'c'.repeat(40), updated: 'd'.repeat(40) };

const AUTHOR = 'alice';

const text = z.string({ error: 'text' });
const flag = z.boolean({ error: 'true or false' });
const count = z.int({ error: 'a whole number' }).min(0, { error: 'a whole number from 0' });
const names = z.array(text, { error: 'a list of names' });

function oneOf<const Values extends readonly string[]>(...values: Values) {
  return z.enum(values, { error: `one of ${values.join(', ')}` });
}

const file = z.strictObject(
  {
    path: text.describe('Its path, as it is after the change.'),
    from: text.optional().describe('Its path before it was renamed.'),
    status: oneOf('added', 'modified', 'removed', 'renamed').optional().describe('Default: modified, or renamed.'),
    added: z.array(text, { error: 'a list of lines' }).optional().describe('Lines added, at line 1 and on.'),
    patch: text.optional().describe('Its difference as git writes it, in the place of `added`.'),
    diff: oneOf('binary', 'too-large').optional().describe('Why there is no difference to read.'),
    additions: count.optional().describe('How many lines were added. Default: those of `added`.'),
    deletions: count.optional().describe('How many lines were removed. Default: 0.'),
    counted: flag.optional().describe('Whether the forge counted the lines; of binary files it never does.'),
  },
  { error: 'a file, such as { path: src/a.ts }' },
);

const commit = z.strictObject(
  {
    message: text.describe('The whole message.'),
    email: text.optional().describe('Of the author.'),
    parents: count.optional().describe('How many it has: 2 are a merge. Default: 1.'),
    author: text.nullable().optional().describe('A login; null where no account has the e-mail address.'),
    committer: text.nullable().optional().describe('A login; null where no account has the e-mail address.'),
    verified: flag
      .nullable()
      .optional()
      .describe('Whether its signature is verified; null where the forge does not say.'),
    signed_by: text
      .nullable()
      .optional()
      .describe("The login of whose verified signature it has; null where it is the forge's own. Default: unknown."),
    clean: flag.optional().describe('Whether it is a merge that changes nothing itself.'),
  },
  { error: "a commit, such as { message: 'Fix it' }" },
);

const review = z.strictObject(
  {
    author: text.describe('A login.'),
    state: oneOf('approved', 'changes-requested', 'commented', 'dismissed').optional().describe('Default: approved.'),
    at: oneOf('head', 'old', 'updated')
      .optional()
      .describe(
        'Of which commit: the head, an earlier one (old), or one after which only the base was merged (updated).',
      ),
    outdated: flag.optional().describe('Whether the base was changed, or the head force-pushed, after it.'),
    official: flag.optional().describe('Whether the author may write to the repository. Default: true.'),
    bot: flag.optional().describe('Whether the author is a bot.'),
  },
  { error: 'a review, such as { author: sally }' },
);

const check = z.strictObject(
  {
    name: text.describe('Its name.'),
    state: text.optional().describe('As the forge names it. Default: success.'),
    by: text.optional().describe('Who reported it: a login, or the slug of an App. Default: ci.'),
    kind: oneOf('status', 'check-run').optional().describe('Default: status.'),
  },
  { error: 'a check, such as { name: build }' },
);

const conversation = z.strictObject(
  {
    by: text.describe('The login of who began it.'),
    bot: flag.optional().describe('Whether who began it is a bot.'),
    path: text.optional().describe('The file that it is about. Default: a.txt.'),
    outdated: flag
      .nullable()
      .optional()
      .describe('Whether the lines that it is about have changed since; null where the forge does not say.'),
    resolved: flag.nullable().optional().describe('Default: false; null where the forge does not say.'),
    resolved_by: text
      .nullable()
      .optional()
      .describe('The login of who resolved it; null where the forge does not say. Default: the author.'),
  },
  { error: 'a conversation, such as { by: sally }' },
);

const suite = z.strictObject(
  {
    by: text.describe('Its App, as name[bot]. The check runs by the same are in it.'),
    state: text.optional().describe('queued (without runs), pending (in progress), or its result. Default: success.'),
  },
  { error: "a check suite, such as { by: 'ci[bot]', state: queued }" },
);

/** A pull request in short: what a case, or a row of docs/rules.md, cares to say of it. The rest is ordinary. */
export const given = z
  .strictObject(
    {
      title: text.optional().describe("Default: 'feat: a title'."),
      body: text.optional().describe('The description. Default: empty.'),
      author: text.optional().describe('A login. Default: alice.'),
      first_time: flag.optional().describe('Whether the author contributes for the first time. Default: unknown.'),
      assignees: names.optional().describe('Logins. Default: none.'),
      milestone: text.optional().describe('Its title. Default: none.'),
      triage_unread: flag.optional().describe('true: assignees and milestone could not be read.'),
      draft: flag.optional().describe('Default: false.'),
      labels: names.optional().describe('Default: none.'),
      branch: text.optional().describe('The branch with the change. Default: topic.'),
      fork: flag.optional().describe('Whether it comes from a fork. Default: false.'),
      base: text.optional().describe('The branch that it would be merged into. Default: main.'),
      repository: text.optional().describe('As owner/name. Default: octo/example.'),
      visibility: oneOf('public', 'internal', 'private').optional().describe('Of the repository. Default: public.'),
      topics: names.optional().describe('Of the repository. Default: none.'),
      topics_unread: flag.optional().describe('true: the forge does not tell the topics.'),
      repository_unread: flag.optional().describe('true: visibility and topics could not be read.'),
      files: z.array(file, { error: 'a list of files' }).optional().describe('The changed files. Default: none.'),
      files_complete: flag.optional().describe('false: there are more files, which could not be read.'),
      commits: z.array(commit, { error: 'a list of commits' }).optional().describe('Oldest first. Default: none.'),
      commits_complete: flag.optional().describe('false: there are more commits, which could not be read.'),
      reviews: z.array(review, { error: 'a list of reviews' }).optional().describe('Oldest first. Default: none.'),
      reviews_complete: flag.optional().describe('false: there are more reviews, which could not be read.'),
      last_change_unread: flag.optional().describe('true: the last force-push and change of base could not be read.'),
      requested: names
        .optional()
        .describe('Logins and teams (@organisation/team) whose review is requested and not given.'),
      requested_unread: flag.optional().describe('true: the requested reviews could not be read.'),
      accounts: z
        .record(z.string(), text, { error: 'a mapping of e-mail addresses to logins' })
        .optional()
        .describe('Logins by e-mail address, of co-authors. An address that is not here belongs to no account.'),
      accounts_unread: flag.optional().describe('true: the accounts of co-authors could not be read.'),
      machine_accounts: names
        .optional()
        .describe('What the operator has set (MACHINE_ACCOUNTS), beside the machine_accounts of the policy.'),
      teams: z
        .record(z.string(), names, { error: 'a mapping of teams' })
        .optional()
        .describe(
          'Members by team (organisation/team), and of an organisation (organisation/*). One that is not here could not be read.',
        ),
      codeowners: text.optional().describe('The text of CODEOWNERS. Default: none.'),
      codeowners_unread: flag.optional().describe('true: CODEOWNERS could not be read.'),
      checks: z.array(check, { error: 'a list of checks' }).optional().describe('Newest first. Default: none.'),
      threads: z
        .array(conversation, { error: 'a list of conversations' })
        .optional()
        .describe('Conversations at lines. Default: none.'),
      threads_complete: flag.optional().describe('false: there are more conversations, which could not be read.'),
      suites: z
        .array(suite, { error: 'a list of check suites' })
        .optional()
        .describe('Check suites, of GitHub, beside their runs. Default: none.'),
      checks_complete: flag.optional().describe('false: there are more checks, which could not be read.'),
      dialect: oneOf(...CODE_OWNERS_DIALECTS)
        .optional()
        .describe('How CODEOWNERS is read. Default: github.'),
    },
    { error: 'a pull request, such as { title: Add docs }' },
  )
  .meta({ id: 'given', description: 'A pull request in short. What is left out is ordinary.' });
export type Given = z.input<typeof given>;

export function pullRequestOf(from: Given = {}): PullRequest {
  return {
    repository: from.repository ?? 'octo/example',
    number: 7,
    url: 'https://forge.test/octo/example/pulls/7',
    state: 'open',
    title: from.title ?? 'feat: a title',
    body: from.body ?? '',
    author: from.author ?? AUTHOR,
    ...(from.first_time === undefined ? {} : { firstTime: from.first_time }),
    draft: from.draft ?? false,
    labels: from.labels ?? [],
    archived: false,
    updatedAt: '2026-01-01T00:00:00Z',
    base: { branch: from.base ?? 'main' },
    head: {
      branch: from.branch ?? 'topic',
      sha: SHAS.head,
      repository: from.fork === true ? 'alice/example' : (from.repository ?? 'octo/example'),
    },
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
      accounts: accountsOf(from),
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
    teams: teamsOf(from),
    codeOwners: codeOwnersOf(from),
    checks: {
      checks: (from.checks ?? []).map(({ name, state = 'success', by = 'ci', kind = 'status' }) => ({
        kind,
        name,
        reporter: by,
        state,
      })),
      complete: from.checks_complete ?? true,
      bySuite: suitesOf(from),
    },
    conversations: {
      conversations: (from.threads ?? []).map((one, index) => conversationOf(one, index, from.author ?? AUTHOR)),
      complete: from.threads_complete ?? true,
    },
    triage: from.triage_unread ? undefined : { assignees: from.assignees ?? [], milestone: from.milestone ?? null },
    repository: from.repository_unread
      ? undefined
      : {
          visibility: from.visibility ?? 'public',
          ...(from.topics_unread ? {} : { topics: from.topics ?? [] }),
        },
    people: { authorTrailers: [], machineAccounts: from.machine_accounts ?? [] },
  };
}

function conversationOf(
  { by, bot, path, outdated, resolved, resolved_by }: z.input<typeof conversation>,
  index: number,
  author: string,
): Conversation {
  const isResolved = resolved === undefined ? resolved_by !== undefined : resolved;
  return {
    author: by,
    bot: bot ?? false,
    startedAt: minute(index),
    path: path ?? 'a.txt',
    line: index + 1,
    outdated: outdated === undefined ? false : outdated,
    resolved: isResolved,
    resolvedBy: isResolved ? (resolved_by === undefined ? author : resolved_by) : null,
  };
}

function suitesOf({ suites = [], checks = [] }: Given): CheckSuites {
  return {
    suites: suites.map(({ by, state = 'success' }) => ({ id: by, reporter: by, state })),
    runs: checks
      .filter(({ kind }) => kind === 'check-run')
      .map(({ name, state = 'success', by = 'ci' }) => ({ kind: 'check-run', name, reporter: by, state, suite: by })),
  };
}

/** Whoever is not named under an organisation is no member of it. */
function teamsOf({ teams = {} }: Given): Facts['teams'] {
  return new Map(Object.entries(teams).map(([team, logins]) => [team.toLowerCase(), { kind: 'team', logins }]));
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
  { message, email, parents, author, committer, verified, signed_by }: z.input<typeof commit>,
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
    parents: Array.from({ length: parents ?? 1 }, (_, parent) =>
      shaOf(parent === 0 && index > 0 ? index - 1 : 1_000 + parent),
    ),
    verified: verified ?? (signed_by === undefined ? null : true),
    ...(signed_by === undefined ? {} : { signer: signed_by }),
  };
}

/** The accounts of every address in the messages, whichever trailers the policy names. */
function accountsOf({ commits = [], accounts = {}, accounts_unread }: Given): Facts['commits']['accounts'] {
  if (accounts_unread === true) {
    return new Map();
  }
  const loginOf = new Map(Object.entries(accounts).map(([address, login]) => [address.toLowerCase(), login]));
  const all = commits.map(commitOf);
  const keys = all.flatMap(({ message }) => trailersOf(message).trailers.map(({ key }) => key));
  const named = coAuthorsOf(all, keys).coAuthors.flatMap(({ address }) => address ?? []);
  return new Map(named.map((address) => [address, loginOf.get(address) ?? hiddenAddress(address)?.login ?? null]));
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
