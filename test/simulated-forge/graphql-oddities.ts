import {
  defaultFieldResolver,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isNullableType,
} from 'graphql';

/** What else an answer to a query may be, by the schema. Drawn in `github-api/hostile.ts`. */
export interface Oddity {
  readonly kind: 'null' | 'null element' | 'error' | 'unknown value' | 'short page';
  /** Of the fields that may have it, counted as they are resolved, every n-th has it, beginning with another. */
  readonly every: number;
  readonly first: number;
  readonly page: number;
  readonly error: { readonly type?: string; readonly message: string };
}

/** Null says something in these: a deleted account, a fork that is gone, a review not submitted, a commit not signed. */
const NULL_MEANS: readonly string[] = [
  'PullRequest.author',
  'PullRequest.baseRef',
  'PullRequest.headRepository',
  'PullRequest.mergeQueueEntry',
  'PullRequestReview.author',
  'PullRequestReview.commit',
  'PullRequestReview.submittedAt',
  'PullRequestReviewComment.author',
  'PullRequestReviewComment.line',
  'PullRequestReviewThread.line',
  'PullRequestReviewThread.resolvedBy',
  'IssueComment.author',
  'IssueComment.lastEditedAt',
  'GitActor.name',
  'GitActor.email',
  'GitActor.user',
  'Commit.file',
  'Commit.signature',
  'GpgSignature.signer',
  'Commit.status',
  'CheckSuite.app',
  'CheckSuite.branch',
  'CheckSuite.conclusion',
  'CheckSuite.workflowRun',
  'CheckRun.completedAt',
  'CheckRun.conclusion',
  'CheckRun.startedAt',
  'StatusContext.creator',
  'StatusContext.description',
  'StatusContext.targetUrl',
  'Ref.target',
  'Repository.mergeQueue',
  'Repository.object',
  'MergeQueueEntry.baseCommit',
  'MergeQueueEntry.headCommit',
  'MergeQueueEntry.pullRequest',
];

/** Executes a query with an oddity: the resolver of all fields, and what is left to do with the data. */
export function makeOdd({ kind, every, first, page, error }: Oddity) {
  let counted = first;
  const unknownValues: (readonly (string | number)[])[] = [];
  const isOdd = (suits: boolean) => {
    counted += suits ? 1 : 0;
    return suits && counted % every === 0;
  };

  const fieldResolver: GraphQLFieldResolver<unknown, unknown> = (source, given, context, info) => {
    const size = Math.min(Number(given['first']), page);
    const isShort = kind === 'short page' && given['first'] !== undefined;
    const value = defaultFieldResolver(source, isShort ? { ...given, first: size } : given, context, info);
    const { returnType } = info;
    // That what was asked for is not there is an answer, and not an odd one.
    if (kind === 'error' && isOdd(!(error.type === 'NOT_FOUND' && info.path.prev === undefined))) {
      throw Object.assign(new Error(error.message), error.type === undefined ? {} : { type: error.type });
    }
    if (kind === 'null' && isOdd(isNullableType(returnType) && value !== null && !isMeant(info))) {
      return null;
    }
    const listType = isNonNullType(returnType) ? returnType.ofType : returnType;
    const mayHaveNull = isListType(listType) && isNullableType(listType.ofType) && Array.isArray(value);
    if (kind === 'null element' && isOdd(mayHaveNull)) {
      return [null, ...(value as readonly unknown[])];
    }
    if (kind === 'unknown value' && isOdd(isEnumType(getNamedType(returnType)) && typeof value === 'string')) {
      unknownValues.push(pathOf(info));
    }
    return value;
  };

  return {
    fieldResolver,
    /** With values that the schema has not, as a later one may. */
    finish(data: unknown): unknown {
      const changed: unknown = JSON.parse(JSON.stringify(data ?? null));
      for (const path of unknownValues) {
        const parent = path.slice(0, -1).reduce<unknown>((at, key) => Object(at)[key], changed);
        Object.assign(Object(parent), { [String(path.at(-1))]: 'NEW_IN_GITHUB' });
      }
      return changed;
    },
  };
}

function isMeant({ parentType, fieldName }: GraphQLResolveInfo): boolean {
  return NULL_MEANS.includes(`${parentType.name}.${fieldName}`);
}

function pathOf({ path }: GraphQLResolveInfo): readonly (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: GraphQLResolveInfo['path'] | undefined = path; at !== undefined; at = at.prev) {
    keys.unshift(at.key);
  }
  return keys;
}
