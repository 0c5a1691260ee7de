import { MAX_PULL_REQUEST_NUMBER, type PullRequestRef } from './forge.ts';
import { FORGES } from './forges.ts';

/** What a delivery is about, as far as its payload says so in a valid form. */
export interface Subject {
  readonly repository: string | undefined;
  readonly pullRequest: number | undefined;
  /** Whether a resync is to look at the repository. A push to somebody's fork is no reason: hooks of a whole forge bring those too. */
  readonly resynced: boolean;
  /** Whether it can change the review of its pull request. */
  readonly reviewable: boolean;
  /** The branch that a push has moved. The rules of pull requests into it may have changed. */
  readonly pushedBranch: string | undefined;
}

/**
 * The events of all forges together: which forge sent a delivery is not stored with it.
 *
 * A review that only comments is not among them: no predicate looks at one, and every review that Gatehouse posts
 * comes back as one. By what it says, and not by its author or text, so that an approval cannot be hidden behind it.
 */
const REVIEWABLE = Object.values(FORGES).map(({ reviewableEvents }) => reviewableEvents);

/** Reads what a payload is about. Never throws: a payload is any JSON object, from anyone who has the secret. */
export function interpretEvent(event: string, payload: Readonly<Record<string, unknown>>): Subject {
  const source = object(payload['repository']);
  const repository = repositoryName(source?.['full_name']);
  const pullRequest =
    pullRequestNumber(object(payload['pull_request'])?.['number']) ??
    (event.startsWith('pull_request') ? pullRequestNumber(payload['number']) : undefined);
  // Whatever its commits are: forges list a part of them, or none, and none of those that a force-push takes away.
  const pushedBranch = event === 'push' && payload['deleted'] !== true ? branch(payload['ref']) : undefined;
  const resynced = repository !== undefined && (source?.['fork'] !== true || pullRequest !== undefined);
  return { repository, pullRequest, resynced, reviewable: canChangeReview(event, payload), pushedBranch };
}

const MAX_BRANCH_CHARACTERS = 255;

/** In any script, without what git-check-ref-format forbids. */
const BRANCH = /^[^\p{Cc} ~^:?*[\\]+$/u;

function branch(ref: unknown): string | undefined {
  const name = typeof ref === 'string' && ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : '';
  const usable = name.length <= MAX_BRANCH_CHARACTERS && name.isWellFormed() && BRANCH.test(name);
  return usable ? name : undefined;
}

/** The review that a delivery requests: of one pull request, or of all into a branch. */
export type ReviewRequest =
  | ({ readonly kind: 'review' } & PullRequestRef)
  | { readonly kind: 'review-repository'; readonly repository: string; readonly branch: string };

export function requestedReview(subject: Subject): ReviewRequest | undefined {
  const { repository, pullRequest: number, reviewable, pushedBranch: branch } = subject;
  if (repository === undefined) {
    return undefined;
  }
  if (reviewable && number !== undefined) {
    return { kind: 'review', repository, number };
  }
  return branch === undefined ? undefined : { kind: 'review-repository', repository, branch };
}

function canChangeReview(event: string, payload: Readonly<Record<string, unknown>>): boolean {
  const { action } = payload;
  if (event === 'pull_request_review' && object(payload['review'])?.['state'] === 'commented') {
    return false;
  }
  return REVIEWABLE.some((events) => {
    const actions = Object.hasOwn(events, event) ? events[event] : undefined;
    return actions === 'any action' || (typeof action === 'string' && (actions?.includes(action) ?? false));
  });
}

function object(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

const MAX_REPOSITORY_CHARACTERS = 256;

/** `owner/name` in the characters that the forges allow in either. */
function repositoryName(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_REPOSITORY_CHARACTERS) {
    return undefined;
  }
  return /^[\w.-]+\/[\w.-]+$/.test(value) ? value : undefined;
}

function pullRequestNumber(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_PULL_REQUEST_NUMBER
    ? Number(value)
    : undefined;
}
