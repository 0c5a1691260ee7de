import { z } from 'zod';
import { AUTHORS, commitAuthors } from './accounts.ts';
import { ACTOR, actor } from './actor.ts';
import { bigId, REVIEW, reviewNode } from './reviews.ts';
import { commitWithStatuses, STATUSES } from './statuses.ts';

// The GraphQL query for a review, and the shape of its answer (https://docs.github.com/en/graphql/reference). It costs
// 1 point: a connection within another counts as often as the outer one can have entries, and a hundred of them are a
// point.

/** Commits, and threads of comments: each has a connection within, so that more of them would cost another point. */
const MAX_NESTED_NODES = 40;
/** Authors of one commit. Further ones are read by a request of their own. */
const MAX_AUTHORS = 10;
const PAGE = 'totalCount pageInfo { hasNextPage }';
const PERSON = '{ name email user { login } }';

/** `$facts`: whether to read more than the pull request and the files at its base. */
export function reviewQuery(paths: readonly string[]): string {
  const variables = paths.map((_, index) => `, $path${index}: String!`).join('');
  const files = paths.map(
    (_, index) =>
      `file${index}: file(path: $path${index}) { type mode object { ... on Blob { text byteSize isTruncated } } }`,
  );
  return `query ($owner: String!, $repo: String!, $number: Int!, $facts: Boolean!${variables}) {
  repository(owner: $owner, name: $repo) {
    nameWithOwner
    isArchived
    pullRequest(number: $number) {
      number url state title body isDraft updatedAt changedFiles baseRefName baseRefOid headRefName headRefOid
      author ${ACTOR} authorAssociation
      labels(first: 100) { ${PAGE} nodes { name } }
      headRepository { nameWithOwner }
      baseRef { name prefix target { __typename oid ... on Commit { ${['id', ...files].join(' ')} } } }
      files(first: 100) @include(if: $facts) { ${PAGE} nodes { path additions deletions changeType } }
      commits(first: ${MAX_NESTED_NODES}) @include(if: $facts) {
        ${PAGE}
        nodes {
          commit {
            oid message author ${PERSON} committer ${PERSON} committedViaWeb
            parents(first: 10) { ${PAGE} nodes { oid } }
            authors(first: ${MAX_AUTHORS}) ${AUTHORS}
          }
        }
      }
      tip: commits(last: 1) @include(if: $facts) {
        nodes { commit { ${STATUSES} } }
      }
      reviews(first: 100) @include(if: $facts) {
        ${PAGE}
        nodes ${REVIEW}
      }
      comments(first: 100) @include(if: $facts) { ${PAGE} nodes { fullDatabaseId body viewerDidAuthor author ${ACTOR} } }
      reviewThreads(first: ${MAX_NESTED_NODES}) @include(if: $facts) {
        ${PAGE}
        nodes { comments(first: 20) { ${PAGE} nodes { fullDatabaseId body viewerDidAuthor path line author ${ACTOR} } } }
      }
    }
  }
}`;
}

/** The variables for {@link reviewQuery} beside the pull request's address. */
export function pathVariables(paths: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(paths.map((path, index) => [`path${index}`, path]));
}

/** A page of a list; undefined when it is not the whole list. */
function whole<T>(node: z.ZodType<T>) {
  return z
    .object({ totalCount: z.number().int(), pageInfo: z.object({ hasNextPage: z.boolean() }), nodes: z.array(node) })
    .transform(({ totalCount, pageInfo, nodes }) =>
      !pageInfo.hasNextPage && nodes.length === totalCount ? nodes : undefined,
    );
}

const person = z.object({
  name: z.string().nullable(),
  email: z.string().nullable(),
  user: z.object({ login: z.string() }).nullable(),
});
export type Person = z.output<typeof person>;

const comment = z.object({ fullDatabaseId: bigId, body: z.string(), viewerDidAuthor: z.boolean(), author: actor });
const entryShape = z
  .object({
    type: z.string(),
    mode: z.number().int(),
    object: z
      .object({
        text: z.string().nullable().optional(),
        byteSize: z.number().int().optional(),
        isTruncated: z.boolean().optional(),
      })
      .nullable(),
  })
  .nullable();

const facts = z.object({
  files: whole(
    z.object({
      path: z.string(),
      additions: z.number().int(),
      deletions: z.number().int(),
      changeType: z.enum(['ADDED', 'CHANGED', 'COPIED', 'DELETED', 'MODIFIED', 'RENAMED']),
    }),
  ),
  commits: whole(
    z.object({
      commit: z.object({
        oid: z.string(),
        message: z.string(),
        author: person.nullable(),
        committer: person.nullable(),
        committedViaWeb: z.boolean(),
        parents: whole(z.object({ oid: z.string() })),
        authors: commitAuthors,
      }),
    }),
  ),
  tip: z.object({
    nodes: z.array(
      z.object({
        commit: commitWithStatuses,
      }),
    ),
  }),
  reviews: whole(reviewNode),
  comments: whole(comment),
  reviewThreads: whole(
    z.object({ comments: whole(comment.extend({ path: z.string(), line: z.number().int().nullable() })) }),
  ),
});

const pullRequest = z.object({
  number: z.number().int(),
  url: z.string(),
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  title: z.string(),
  body: z.string(),
  isDraft: z.boolean(),
  updatedAt: z.string(),
  changedFiles: z.number().int(),
  baseRefName: z.string(),
  baseRefOid: z.string(),
  headRefName: z.string(),
  headRefOid: z.string(),
  author: actor,
  authorAssociation: z.string(),
  labels: whole(z.object({ name: z.string() })),
  headRepository: z.object({ nameWithOwner: z.string() }).nullable(),
  // A branch that is gone is REST's to report. The other keys of the target are the files.
  baseRef: z.object({
    name: z.string(),
    prefix: z.literal('refs/heads/'),
    target: z.looseObject({ __typename: z.literal('Commit'), oid: z.string() }),
  }),
});

function answerOf<T extends z.ZodType>(pull: T) {
  return z.object({ repository: z.object({ nameWithOwner: z.string(), isArchived: z.boolean(), pullRequest: pull }) });
}

export const pullAnswer = answerOf(pullRequest);
export const reviewAnswer = answerOf(pullRequest.extend(facts.shape));
export type PullNode = z.output<typeof pullRequest>;
export type FactsNode = z.output<typeof facts>;

/** The files at the base's commit, as far as REST need not be asked for them; null: there is no such file. */
export function filesAt(target: PullNode['baseRef']['target'], paths: readonly string[]): Map<string, string | null> {
  return new Map(
    paths.flatMap((path, index) => {
      const entry = entryShape.safeParse(target[`file${index}`]);
      const text = entry.success ? textOfEntry(entry.data) : undefined;
      return text === undefined ? [] : [[path, text] as const];
    }),
  );
}

/** The text of a file; undefined where only REST can say what is there. */
function textOfEntry(entry: z.output<typeof entryShape>): string | null | undefined {
  if (entry === null) {
    return null;
  }
  const { type, mode, object } = entry;
  const { text, byteSize, isTruncated } = object ?? {};
  // A link is not the text that it is stored as. Text that was cut or decoded with losses has another length.
  const isWhole = typeof text === 'string' && isTruncated === false && Buffer.byteLength(text) === byteSize;
  return type === 'blob' && FILE_MODES.has(mode) && isWhole ? text : undefined;
}

const FILE_MODES = new Set([0o100644, 0o100755]);
