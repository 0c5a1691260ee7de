import { type ForgeName, MAX_PULL_REQUEST_NUMBER, type PullRequestRef } from './forge.ts';

/**
 * Where a forge puts what the door must know, most trusted name first: the neutral name of the
 * interface, then the forge's own. Forgejo sends Gitea's names too.
 */
export interface HeaderNames {
  readonly event: readonly string[];
  readonly delivery: readonly string[];
  /** Only GitHub names the hook; its delivery ids are unique per event, not per hook. */
  readonly hook: readonly string[];
}

export const HEADER_NAMES: Readonly<Record<ForgeName, HeaderNames>> = {
  github: {
    event: ['x-forge-event', 'x-github-event'],
    delivery: ['x-forge-delivery', 'x-github-delivery'],
    hook: ['x-github-hook-id'],
  },
  gitea: {
    event: ['x-forge-event', 'x-gitea-event'],
    delivery: ['x-forge-delivery', 'x-gitea-delivery'],
    hook: [],
  },
  forgejo: {
    event: ['x-forge-event', 'x-forgejo-event', 'x-gitea-event'],
    delivery: ['x-forge-delivery', 'x-forgejo-delivery', 'x-gitea-delivery'],
    hook: [],
  },
};

/** What a delivery is about, as far as its payload says so in a form that can be believed. */
export interface Subject {
  readonly repository: string | undefined;
  readonly pullRequest: number | undefined;
  /** Whether it can change the review of its pull request. */
  readonly reviewable: boolean;
  /** The branch whose policy a push has changed, and with it every review of pull requests into it. */
  readonly policyBranch: string | undefined;
}

const ANY_ACTION = 'any';

/**
 * The events that can change a review, with their actions. Gitea and Forgejo spell some differently and
 * split reviews and synchronisation into events of their own (routers and services/webhook, 2026).
 *
 * A review that only comments is not among them: no predicate looks at one, and every review that Gatehouse posts
 * comes back as one. By what it says, and not by its author or text, so that nobody can hide an approval behind it.
 */
const REVIEWABLE = new Map<string, ReadonlySet<string> | typeof ANY_ACTION>([
  [
    'pull_request',
    new Set([
      'opened',
      'reopened',
      'synchronize',
      'synchronized',
      'edited',
      'labeled',
      'unlabeled',
      'label_updated',
      'label_cleared',
      'ready_for_review',
      'converted_to_draft',
    ]),
  ],
  ['pull_request_sync', ANY_ACTION],
  ['pull_request_label', ANY_ACTION],
  ['pull_request_review', new Set(['submitted', 'edited', 'dismissed'])],
  ['pull_request_approved', ANY_ACTION],
  ['pull_request_rejected', ANY_ACTION],
  ['pull_request_review_approved', ANY_ACTION],
  ['pull_request_review_rejected', ANY_ACTION],
]);

/**
 * Reads what a payload is about. Never throws: a payload is any JSON object, from anyone who has the secret.
 * `policyPaths` are the files of which a push makes {@link Subject.policyBranch}.
 */
export function interpretEvent(
  event: string,
  payload: Readonly<Record<string, unknown>>,
  policyPaths: readonly string[],
): Subject {
  const repository = repositoryName(object(payload['repository'])?.['full_name']);
  const pullRequest =
    pullRequestNumber(object(payload['pull_request'])?.['number']) ??
    (event.startsWith('pull_request') ? pullRequestNumber(payload['number']) : undefined);
  const policyBranch =
    event === 'push' && touches(payload['commits'], policyPaths) ? branch(payload['ref']) : undefined;
  return { repository, pullRequest, reviewable: canChangeReview(event, payload), policyBranch };
}

const MAX_BRANCH_CHARACTERS = 255;

function branch(ref: unknown): string | undefined {
  const name = typeof ref === 'string' && ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : '';
  return name.length > 0 && name.length <= MAX_BRANCH_CHARACTERS && /^[\x21-\x7e]+$/.test(name) ? name : undefined;
}

/** The forges list what each commit of a push added, removed and modified. */
function touches(commits: unknown, paths: readonly string[]): boolean {
  if (!Array.isArray(commits)) {
    return false;
  }
  return commits.some((commit) =>
    ['added', 'removed', 'modified'].some((kind) => {
      const files = object(commit)?.[kind];
      return Array.isArray(files) && paths.some((path) => files.includes(path));
    }),
  );
}

/** What a delivery asks for: one pull request's review, or that of all into a branch. */
export type ReviewRequest =
  | ({ readonly kind: 'review' } & PullRequestRef)
  | { readonly kind: 'review-repository'; readonly repository: string; readonly branch: string };

export function requestedReview(subject: Subject): ReviewRequest | undefined {
  const { repository, pullRequest: number, reviewable, policyBranch: branch } = subject;
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
  const actions = REVIEWABLE.get(event);
  if (
    actions === undefined ||
    (event === 'pull_request_review' && object(payload['review'])?.['state'] === 'commented')
  ) {
    return false;
  }
  return actions === ANY_ACTION || (typeof action === 'string' && actions.has(action));
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

/** GitHub's, Gitea's and Forgejo's event types, for metric labels: any other is `other`. */
export const KNOWN_EVENTS: ReadonlySet<string> = new Set([
  'branch_protection_configuration',
  'branch_protection_rule',
  'check_run',
  'check_suite',
  'code_scanning_alert',
  'commit_comment',
  'create',
  'custom_property',
  'custom_property_values',
  'delete',
  'dependabot_alert',
  'deploy_key',
  'deployment',
  'deployment_protection_rule',
  'deployment_review',
  'deployment_status',
  'discussion',
  'discussion_comment',
  'fork',
  'github_app_authorization',
  'gollum',
  'installation',
  'installation_repositories',
  'installation_target',
  'issue_assign',
  'issue_comment',
  'issue_label',
  'issue_milestone',
  'issues',
  'label',
  'marketplace_purchase',
  'member',
  'membership',
  'merge_group',
  'meta',
  'milestone',
  'org_block',
  'organization',
  'package',
  'page_build',
  'personal_access_token_request',
  'ping',
  'project',
  'project_card',
  'project_column',
  'projects_v2',
  'projects_v2_item',
  'projects_v2_status_update',
  'public',
  'pull_request',
  'pull_request_approved',
  'pull_request_assign',
  'pull_request_comment',
  'pull_request_label',
  'pull_request_milestone',
  'pull_request_rejected',
  'pull_request_review',
  'pull_request_review_approved',
  'pull_request_review_comment',
  'pull_request_review_rejected',
  'pull_request_review_request',
  'pull_request_review_thread',
  'pull_request_sync',
  'push',
  'registry_package',
  'release',
  'repository',
  'repository_advisory',
  'repository_dispatch',
  'repository_import',
  'repository_ruleset',
  'repository_vulnerability_alert',
  'secret_scanning_alert',
  'secret_scanning_alert_location',
  'security_advisory',
  'security_and_analysis',
  'sponsorship',
  'star',
  'status',
  'sub_issues',
  'team',
  'team_add',
  'watch',
  'wiki',
  'workflow_dispatch',
  'workflow_job',
  'workflow_run',
]);
