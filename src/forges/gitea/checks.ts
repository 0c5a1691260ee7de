import { requireFound } from '../answer.ts';
import type { Checks } from '../port/checks.ts';
import { standingStatuses } from '../standing-checks.ts';
import { type GiteaClient, path } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

/** The commit statuses: these forges have no check runs, and their Actions report statuses. */
export async function checks(client: GiteaClient, repository: string, sha: string): Promise<Checks> {
  const route = `${repositoryPath(repository)}${path('statuses', sha)}`;
  const statuses = requireFound(await client.askAll(route, shapes.statuses), route);
  // The forges' own order says nothing within one second; ids ascend.
  const newestFirst = statuses
    .toSorted((one, other) => other.id - one.id)
    .map(({ context, creator, status, target_url }) => ({
      kind: 'status' as const,
      name: context,
      reporter: creator,
      state: status,
      ...(target_url && { url: target_url }),
    }));
  return { checks: standingStatuses(newestFirst), suites: [], complete: true };
}
