import { hash } from 'node:crypto';

/** What happened to a commit that came to a watched branch. */
export const OUTCOMES = [
  'passed',
  'overridden',
  'bypassed',
  'no policy',
  'not enforced',
  'direct',
  'rewritten',
  'not watched then',
  'unknown',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** How a pull request came to its base branch. A rebase of one commit looks like a squash, and is called so. */
export type MergeMethod = 'merge' | 'squash' | 'rebase' | 'fast-forward' | 'queue';

/** Who approved at which commit. */
export interface LedgerApproval {
  readonly login: string;
  readonly sha: string;
}

export interface LedgerOverride {
  readonly rule: string;
  readonly login: string;
}

/** The pull request that brought a commit. */
export interface LedgerPullRequest {
  readonly number: number;
  readonly author: string;
  /** Null: the forge does not have it any more. */
  readonly head: string | null;
  readonly method: MergeMethod;
  /** Login. Null: the forge does not say. */
  readonly mergedBy: string | null;
  readonly mergedAt: string;
  /** The verdict on the head into the base, when it was merged. Null: none was recorded by then. */
  readonly verdict: LedgerVerdict | null;
}

export interface LedgerVerdict {
  readonly state: string;
  readonly answeredAt: string;
  readonly enforced: boolean;
  readonly approvals: readonly LedgerApproval[];
  readonly overrides: readonly LedgerOverride[];
}

/** What is recorded. Nothing in it is content of the change: no title and no message. */
export type LedgerContent =
  | {
      /** From this commit on the branch is watched. */
      readonly kind: 'started';
      readonly branch: string;
      readonly sha: string;
    }
  | {
      /** A first-parent commit that came to the branch. */
      readonly kind: 'commit';
      readonly branch: string;
      readonly sha: string;
      /** Its first parent; null: it has none. */
      readonly parent: string | null;
      readonly outcome: Exclude<Outcome, 'rewritten'>;
      /** Why the outcome is not `passed`, where that is not plain. */
      readonly why: string | null;
      readonly pullRequest: LedgerPullRequest | null;
      /** Login, from the webhook of the push. Null: no such webhook came. */
      readonly pushedBy: string | null;
      /** Login, or the name that the commit has where the forge knows no account. */
      readonly committer: string;
    }
  | {
      /** The branch no longer has a commit that it had. */
      readonly kind: 'rewritten';
      readonly branch: string;
      readonly outcome: 'rewritten';
      readonly from: string;
      readonly to: string;
      /** The first-parent commits that are gone, newest first. Null: the forge does not list them any more. */
      readonly lost: readonly string[] | null;
      readonly pushedBy: string | null;
    }
  | {
      /** Retention dropped the entries up to this position, the last of which had this hash. */
      readonly kind: 'anchor';
      readonly droppedUpTo: number;
      readonly hash: string;
    }
  | {
      /**
       * The database was restored from a backup. The entries from this position to `lostUpTo` are lost, the last of
       * which had this hash.
       */
      readonly kind: 'restored';
      readonly lostUpTo: number;
      readonly hash: string;
    };

/** A link of a chain. */
export type LedgerEntry = LedgerContent & {
  readonly chain: string;
  readonly position: number;
  /** The hash of the entry before, '' for the first. */
  readonly previous: string;
  /** When that was recorded, null for the first: it tells whether retention may have dropped it. */
  readonly previousAt: string | null;
  /** The repository's name then. */
  readonly repository: string;
  /** ISO 8601, in milliseconds. */
  readonly recordedAt: string;
};

/** Where a chain ends. */
export interface ChainHead {
  readonly chain: string;
  readonly repository: string;
  readonly position: number;
  readonly hash: string;
  /** When its last entry was recorded; null: it has none. */
  readonly recordedAt: Date | null;
}

/** What was kept of one outside the database, at some time. */
export interface CopiedHead extends ChainHead {
  readonly recordedAt: Date;
}

/** A row of the table. */
export interface LedgerRow {
  readonly chain: string;
  readonly position: number;
  readonly recordedAt: Date;
  /** JSON of a {@link LedgerEntry}. */
  readonly text: string;
  readonly hash: string;
}

export function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

/** The next link of a chain. What is hashed is the text itself, so that no other form of it has to be defined. */
export function link(head: ChainHead, content: LedgerContent, recordedAt: Date): LedgerRow {
  const position = head.position + 1;
  const { chain, repository, hash: previous } = head;
  const previousAt = head.recordedAt?.toISOString() ?? null;
  const own = { chain, position, previous, previousAt, repository, recordedAt: recordedAt.toISOString() };
  const entry: LedgerEntry = { ...content, ...own };
  const text = JSON.stringify(entry);
  return { chain, position, recordedAt, text, hash: hashOf(text) };
}
