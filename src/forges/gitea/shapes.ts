import { z } from 'zod';
import { id } from '../answer.ts';

// Only what is used of the answers of Gitea and Forgejo (modules/structs in their sources, /api/swagger on any
// installation). Other fields are dropped. Go writes an empty list as null; a key that is missing altogether is not
// known, and never an empty list.

/** What these forges call a deleted account. */
export const GONE = 'Ghost';

const login = z
  .object({ login: z.string() })
  .nullable()
  .transform((user) => user?.login ?? GONE);

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

export const user = z.object({ login: z.string() });
export const users = z.array(user);
export const assignees = z.array(user.extend({ id, email: text }));

export const repository = z.object({ full_name: z.string() });

export const repositoryNow = z.object({
  id,
  owner: z.object({ id }),
  full_name: z.string(),
  default_branch: z.string(),
  private: z.boolean(),
  /** It is not private, but its owner is: the members of the organisation can read it. */
  internal: z.boolean().optional(),
  topics: z.array(z.string()).nullish(),
});

/** `permissions` are those of who asks. */
export const inspectedRepository = repositoryNow.extend({
  archived: z.boolean().default(false),
  permissions: z.object({ push: z.boolean() }).optional(),
});

const baseRepository = repository.extend({ archived: z.boolean().default(false) });

export const pull = z.object({
  number: z.number().int(),
  html_url: z.string(),
  state: z.enum(['open', 'closed']),
  merged_at: z.string().nullish(),
  title: z.string(),
  body: z
    .string()
    .nullable()
    .transform((value) => value ?? ''),
  /** Older versions do not say: there the title does. */
  draft: z.boolean().optional(),
  user: login,
  labels: z
    .array(z.object({ name: z.string() }))
    .nullable()
    .transform((labels) => labels ?? []),
  updated_at: z.string(),
  /** Comments in the conversation. */
  comments: z.number().int().optional(),
  /** Reviews that were submitted, also those that only have comments at lines. */
  review_comments: z.number().int().optional(),
  /** In a single pull request, not in a list. */
  changed_files: z.number().int().optional(),
  merge_base: z.string().optional(),
  base: z.object({ ref: z.string(), sha: z.string(), repo: baseRepository }),
  /**
   * `label` is the branch's name, empty where there never was a branch (AGit); `ref` is then `refs/pull/N/head`, and so
   * it is once the branch or its repository is gone.
   */
  head: z.object({
    label: z.string(),
    ref: z.string(),
    sha: z.string(),
    repo: z.object({ full_name: z.string() }).nullable(),
  }),
});
/** In a list: whoever opened one can make its description as long as they like. */
export const listedPull = pull.omit({ body: true });
export const pulls = z.array(listedPull);

export const files = z.array(
  z.object({
    filename: z.string(),
    previous_filename: z.string().optional(),
    status: z.enum(['added', 'changed', 'copied', 'deleted', 'renamed', 'unchanged']),
    additions: z.number().int(),
    deletions: z.number().int(),
  }),
);

const signature = z
  .object({ name: text, email: text })
  .nullable()
  .transform((person) => person ?? { name: '', email: '' });
/** Null for an e-mail address of no account. */
const account = z
  .object({ login: z.string() })
  .nullable()
  .transform((user) => user?.login ?? null);

export const commit = z.object({
  sha: z.string(),
  commit: z.object({
    message: z.string(),
    author: signature,
    committer: signature,
    verification: z
      .object({ verified: z.boolean(), signer: z.object({ username: z.string().optional() }).nullish() })
      .nullish(),
  }),
  author: account,
  committer: account,
  parents: z
    .array(z.object({ sha: z.string() }))
    .nullable()
    .transform((parents) => (parents ?? []).map((parent) => parent.sha)),
});
export const commits = z.array(commit);

/** One page of it; `truncated` says that there are more. */
export const tree = z.object({
  truncated: z.boolean(),
  tree: z.array(z.object({ path: z.string(), mode: z.string(), type: z.string(), sha: z.string() })).nullable(),
});

/** Without content where it is larger than the forge shows (DEFAULT_MAX_BLOB_SIZE); of older versions that is empty. */
export const blob = z.object({
  encoding: z.string().nullish(),
  content: z.string().nullish(),
  size: z.number().optional(),
});

/** One ref, or all that begin with its name. */
const gitRef = z.object({ ref: z.string(), object: z.object({ sha: z.string() }) });
export const gitRefs = z.union([z.array(gitRef), gitRef.transform((ref) => [ref])]);

