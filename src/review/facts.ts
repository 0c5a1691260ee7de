import type { Checks } from '../forges/port/checks.ts';
import type { Conversations } from '../forges/port/conversations.ts';
import type { CodeOwnersDialect } from '../forges/port/forges.ts';
import type {
  ChangedFiles,
  PersonReview,
  PullRequest,
  RepositoryNow,
  RequestedReviews,
  Triage,
} from '../forges/port/pull-request.ts';
import type { AuthoredCommits } from './authors/authors.ts';
import { NO_PEOPLE_SETTINGS, type PeopleSettings } from './authors/people-settings.ts';

/**
 * Everything that is judged of one pull request: a snapshot, never added to.
 *
 * What was not read is `incomplete` or `unread` here, and what depends on it is then undecided, never passed.
 */
export interface Facts {
  readonly pullRequest: PullRequest;
  readonly changedFiles: ChangedFiles;
  readonly commits: CommitList;
  readonly reviews: ReviewList;
  /** By team, named `organisation/team` in lower case. A team that is not here could not be read. */
  readonly teams: ReadonlyMap<string, TeamMembers>;
  readonly codeOwners: CodeOwnersFile;
  /** What others reported about the head. */
  readonly checks: Checks;
  /** The conversations that Gatehouse did not begin. */
  readonly conversations: Conversations;
  /** How people are told apart from machines, beside what the forge says: the policy's words, which evaluate() adds. */
  readonly people: PeopleSettings;
  /** Undefined: unread. */
  readonly triage: Triage | undefined;
  /** Undefined: unread. */
  readonly repository: RepositoryTraits | undefined;
}

/** Who is in a team, or in an organisation, which is the team `organisation/*`. */
export type TeamMembers =
  /** Nobody else is. */
  | { readonly kind: 'team'; readonly logins: readonly string[] }
  /** Only people whom the forge was asked about. `unknown`: those of whom it did not say. */
  | {
      readonly kind: 'organisation';
      readonly members: readonly string[];
      readonly others: readonly string[];
      readonly unknown: readonly string[];
    };

/** Whose membership of an organisation matters. */
export type MemberRole = 'author' | 'assignees' | 'authors' | 'signers' | 'reviewers' | 'requested' | 'conversations';

export interface MembersNeeded {
  /** In lower case. */
  readonly organisation: string;
  readonly role: MemberRole;
}

/** `topics` is absent where the forge does not tell them. */
export type RepositoryTraits = Pick<RepositoryNow, 'visibility' | 'topics'>;

interface CommitList extends AuthoredCommits {
  /** False when the forge would not list all of them (GitHub stops at 250). */
  readonly complete: boolean;
  /**
   * Ids of merge commits that are known to change nothing themselves: what git would have made of their parents.
   * Any other merge commit is a change by its author.
   */
  readonly cleanMerges: ReadonlySet<string>;
  /** Earlier heads that the head differs from by updates alone: merges of the base branch that change nothing else. */
  readonly updatedFrom: readonly string[];
}

interface ReviewList {
  /** Oldest first. */
  readonly reviews: readonly PersonReview[];
  readonly complete: boolean;
  readonly lastChange: LastChange;
  /** Undefined: unread. */
  readonly requested: RequestedReviews | undefined;
}

/** When the base branch was last changed or the head force-pushed. An approval from before it is not fresh. */
export type LastChange =
  | { readonly kind: 'unread' }
  /** Neither, or there is no approval. */
  | { readonly kind: 'none' }
  | { readonly kind: 'change'; readonly at: string };

type CodeOwnersFile =
  | { readonly kind: 'unread' }
  | { readonly kind: 'absent' }
  /** It exists, and its text cannot be read; `reason` names it. */
  | { readonly kind: 'unusable'; readonly path: string; readonly reason: string }
  | { readonly kind: 'file'; readonly path: string; readonly text: string; readonly dialect: CodeOwnersDialect };

/** Facts of which only the pull request itself has been read. Spread what is read over it. */
export function unreadFacts(pullRequest: PullRequest): Facts {
  return {
    pullRequest,
    changedFiles: { files: [], complete: false },
    commits: { commits: [], complete: false, cleanMerges: new Set(), updatedFrom: [], accounts: new Map() },
    reviews: { reviews: [], complete: false, lastChange: { kind: 'unread' }, requested: undefined },
    teams: new Map(),
    codeOwners: { kind: 'unread' },
    checks: { checks: [], complete: false },
    conversations: { conversations: [], complete: false },
    people: NO_PEOPLE_SETTINGS,
    triage: undefined,
    repository: undefined,
  };
}

/** What has to be read from the forge for a policy. The pull request itself is always needed. */
export interface NeededFacts {
  readonly changedFiles: boolean;
  /** Whether the lines of the changed files matter, and not only their paths. */
  readonly lines: boolean;
  readonly commits: boolean;
  /** Whether it matters whom the messages of the commits name as their co-authors. */
  readonly authors: boolean;
  /** Whether commits have a signature that the forge has verified. */
  readonly signatures: boolean;
  /** Whether it matters whose they are. Only with `signatures`. */
  readonly signers: boolean;
  /** Whether a merge commit that changes files itself counts for more than one that does not. */
  readonly cleanMerges: boolean;
  /** Whether an approval of an earlier head counts where only the base branch came in since. */
  readonly updates: boolean;
  readonly reviews: boolean;
  /** Whether it matters who of those who request changes may write to the repository. */
  readonly requestsForChanges: boolean;
  readonly requestedReviews: boolean;
  readonly triage: boolean;
  readonly repository: boolean;
  /** Whether an approval has to be newer than the last force-push and change of base. */
  readonly lastChange: boolean;
  readonly codeOwners: boolean;
  readonly checks: boolean;
  /** Whether all checks matter, and with them check suites. */
  readonly checkSuites: boolean;
  readonly conversations: boolean;
  /** `organisation/team`, in lower case, sorted. */
  readonly teams: readonly string[];
  /** Sorted. */
  readonly members: readonly MembersNeeded[];
  /** The policy's own: see {@link PeopleSettings}. */
  readonly authorTrailers: readonly string[];
}
