import { z } from 'zod';
import { requireFound } from '../answer.ts';
import { askEachOnce } from '../ask-each-once.ts';
import { ForgeError } from '../port/forge-error.ts';
import { splitRepository } from '../port/names.ts';
import type { WriteAccess } from '../port/pull-request.ts';
import { type YesNo, yesNo } from '../port/yes-no.ts';
import { type GiteaClient, path } from './client.ts';
import { repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

/** What lets a team push. */
const WRITING: readonly (string | undefined)[] = ['write', 'admin', 'owner'];
const ADMINISTERING: readonly string[] = ['admin', 'owner'];
const METHOD_NOT_ALLOWED = 405;

/**
 * Who may push. The permission of others is shown to administrators only. Who can be assigned is shown to everybody:
 * those who may write, and in an organisation the members of teams that may only read pull requests too. So somebody
 * counts who is in no such team, or in one that may write as well. Unknown where a team's members are not shown.
 */
export function writeAccess(client: GiteaClient, repository: string): WriteAccess {
  const assignable = once(() => assignableTo(client, repository));
  const teams = once(() => teamsOf(client, repository));

  return askEachOnce(async (login) => {
    if (!(await assignable()).has(login)) {
      return 'no';
    }
    const all = await teams();
    const isWeaker = await isInOne(
      all.filter(({ mayPush }) => !mayPush),
      login,
    );
    if (isWeaker === 'no') {
      return 'yes';
    }
    const isWriting = await isInOne(
      all.filter(({ mayPush }) => mayPush),
      login,
    );
    if (isWriting === 'yes') {
      return 'yes';
    }
    return isWeaker === 'yes' && isWriting === 'no' ? isWritingCollaborator(client, repository, login) : 'unknown';
  });
}

/**
 * Names of the repository's teams whose members are hidden from Gatehouse, and need not be. Where every team may push,
 * it does not matter who is in which.
 */
export async function hiddenTeams(client: GiteaClient, repository: string): Promise<readonly string[]> {
  const all = await teamsOf(client, repository);
  const teams = all.every(({ mayPush }) => mayPush) ? [] : all.filter(({ administrates }) => !administrates);
  const seen = await Promise.all(teams.map(async ({ name, has }) => ({ name, answer: await has('') })));
  return seen.flatMap(({ name, answer }) => (answer === 'unknown' ? [name] : []));
}

interface Team {
  readonly name: string;
  readonly mayPush: boolean;
  readonly administrates: boolean;
  /** `login` in lower case. */
  readonly has: (login: string) => Promise<YesNo>;
}

async function isInOne(teams: readonly Team[], login: string): Promise<YesNo> {
  const answers = await Promise.all(teams.map(({ has }) => has(login)));
  return answers.includes('yes') ? 'yes' : answers.includes('unknown') ? 'unknown' : 'no';
}

/** None where the owner is no organisation. */
async function teamsOf(client: GiteaClient, repository: string): Promise<readonly Team[]> {
  const route = `${repositoryPath(repository)}/teams`;
  const isOneOfThem = askEachOnce((login) => isAdministrator(client, repository, login));
  try {
    const teams = requireFound(await client.ask(route, shapes.repositoryTeams), `GET ${route}`);
    return teams.map((team) => {
      const members = once(() => membersOf(client, team));
      const administrates = ADMINISTERING.includes(team.permission);
      return {
        name: team.name,
        mayPush: mayPush(team),
        administrates,
        async has(login) {
          const shown = await members();
          // Nobody should make Gatehouse an owner, only to show it who is one.
          return shown === undefined && administrates ? isOneOfThem(login) : isAmong(shown, login);
        },
      };
    });
  } catch (error) {
    if (error instanceof ForgeError && error.status === METHOD_NOT_ALLOWED) {
      return [];
    }
    throw error;
  }
}

/** Teams of old versions have one permission for all that there is. */
function mayPush({ permission, units_map }: z.output<typeof shapes.repositoryTeams>[number]): boolean {
  return WRITING.includes(units_map ? units_map['repo.code'] : permission);
}

/**
 * Whether somebody is in a team that administrates. An owner may push everywhere. That somebody is an administrator is
 * shown to everybody, but not of which team.
 */
async function isAdministrator(client: GiteaClient, repository: string, login: string): Promise<YesNo> {
  const { owner } = splitRepository(repository);
  const standing = await client.ask(path('users', login, 'orgs', owner, 'permissions'), shapes.standing);
  if (standing === undefined || (standing.is_admin && !standing.is_owner)) {
    return 'unknown';
  }
  return standing.is_owner ? 'yes' : 'no';
}

/** A collaborator may write, or only read. Which of them is shown to administrators: others get 403, so it is unknown. */
async function isWritingCollaborator(client: GiteaClient, repository: string, login: string): Promise<YesNo> {
  const route = `${repositoryPath(repository)}/collaborators${path(login)}`;
  if ((await client.ask(route, z.unknown())) === undefined) {
    return 'no';
  }
  const answer = requireFound(await client.ask(`${route}/permission`, shapes.permission), `GET ${route}/permission`);
  return yesNo(WRITING.includes(answer.permission));
}

/**
 * Undefined for a team whose members are not shown: those of others' teams, and without the scope `read:organization`.
 */
async function membersOf(client: GiteaClient, { id }: { readonly id: string }) {
  try {
    const members = await client.askAll(path('teams', id, 'members'), shapes.users);
    return members && loginsOf(members);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'refused') {
      return undefined;
    }
    throw error;
  }
}

async function assignableTo(client: GiteaClient, repository: string): Promise<ReadonlySet<string>> {
  const route = `${repositoryPath(repository)}/assignees`;
  return loginsOf(requireFound(await client.ask(route, shapes.users), `GET ${route}`));
}

function isAmong(logins: ReadonlySet<string> | undefined, login: string): YesNo {
  return logins === undefined ? 'unknown' : logins.has(login) ? 'yes' : 'no';
}

function loginsOf(users: readonly { readonly login: string }[]): ReadonlySet<string> {
  return new Set(users.map(({ login }) => login.toLowerCase()));
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let reading: Promise<T> | undefined;
  return () => {
    reading ??= read();
    return reading;
  };
}
