import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';
import { type GiteaClient, path } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

/** What lets a team push. */
const WRITING: readonly (string | undefined)[] = ['write', 'admin', 'owner'];
const METHOD_NOT_ALLOWED = 405;

/**
 * Whether somebody may push. The permission of others is shown to administrators only. Who can be assigned is shown to
 * everybody: those who may write, and in an organisation the members of teams that may only read pull requests too. So
 * somebody counts who is in no such team, or in one that may write as well. Undefined where a team's members are not
 * shown.
 */
export async function mayWrite(client: GiteaClient, repository: string, login: string): Promise<boolean | undefined> {
  const route = `${repositoryPath(repository)}/assignees`;
  const assignable = requireFound(await client.ask(route, shapes.users), `GET ${route}`);
  if (!isAmong(assignable, login)) {
    return false;
  }
  const teams = await teamsOf(client, repository);
  const weaker = await Promise.all(teams.filter((team) => !mayPush(team)).map((team) => isIn(client, team, login)));
  if (weaker.every((member) => member === false)) {
    return true;
  }
  const writing = await Promise.all(teams.filter(mayPush).map((team) => isIn(client, team, login)));
  if (writing.includes(true)) {
    return true;
  }
  return [...weaker, ...writing].includes(undefined) ? undefined : false;
}

type Team = z.output<typeof shapes.repositoryTeams>[number];

function mayPush({ permission, units_map }: Team): boolean {
  return WRITING.includes(permission) || WRITING.includes(units_map['repo.code']);
}

/** None where the owner is no organisation. */
async function teamsOf(client: GiteaClient, repository: string): Promise<readonly Team[]> {
  const route = `${repositoryPath(repository)}/teams`;
  try {
    return requireFound(await client.ask(route, shapes.repositoryTeams), `GET ${route}`);
  } catch (error) {
    if (error instanceof ForgeError && error.status === METHOD_NOT_ALLOWED) {
      return [];
    }
    throw error;
  }
}

/**
 * Undefined for a team whose members are not shown: those of others' teams, and without the scope `read:organization`.
 */
async function isIn(client: GiteaClient, { id }: Team, login: string): Promise<boolean | undefined> {
  try {
    const members = await client.askAll(path('teams', id, 'members'), shapes.users);
    return members && isAmong(members, login);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'refused') {
      return undefined;
    }
    throw error;
  }
}

function isAmong(users: readonly { readonly login: string }[], login: string): boolean {
  return users.some((user) => user.login.toLowerCase() === login.toLowerCase());
}