export const reviews = z.array(
  z.object({
    id,
    user: login,
    /** The team whose review is requested, where it is not a person. */
    team: z.object({ name: z.string() }).nullish(),
    state: z.enum(['APPROVED', 'REQUEST_CHANGES', 'COMMENT', 'PENDING', 'REQUEST_REVIEW']),
    commit_id: text,
    dismissed: z.boolean(),
    official: z.boolean(),
    submitted_at: text,
    comments_count: z.number().int(),
  }),
);

const entry = z.object({ type: z.string(), body: text, created_at: z.string() });
/** Whose review was requested, or is no longer: `assignee` or `assignee_team`. In entries of these types no key is left out. */
const reviewerEntry = entry.omit({ body: true }).extend({
  type: z.enum(['review', 'review_request']),
  user: login,
  assignee: account,
  assignee_team: z
    .object({ name: z.string() })
    .nullable()
    .transform((team) => team?.name ?? null),
  removed_assignee: z.boolean(),
});
const otherEntry = entry
  .refine(({ type }) => !reviewerEntry.shape.type.safeParse(type).success)
  // The text of a push is the forge's, and short.
  .transform(({ body, ...told }) => ({ ...told, body: told.type === 'pull_push' ? body : '' }));

/** A page without entries is null. An entry is null when the forge failed to read it. */
export const timeline = z
  .array(z.union([reviewerEntry, otherEntry]).nullable())
  .nullable()
  .transform((entries) => entries ?? []);

export const inlineComments = z.array(
  z.object({ id, body: text, user: login, path: z.string(), position: z.number().int().nullish() }),
);

/** `resolver` is null where nobody has resolved it, and absent where the forge does not tell. */
export const threadComments = z.array(
  z.object({
    id,
    user: login,
    path: z.string(),
    position: z.number().int().nullish(),
    original_position: z.number().int().nullish(),
    resolver: z
      .object({ login: z.string() })
      .nullable()
      .transform((user) => user?.login ?? null)
      .optional(),
  }),
);

export const comment = z.object({ id, body: text, user: login });
export const comments = z.array(comment);

/** System accounts, such as that of the forge's own workflows, have numbers below zero. */
const poster = z
  .object({ id: z.number().int(), login: z.string() })
  .nullish()
  .transform((user) => user ?? null);

export const personComments = z.array(
  z.object({
    id,
    user: poster,
    /** Set for a comment that was imported from elsewhere, in the name of somebody who did not write it here. */
    original_author: z.string(),
    body: text,
    created_at: z.string(),
    updated_at: z.string(),
  }),
);

/** Of one person in a repository: `none`, `read`, `write`, `admin` or `owner`. */
export const permission = z.object({ permission: z.string() });

/** `units_map` says what each unit is to the team; `permission` what all of them are, and `none` where they differ. */
export const repositoryTeams = z.array(
  z.object({
    id,
    name: text,
    permission: text,
    units_map: z.record(z.string(), z.string()).nullish(),
  }),
);

/** What somebody is in an organisation, by all of its teams. */
export const standing = z.object({ is_owner: z.boolean(), is_admin: z.boolean() });

export const statuses = z.array(
  z.object({
    id: z.number().int(),
    context: z.string(),
    status: z.string(),
    description: text,
    target_url: text,
    updated_at: z.string(),
    creator: login,
  }),
);

export const teams = z.object({
  data: z
    .array(z.object({ id, name: z.string() }))
    .nullish()
    .transform((found) => found ?? []),
});

export const branch = z.object({ commit: z.object({ id: z.string() }) });
export const protectedBranch = z.object({
  enable_status_check: z.boolean(),
  status_check_contexts: z
    .array(z.string())
    .nullish()
    .transform((contexts) => contexts ?? []),
});
export const tag = z.object({ commit: z.object({ sha: z.string() }) });

/** A directory is a list; a submodule or a link has another `type`. */
export const contents = z.union([
  z.array(z.unknown()).transform(() => ({ type: 'dir', encoding: undefined, content: undefined, size: undefined })),
  blob.extend({ type: z.string() }),
]);

/** The answer to a search for repositories: the list is inside an object. */
export const foundRepositories = z
  .object({
    ok: z.literal(true),
    data: z.array(
      z.object({
        id,
        full_name: z.string(),
        updated_at: z.string(),
        permissions: z.object({ push: z.boolean() }).optional(),
      }),
    ),
  })
  .transform(({ data }) => data);

/** The answer to a search for issues. Pull requests are issues here, without head and base. */
export const foundPulls = z.array(z.object({ repository: z.object({ id, full_name: z.string() }) }));

const hook = z.object({
  id,
  active: z.boolean(),
  events: z.array(z.string()),
  config: z.object({ url: z.string(), content_type: z.string() }),
});
export type ListedHook = z.output<typeof hook>;
export const hooks = z.array(hook);
