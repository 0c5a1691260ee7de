import { hookEvents } from '../../src/forges/gitea/hook-events.ts';
import type { Person } from '../helpers/gitea-container.ts';
import type { Changes } from '../simulated-forge/git.ts';

/**
 * A repository on a Gitea, simulated or real, of `alice`, where `bob` and `gatehouse` may write and `mallory` may not.
 * People act here; the result is read over the forge's own API (reading.ts), which both kinds speak.
 */
export interface Site {
  /** Its present full name. */
  repository(): string;
  /** Pushes a commit for each of the changes to a branch, which is made from `main` if need be. Returns its tip. */
  push(branch: string, ...changes: readonly Changes[]): Promise<string>;
  /** Puts one commit upon `main` in the place of all that the branch had. Returns its tip. */
  forcePush(branch: string, changes: Changes): Promise<string>;
  /** Pushes a merge of a commit to a branch. Its files are those of the branch with the changes. Returns its tip. */
  merge(branch: string, commit: string, changes: Changes): Promise<string>;
  /** The button that merges the base into a pull request, pressed by `bob`. Returns the new head. */
  updateBranch(number: number): Promise<string>;
  deleteBranch(branch: string): Promise<void>;
  /** A pull request for a branch; from a fork of `mallory`'s, with the changes, where told. Returns its number. */
  open(branch: string, details?: { readonly title?: string; readonly base?: string }): Promise<number>;
  openFromFork(changes: Changes): Promise<number>;
  deleteFork(): Promise<void>;
  edit(number: number, change: { readonly title?: string; readonly body?: string }): Promise<void>;
  retarget(number: number, base: string): Promise<void>;
  /** Without a merge. */
  close(number: number): Promise<void>;
  reopen(number: number): Promise<void>;
  label(number: number, ...names: readonly string[]): Promise<void>;
  unlabel(number: number, name: string): Promise<void>;
  clearLabels(number: number): Promise<void>;
  /** Returns the review's id. */
  review(number: number, person: Person, state: 'approved' | 'changes-requested'): Promise<number>;
  dismiss(number: number, review: number): Promise<void>;
  /** From now on nobody pushes to the branch, and a merge into it requires this status: a name, or a pattern. */
  protect(branch: string, status: string): Promise<void>;
  /** Removes the required status from the protection of a branch. Who may push stays as it is. */
  stopRequiring(branch: string): Promise<void>;
  /** Merges, as `bob`. False when the protection of the base branch refuses it. */
  mergeByButton(number: number): Promise<boolean>;
  requestReview(number: number, person: Person): Promise<void>;
  /** Returns the comment's id. */
  comment(number: number, person: Person, body: string): Promise<number>;
  /** Whoever may write can edit anybody's comment. */
  editComment(number: number, person: Person, comment: number, body: string): Promise<void>;
  deleteComment(number: number, person: Person, comment: number): Promise<void>;
  /** Sets a commit status in a person's name. */
  setStatus(person: Person, sha: string, status: { readonly context: string; readonly state: string }): Promise<void>;
  rename(name: string): Promise<void>;
  setPrivate(isPrivate: boolean): Promise<void>;
  /** Deletes the repository. */
  remove(): Promise<void>;
  /** Makes the webhook, with the events of docs/forges.md, to a port of this machine. */
  hook(port: number, secret: string): Promise<void>;
  /** From now on nothing is sent, as if the network were away, or everything again. */
  loseWebhooks(lost: boolean): Promise<void>;
  /**
   * Pushes, and keeps the forge from following: `head.sha` is the new commit, and the difference the old one's.
   * `release()` ends that, and waits until the push is over.
   */
  pushHeld(branch: string, changes: Changes): Promise<{ readonly sha: string; release(): Promise<void> }>;
}

/** A forge on which every test takes a site of its own. */
export interface TestForge {
  readonly kind: 'simulated' | 'real';
  /** What Gatehouse is configured by. */
  readonly url: string;
  readonly token: string;
  /** One with the scopes `read:repository` and `read:user` only. */
  readonly readingToken: string;
  /** Of `alice`, who owns every site. */
  readonly ownerToken: string;
  /** The name by which the forge reaches this machine. */
  readonly hostName: string;
  /** Where doors and receivers have to listen to be reached from it. */
  readonly listenOn: string;
  site(files?: Changes): Promise<Site>;
  /** What Gatehouse has asked of a repository so far, `GET /api/v1/repos/…`. */
  requests(site: Site): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The branch that the pull requests go to. */
export const MAIN = 'main';
export const HOOK_EVENTS = hookEvents('gitea').map(({ name }) => name);
