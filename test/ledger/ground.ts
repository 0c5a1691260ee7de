import type { Person } from '../helpers/gitea-container.ts';
import type { Site } from '../helpers/site.ts';
import type { Changes } from '../simulated-forge/git.ts';

/** A repository that the scenario is played in: of a real forge, or of a simulated one. */
export interface Ground {
  readonly site: Pick<Site, 'repository' | 'push' | 'open' | 'status' | 'deleteBranch' | 'rename' | 'loseWebhooks'>;
  /** Those by which a pull request can be merged. */
  readonly methods: readonly string[];
  /** Requires the status for merges into the branch. Who may push still may. */
  requireStatus(branch: string, context: string): Promise<void>;
  tip(branch: string): Promise<string>;
  /** The first-parent commits of a branch that the other commit has not, newest first; without one, all. */
  commits(branch: string, since?: string): Promise<readonly string[]>;
  makeBranch(branch: string, at: string): Promise<void>;
  /** Returns the method that it was merged by: another one where the forge refuses this one. */
  mergePull(number: number, by: Person, method: string): Promise<string>;
  /** Puts a commit on another one, in the place of what the branch had. */
  forcePush(branch: string, onto: string, files: Changes): Promise<void>;
  /** Whether the first commits of a rebase may be `unknown`: its webhook is lost, and the forge does not name them. */
  mayBeUnknown(isLost: boolean): boolean;
}
