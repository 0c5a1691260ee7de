/** Conversations about the change, in the words that all forges share. */

import type { YesNo } from './yes-no.ts';

/** One that somebody began at a line, or at a file, and that people can resolve. */
export interface Conversation {
  /** Login of who began it; `ghost` where the account is gone. An App of GitHub has `[bot]` behind its name. */
  readonly author: string;
  /** Whether who began it is a program. Only GitHub reports it; elsewhere it is false. */
  readonly bot: boolean;
  readonly path: string;
  /** Null: it is about the whole file, or about a line that is no longer there. */
  readonly line: number | null;
  /** Whether the lines that it is about have changed since. */
  readonly outdated: YesNo;
  readonly resolved: YesNo;
  /** Login of who resolved it; null where nobody did, or the forge does not tell. */
  readonly resolvedBy: string | null;
  /** Logins of all who have written in it after its first comment; null where the forge did not tell all of them. */
  readonly answeredBy: readonly string[] | null;
}

/** All that a forge lists for a pull request. `complete` is false when it did not list every one. */
export interface Conversations {
  readonly conversations: readonly Conversation[];
  readonly complete: boolean;
}
