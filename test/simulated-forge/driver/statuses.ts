import { type CheckRun, type CheckSuite, newId, type Status, type WorkflowRun } from '../world.ts';
import type { Stage } from './stage.ts';

/** A second for each id, so that what is made later is later. */
function timeOf(id: number): string {
  return new Date(Date.UTC(2026, 0, 1) + id * 1_000).toISOString();
}

export function makeStatuses(stage: Stage) {
  const { world, find } = stage;

  /**
   * A check suite without runs, queued as GitHub makes one for each App. One of GitHub Actions is of a workflow of its
   * own unless told. GitHub's alone.
   */
  function openSuite(repository: string, sha: string, app: string, run?: Partial<WorkflowRun>): CheckSuite {
    const id = newId(world);
    const workflow = { file: `${id}.yml`, event: 'pull_request', branch: 'topic', ...run };
    const made: CheckSuite = { id, sha, app, ...(app === 'github-actions' && { workflow }) };
    find(repository).checkSuites.push(made);
    return made;
  }

  return {
    statuses: (repository: string, sha?: string): readonly Status[] =>
      find(repository).statuses.filter((status) => sha === undefined || status.sha === sha),
    setStatus(
      repository: string,
      sha: string,
      status: Pick<Status, 'context' | 'state' | 'description' | 'author'> & Partial<Pick<Status, 'targetUrl' | 'at'>>,
    ): Status {
      const made = { id: newId(world), sha, targetUrl: '', at: new Date().toISOString(), ...status };
      find(repository).statuses.push(made);
      return made;
    },
    /**
     * A check run of an App's: a new one, as each attempt has, which began after all before it had ended. Without a
     * conclusion it is in progress; one of GitHub Actions ends that of its name. It is in the App's newest suite of the
     * commit unless told. GitHub's alone.
     */
    runCheck(
      repository: string,
      sha: string,
      run: Pick<CheckRun, 'name' | 'app'> & { conclusion?: string; suite?: CheckSuite; startedAt?: string },
    ): CheckRun {
      const { name, app, conclusion, suite: given, startedAt } = run;
      const status = conclusion === undefined ? 'in_progress' : 'completed';
      const { checkRuns, checkSuites } = find(repository);
      const newest = checkSuites.findLast((suite) => suite.sha === sha && suite.app === app);
      const { id: suite } = given ?? newest ?? openSuite(repository, sha, app);
      const open = checkRuns.findIndex(
        (one) => app === 'github-actions' && one.suite === suite && one.name === name && one.conclusion === null,
      );
      const at = startedAt === undefined ? open : -1;
      const now = timeOf(newId(world));
      const { id, startedAt: began } = checkRuns[at] ?? { id: newId(world), startedAt: startedAt ?? now };
      const times = { startedAt: began, endedAt: conclusion === undefined ? null : now };
      const made = { id, sha, name, app, status, conclusion: conclusion ?? null, suite, ...times } as const;
      checkRuns.splice(at === -1 ? checkRuns.length : at, at === -1 ? 0 : 1, made);
      return made;
    },
    openSuite,
  };
}
