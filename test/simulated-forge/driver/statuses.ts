import { type CheckRun, newId, type Status } from '../world.ts';
import type { Stage } from './stage.ts';

/** What is said of a commit. Repositories are `owner/name`. */
export interface Statuses {
  statuses(repository: string, sha?: string): readonly Status[];
  /** Sets a status in anybody's name. */
  setStatus(
    repository: string,
    sha: string,
    status: Pick<Status, 'context' | 'state' | 'description' | 'author'>,
  ): Status;
  /** A check run of an App's: a new one, as each attempt has. Without a conclusion it is in progress. GitHub's alone. */
  runCheck(repository: string, sha: string, run: Pick<CheckRun, 'name' | 'app'> & { conclusion?: string }): CheckRun;
}

export function makeStatuses(stage: Stage): Statuses {
  const { world, find } = stage;

  return {
    statuses: (repository, sha) =>
      find(repository).statuses.filter((status) => sha === undefined || status.sha === sha),
    setStatus(repository, sha, status) {
      const made = { id: newId(world), sha, targetUrl: '', at: new Date().toISOString(), ...status };
      find(repository).statuses.push(made);
      return made;
    },
    runCheck(repository, sha, { name, app, conclusion }) {
      const status = conclusion === undefined ? 'in_progress' : 'completed';
      const made = { id: newId(world), sha, name, app, status, conclusion: conclusion ?? null } as const;
      find(repository).checkRuns.push(made);
      return made;
    },
  };
}
