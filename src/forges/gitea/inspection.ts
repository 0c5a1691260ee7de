import { requireFound } from '../answer.ts';
import type { BranchProtection, InspectedAccount, InspectedRepository, Inspection } from '../port/inspection.ts';
import { grants } from './access.ts';
import { type GiteaClient, path } from './client.ts';
import type { GiteaName } from './differences.ts';
import { makeHookReader } from './hooks.ts';
import { repositoryPath, toRepositoryNow } from './read.ts';
import * as shapes from './shapes.ts';

export function makeInspection(forge: GiteaName, client: GiteaClient): Inspection {
  return {
    hooks: makeHookReader(forge, client),
    repository: (name) => inspect(client, name),
    grants: (_repository, extras) => grants(client, extras),
    accounts: (repository) => writers(client, repository),
    protection: (repository, branch) => protection(client, repository, branch),
  };
}

async function inspect(client: GiteaClient, name: string): Promise<InspectedRepository | undefined> {
  const answer = await client.ask(repositoryPath(name), shapes.inspectedRepository);
  return (
    answer && {
      ...toRepositoryNow(answer),
      archived: answer.archived,
      mayWrite: answer.permissions?.push,
    }
  );
}

/** Gitea has accounts of the type `bot`, and its API does not say so. */
async function writers(client: GiteaClient, repository: string): Promise<readonly InspectedAccount[]> {
  const route = `${repositoryPath(repository)}/assignees`;
  const people = requireFound(await client.ask(route, shapes.assignees), `GET ${route}`);
  return people.map(({ login, full_name, prohibit_login }) => ({
    login,
    fullName: full_name,
    loginProhibited: prohibit_login,
  }));
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
  return { required: names.map((context) => ({ context })), arePatterns: true, hasMergeQueue: false };
}
