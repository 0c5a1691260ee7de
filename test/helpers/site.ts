import type { ExecutionContext } from 'ava';
import type { Changes } from '../simulated-forge/git.ts';
import type { Person } from './gitea-container.ts';
import { eventually } from './until.ts';

/**
 * A repository of a story: what people do there, with the webhooks of it, and what it then shows. A simulated forge and a
 * real Gitea have one implementation each. What is read there may come at once or later: a story awaits all of it.
 */
export interface Site {
  readonly repository: string;
  /** Opens a pull request, for a branch that is there or for files, which become a branch of their own. Returns its number. */
  open(from: Changes | string, details?: OpenDetails): Promise<number>;
  /** Opens one from a fork of `mallory`, by `mallory`. */
  openFromFork(
    files: Changes,
    given?: { readonly labels: readonly string[]; readonly assignees: readonly Person[] },
  ): Promise<number>;
  deleteFork(): Promise<void>;
  /** Opens one by a push of `mallory` to `refs/for/main`. Not on GitHub. */
  pushForReview(files: Changes): Promise<number>;
  /**
   * Pushes a commit for each of the changes, to a pull request or to a branch, which is made from `main` if need be.
   * Returns the new tip.
   */
  push(to: number | string, ...changes: readonly Changes[]): Promise<string>;
  /** Puts one commit on `main` in the place of all that the branch had. Returns its tip. */
  forcePush(to: number | string, changes: Changes): Promise<string>;
  /** Pushes a merge of a commit to a branch. Its files are those of the branch with the changes. Returns its tip. */
  merge(branch: string, commit: string, changes: Changes): Promise<string>;
  /** The button that merges the base into a pull request, pressed by `bob`. Returns the new head. */
  updateBranch(number: number): Promise<string>;
  deleteBranch(branch: string): Promise<void>;
  edit(number: number, change: { readonly title?: string; readonly body?: string }): Promise<void>;
  retarget(number: number, base: string): Promise<void>;
  close(number: number): Promise<void>;
  reopen(number: number): Promise<void>;
  label(number: number, ...names: readonly string[]): Promise<void>;
  unlabel(number: number, name: string): Promise<void>;
  clearLabels(number: number): Promise<void>;
  /** Returns the review's id. Its text is the state by default. */
  review(number: number, person: Person, state: ReviewState, body?: string): Promise<number>;
  dismiss(number: number, review: number): Promise<void>;
  /** By whoever opened it, unless `by` says otherwise. */
  requestReview(number: number, person: Person, by?: Person): Promise<void>;
  withdrawReviewRequest(number: number, person: Person, by: Person): Promise<void>;
  /** In the place of those who were assigned before. */
  assign(number: number, ...people: readonly Person[]): Promise<void>;
  setMilestone(number: number, title: string | null): Promise<void>;
  comment(number: number, person: Person, body: string): Promise<number>;
  /** Whoever may write can edit anybody's comment. */
  editComment(number: number, person: Person, comment: number, body: string): Promise<void>;
  deleteComment(number: number, person: Person, comment: number): Promise<void>;
  /** Begins a conversation at a line, in a review of its own. Returns the id of its comment. */
  commentInline(number: number, person: Person, at: ShownInline): Promise<number>;
  /** Resolves the conversation that a comment begins, or takes that back. */
  resolve(number: number, person: Person, comment: number, resolved?: boolean): Promise<void>;
  setStatus(person: Person, sha: string, status: { readonly context: string; readonly state: string }): Promise<void>;
  /** From now on nobody pushes to the branch, and a merge into it requires this status: a name, or a pattern. */
  protect(branch: string, status: string): Promise<void>;
  /** Removes the required status from the protection of a branch. Who may push stays as it is. */
  stopRequiring(branch: string): Promise<void>;
  /** Merges, as `bob`. False when the protection of the base branch refuses it. */
  mergeByButton(number: number): Promise<boolean>;
  rename(name: string): Promise<void>;
  setPrivate(isPrivate: boolean): Promise<void>;
  setTopics(...topics: readonly string[]): Promise<void>;
  remove(): Promise<void>;
  /** From now on no webhook is sent, as if the network were away, or all are again. */
  loseWebhooks(lost: boolean): Promise<void>;

  head(number: number): string | Promise<string>;
  state(number: number): PullState | Promise<PullState>;
  /** The newest status of a commit, or of a pull request's head: of any name, or of the one given. */
  status(of: number | string, context?: string): ShownStatus | undefined | Promise<ShownStatus | undefined>;
  /** The states that a commit, or a pull request's head, was given: oldest first. */
  states(of: number | string): readonly string[] | Promise<readonly string[]>;
  /** What Gatehouse says in the conversation, oldest first. */
  comments(number: number): readonly string[] | Promise<readonly string[]>;
  inlines(number: number): readonly ShownInline[] | Promise<readonly ShownInline[]>;
  /**
   * Waits until Gatehouse's status of a commit, or of a pull request's head, is this one for merges into `base`.
   * `waiting`: pending, for what others have to do.
   */
  expect(t: ExecutionContext, of: number | string, state: string, base?: string): Promise<void>;
}

export interface OpenDetails {
  readonly head?: string;
  readonly base?: string;
  readonly title?: string;
  readonly body?: string;
  readonly draft?: boolean;
}

export type PullState = 'open' | 'closed' | 'merged';
export type ReviewState = 'approved' | 'changes-requested' | 'commented';

export interface ShownStatus {
  readonly state: string;
  readonly description: string;
}

export interface ShownInline {
  readonly path: string;
  readonly line: number;
  readonly body: string;
}

export const MAIN = 'main';
export const DISMISSAL = 'Looked at again';

export function messageOf(files: Changes): string {
  return `feat: change ${Object.keys(files).join(', ')}`;
}

export async function expectStatus(
  t: ExecutionContext,
  site: Site,
  of: number | string,
  state: string,
  base = MAIN,
): Promise<void> {
  await eventually(`${site.repository} at ${of} is ${state}`, async () => {
    const status = await site.status(of, `gatehouse/${base}`);
    const waits = status?.description.startsWith('Waiting for') ?? false;
    return state === 'waiting' ? status?.state === 'pending' && waits : status?.state === state;
  });
  t.pass();
}
