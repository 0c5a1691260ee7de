import { type CheckRun, type CheckSuite, newId, type Status } from '../world.ts';
import type { Stage } from './stage.ts';

/** What is said of a commit. Repositories are `owner/name`. */
export interface Statuses {
  statuses(repository: string, sha?: string): readonly Status[];
  /** Sets a status in anybody's name. */
  setStatus(
    repository: string,
    sha: string,
    status: Pick<Status, 'context' | 'state' | 'description' | 'author'> & Partial<Pick<Status, 'targetUrl' | 'at'>>,
  ): Status;
  /**
   * A check run of an App's: a new one, as each attempt has. Without a conclusion it is in progress. It is in the
   * App's newest suite of the commit unless told. GitHub's alone.
   */
  runCheck(
    repository: string,
    sha: string,
    run: Pick<CheckRun, 'name' | 'app'> & { conclusion?: string; suite?: CheckSuite },
  ): CheckRun;
  /** A check suite without runs, queued as GitHub makes one for each App. GitHub's alone. */
  openSuite(repository: string, sha: string, app: string): CheckSuite;
}

export function makeStatuses(stage: Stage): Statuses {
  const { world, find } = stage;

  function openSuite(repository: string, sha: string, app: string): CheckSuite {
    const made: CheckSuite = { id: newId(world), sha, app };
    find(repository).checkSuites.push(made);
    return made;
  }

  return {
    statuses: (repository, sha) =>
      find(repository).statuses.filter((status) => sha === undefined || status.sha === sha),
    setStatus(repository, sha, status) {
      const made = { id: newId(world), sha, targetUrl: '', at: new Date().toISOString(), ...status };
      find(repository).statuses.push(made);
      return made;
    },
    runCheck(repository, sha, { name, app, conclusion, suite: given }) {
      const status = conclusion === undefined ? 'in_progress' : 'completed';
      const { checkRuns, checkSuites } = find(repository);
      const newest = checkSuites.findLast((suite) => suite.sha === sha && suite.app === app);
      const { id: suite } = given ?? newest ?? openSuite(repository, sha, app);
      const made = { id: newId(world), sha, name, app, status, conclusion: conclusion ?? null, suite } as const;
      checkRuns.push(made);
      return made;
    },
    openSuite,
  };
}
