import type { BranchProtection, InspectedRepository, Inspection } from '../port/inspection.ts';
import { yesNo } from '../port/yes-no.ts';
import { grants } from './access.ts';
import { type GiteaClient, path } from './client.ts';
import type { GiteaName } from './differences.ts';
import { makeHookReader } from './hooks.ts';
import { repositoryPath, toRepositoryNow } from './read.ts';
import * as shapes from './shapes.ts';
import { hiddenTeams } from './write-access.ts';

export function makeInspection(forge: GiteaName, client: GiteaClient): Inspection {
  return {
    hooks: makeHookReader(forge, client),
    repository: (name) => inspect(client, name),
    hiddenTeams: (repository) => hiddenTeams(client, repository),
    grants: (_repository, extras) => grants(client, extras),
    protection: (repository, branch) => protection(client, repository, branch),
  };
}

async function inspect(client: GiteaClient, name: string): Promise<InspectedRepository | undefined> {
  const answer = await client.ask(repositoryPath(name), shapes.inspectedRepository);
  return (
    answer && {
      ...toRepositoryNow(answer),
      archived: answer.archived,
      mayWrite: yesNo(answer.permissions?.push),
    }
  );
}

/** Everybody who can read the repository is shown which statuses a branch requires. */
async function protection(
  client: GiteaClient,
  repository: string,
  branch: string,
): Promise<BranchProtection | undefined> {
  const route = `${repositoryPath(repository)}/branches${path(...branch.split('/'))}`;
  const answer = await client.ask(route, shapes.protectedBranch);
  if (answer === undefined) {
    return undefined;
  }
  const { enable_status_check, status_check_contexts } = answer;
  const names = enable_status_check ? status_check_contexts : [];
  return { required: names.map((context) => ({ context })), hasMergeQueue: false };
}
