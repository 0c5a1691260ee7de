import { z } from 'zod';
import { id } from '../answer.ts';
import { GHOST } from '../port/accounts.ts';
import { yesNo } from '../port/yes-no.ts';

// Only what is used of GitHub's answers (https://docs.github.com/en/rest). Other fields are dropped.

/** Deleted accounts are null in the API. */
const login = z
  .object({ login: z.string() })
  .nullable()
  .transform((user) => user?.login ?? GHOST);

export const repository = z.object({ full_name: z.string() });

export const repositoryNow = z.object({
  id,
  owner: z.object({ id }),
  full_name: z.string(),
  default_branch: z.string(),
  /** True of what is internal to an enterprise as well. */
  private: z.boolean(),
  /** `public`, `internal` or `private`. */
  visibility: z.string().optional(),
  topics: z.array(z.string()).optional(),
});
const baseRepository = repository.extend({ archived: z.boolean().default(false) });

export const pull = z.object({
  number: z.number().int(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
  title: z.string(),
  body: z.string().nullable(),
  draft: z.boolean().optional(),
  user: login,
  labels: z.array(z.object({ name: z.string() })),
  updated_at: z.string(),
  author_association: z.string().optional(),
  /** Comments in the conversation, comments at lines, and files. A list leaves them out. */
  comments: z.number().int().optional(),
  review_comments: z.number().int().optional(),
  changed_files: z.number().int().optional(),
  base: z.object({ ref: z.string(), sha: z.string(), repo: baseRepository }),
  head: z.object({ ref: z.string(), sha: z.string(), repo: z.object({ full_name: z.string() }).nullable() }),
});
/** In a list: whoever opened one can make its description long. */
export const listedPull = pull.omit({ body: true });
export const pulls = z.array(listedPull);

/** What a single pull request says and a list of them does not. */
export const pullSize = z.object({
  changed_files: z.number().int(),
  commits: z.number().int(),
  base: z.object({ sha: z.string() }),
  head: z.object({ sha: z.string() }),
});

export const files = z.array(
  z.object({
    filename: z.string(),
    previous_filename: z.string().optional(),
    status: z.enum(['added', 'removed', 'modified', 'renamed', 'copied', 'changed', 'unchanged']),
    /** The blob's id. */
    sha: z.string().nullable(),
    additions: z.number().int(),
    deletions: z.number().int(),
    patch: z.string().optional(),
    /** Its query names the commit that the file was looked up at. */
    contents_url: z.string().default(''),
  }),
);

const signature = z.object({ name: z.string().default(''), email: z.string().default('') }).nullable();
/** Null for an e-mail address of no account; an empty object for some that are gone. */
const account = z
  .object({ login: z.string().optional(), type: z.string().optional() })
  .nullish()
  .transform((user) => ({
    login: user?.login ?? null,
    bot: yesNo(user?.type === undefined ? undefined : user.type === 'Bot'),
  }));

const commit = z.object({
  sha: z.string(),
  commit: z.object({
    message: z.string(),
    author: signature,
    committer: signature,
    verification: z.object({ verified: z.boolean() }).nullish(),
  }),
  author: account,
  committer: account,
  parents: z.array(z.object({ sha: z.string() })),
});
export const commits = z.array(commit);
export const comparison = z.object({ commits }).transform((answer) => answer.commits);

/** One page of a comparison, as a list of one. */
export const ancestry = z
  .object({
    total_commits: z.number().int(),
    merge_base_commit: z.object({ sha: z.string() }),
    commits: z.array(z.object({ sha: z.string(), parents: z.array(z.object({ sha: z.string() })) })),
  })
  .transform(({ total_commits, merge_base_commit, commits }) => [
    { total: total_commits, mergeBase: merge_base_commit.sha, commits },
  ]);

export const tree = z.object({
  truncated: z.boolean(),
  tree: z.array(z.object({ path: z.string(), mode: z.string(), type: z.string(), sha: z.string() })),
});

export const reviews = z.array(
  z.object({
    id,
    user: z
      .object({ login: z.string(), type: z.string() })
      .nullable()
      .transform((user) => user ?? { login: GHOST, type: 'User' }),
    state: z.enum(['APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'DISMISSED', 'PENDING']),
    commit_id: z.string().nullable(),
    submitted_at: z.string().optional(),
  }),
);

export const requestedReviewers = z.object({
  users: z.array(z.object({ login: z.string() })),
  teams: z.array(z.object({ slug: z.string() })),
});

/** Entries of many kinds: what is used of any. A commit has no time. */
export const timeline = z.array(
  z.object({
    event: z.string().default(''),
    created_at: z.string().nullish(),
    /** Who did it, and of a review who gave it. */
    actor: login.optional(),
    user: login.optional(),
    /** Whose review was requested, or is no longer. */
    requested_reviewer: login.optional(),
    requested_team: z.object({ slug: z.string() }).nullish(),
  }),
);

/** A branch or tag, and what an annotated tag names. */
export const ref = z.object({ object: z.object({ sha: z.string(), type: z.string() }) });

export const permission = z.object({ permission: z.string() });

export const members = z.array(z.object({ login: z.string() }));

/** `pending`: invited. */
export const membership = z.object({ state: z.enum(['active', 'pending']) });

/** A directory is a list; a submodule or a link has another `type`. */
export const contents = z.union([
  z.array(z.unknown()).transform(() => ({ type: 'dir', encoding: undefined, content: undefined, size: undefined })),
  z.object({
    type: z.string(),
    encoding: z.string().optional(),
    content: z.string().optional(),
    size: z.number().optional(),
    /** The blob's id. */
    sha: z.string().optional(),
  }),
]);

export const blob = z.object({ encoding: z.string(), content: z.string() });

const status = z.object({
  context: z.string(),
  // GitHub leaves the values open. One that is not known is no success, and hides no other status.
  state: z.enum(['pending', 'success', 'failure', 'error']).catch('pending'),
  description: z.string().nullable(),
  target_url: z.string().nullable(),
  updated_at: z.string(),
  creator: login,
});
export const statuses = z.array(status);

export const comment = z.object({ id, body: z.string().default(''), user: login });
export const comments = z.array(comment);
export const inlineComments = z.array(
  comment.extend({ path: z.string(), line: z.number().int().nullable().optional().default(null) }),
);

export const deliveries = z.array(
  z.object({ id, guid: z.string(), delivered_at: z.string(), redelivery: z.boolean(), status_code: z.number().int() }),
);
export type Attempt = z.output<typeof deliveries>[number];
