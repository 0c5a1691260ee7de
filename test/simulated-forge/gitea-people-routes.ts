import { NOT_FOUND, page, withRepository } from './gitea-read-routes.ts';
import * as shapes from './gitea-shapes.ts';
import type { Answer, Routes } from './routes.ts';
import { isCollaborator, type Member, mayPush, type Repository, type TeamAccess, type World } from './world.ts';

const YES: Answer = { status: 204, text: '' };

export const UNITS: Readonly<Record<TeamAccess, Readonly<Record<string, string>>>> = {
  owner: { 'repo.code': 'owner', 'repo.issues': 'owner', 'repo.pulls': 'owner' },
  write: { 'repo.code': 'write', 'repo.pulls': 'write' },
  triage: { 'repo.issues': 'write', 'repo.pulls': 'write' },
  read: { 'repo.code': 'read', 'repo.pulls': 'read' },
};

export function giteaPeopleRoutes(world: World, name: 'gitea' | 'forgejo'): Routes {
  const repos = '/repos/:owner/:repo';
  return {
    // Who may write, of those who have written here; and whoever is in a team that may do more than read code.
    [`GET ${repos}/assignees`]: withRepository(world, (repository) => {
      const commenters = [...repository.pulls.values()].flatMap(({ comments, reviews, inlineComments }) => [
        ...[...comments, ...reviews].map(({ author }) => author),
        ...inlineComments.flatMap(({ resolvedBy }) => resolvedBy ?? []),
      ]);
      const [owner = ''] = repository.fullName.split('/');
      const writers = [owner, ...commenters].filter((login) => mayPush(world, repository.fullName, login));
      const members = [...repository.teams.keys()].flatMap((team) => world.teams.get(team) ?? []);
      return { status: 200, body: [...new Set([...writers, ...members])].map(shapes.user) };
    }),

    [`GET ${repos}/collaborators/:login`]: withRepository(world, ({ fullName }, { parameters: { login = '' } }) =>
      isCollaborator(world, fullName, login) ? YES : NOT_FOUND,
    ),

    [`GET ${repos}/collaborators/:login/permission`]: withRepository(world, ({ fullName }, { parameters, login }) =>
      parameters['login'] === login || world.administrators.has(login)
        ? { status: 200, body: { permission: mayPush(world, fullName, parameters['login'] ?? '') ? 'write' : 'read' } }
        : { status: 403, body: { message: 'Only admins can query all permissions' } },
    ),

    [`GET ${repos}/teams`]: withRepository(world, ({ teams }) =>
      teams.size === 0
        ? { status: 405, body: { message: 'repo is not owned by an organization' } }
        : { status: 200, body: teamsOf(world).flatMap((team) => shownTeam(team, teams.get(team.fullName))) },
    ),

    'GET /orgs/:org/teams/search': (call) => {
      const found = teamsOf(world).filter(
        ({ organisation, name }) =>
          organisation === call.parameters['org'] &&
          name.toLowerCase().includes((call.query.get('q') ?? '').toLowerCase()),
      );
      return { status: 200, body: { ok: true, data: found.map(({ id, name }) => ({ id, name })) } };
    },

    'GET /orgs/:org/members/:username': ({ parameters, login, apiUrl }) => {
      const { org = '', username = '' } = parameters;
      if (isMemberOf(world, org, login)) {
        return isMemberOf(world, org, username) ? { status: 204, text: '' } : NOT_FOUND;
      }
      const location = `${apiUrl}/orgs/${org}/public_members/${username}`;
      return login === username ? NOT_FOUND : { status: name === 'gitea' ? 303 : 302, text: '', headers: { location } };
    },

    'GET /orgs/:org/public_members/:username': ({ parameters: { org = '', username = '' } }) =>
      isMemberOf(world, org, username, ['public']) ? { status: 204, text: '' } : NOT_FOUND,

    // Of teams that no repository names, everybody is shown the members: tests need not put Gatehouse into each.
    'GET /teams/:id/members': (call) => {
      const team = teamsOf(world).find(({ id }) => String(id) === call.parameters['id']);
      if (team === undefined) {
        return NOT_FOUND;
      }
      const isShown =
        [...team.members, ...world.administrators].includes(call.login) ||
        !repositories(world).some(({ teams }) => teams.has(team.fullName));
      const hidden = { status: 403, body: { message: 'Must be a team member' } };
      return isShown
        ? page(call, team.members.map(shapes.user))
        : isMemberOf(world, team.organisation, call.login)
          ? hidden
          : NOT_FOUND;
    },

    'GET /users/:username/orgs/:org/permissions': ({ parameters: { username = '', org } }) => {
      const teams = repositories(world).flatMap((repository) => [...repository.teams]);
      const owns = teamsOf(world).some(
        ({ organisation, fullName, members }) =>
          organisation === org &&
          members.includes(username) &&
          teams.some(([team, as]) => team === fullName && as === 'owner'),
      );
      return { status: 200, body: { is_owner: owns, is_admin: owns } };
    },
  };
}

function repositories(world: World): readonly Repository[] {
  return [...world.repositories.values()];
}

function shownTeam({ id, name }: { readonly id: number; readonly name: string }, access: TeamAccess | undefined) {
  return access === undefined
    ? []
    : [{ id, name, permission: access === 'owner' ? 'owner' : 'none', units_map: UNITS[access] }];
}

function isMemberOf(
  world: World,
  organisation: string,
  login: string,
  as: readonly Member['as'][] = ['public', 'hidden'],
): boolean {
  const members = world.members.get(organisation) ?? [];
  return members.some((member) => member.login.toLowerCase() === login.toLowerCase() && as.includes(member.as));
}

function teamsOf(world: World) {
  return [...world.teams].map(([fullName, members], index) => {
    const [organisation = '', name = ''] = fullName.split('/');
    return { id: index + 1, fullName, organisation, name, members };
  });
}
