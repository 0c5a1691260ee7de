import type { GiteaClient } from '../../../src/forges/gitea/client.ts';
import { hiddenTeams, writeAccess } from '../../../src/forges/gitea/write-access.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import test from '../../helpers/test.ts';

interface Team {
  readonly permission: string;
  /** Absent: an old version does not say. */
  readonly units?: Readonly<Record<string, string>>;
  /** Undefined: not shown. */
  readonly members?: readonly string[];
}

const users = (logins: readonly string[]) => logins.map((login) => ({ login }));

const ALL = ['alice', 'bob', 'carol', 'mallory'];
/** They are all in a team that may only read pull requests. */
const COLLABORATOR = 'dora';
const WRITING_COLLABORATOR = 'walt';
const OWNER = 'olga';
const ADMINISTRATOR = 'adam';

/** Answers of Gitea 1.26.0, of an organisation with these teams; of a person without. */
function clientOf(teams?: Readonly<Record<string, Team>>, administrates = false): GiteaClient {
  const answer = (path: string): unknown => {
    if (path.endsWith('/assignees')) {
      return users([...ALL, COLLABORATOR, WRITING_COLLABORATOR, OWNER, ADMINISTRATOR]);
    }
    if (path.endsWith('/permission')) {
      if (!administrates) {
        throw new ForgeError('refused', 'Only admins can query all permissions', { status: 403 });
      }
      return { permission: path.includes(`/${WRITING_COLLABORATOR}/`) ? 'write' : 'read' };
    }
    if (path.includes('/collaborators/')) {
      return [COLLABORATOR, WRITING_COLLABORATOR].some((login) => path.endsWith(`/${login}`)) ? null : undefined;
    }
    if (path.endsWith('/permissions')) {
      const [, , login = ''] = path.split('/');
      return { is_owner: login === OWNER, is_admin: [OWNER, ADMINISTRATOR].includes(login) };
    }
    if (teams === undefined) {
      throw new ForgeError('invalid', 'repo is not owned by an organization', { status: 405 });
    }
    return Object.entries(teams).map(([id, { permission, units }]) => ({
      id: Number(id),
      name: `team-${id}`,
      permission,
      units_map: units ?? null,
    }));
  };
  const client: Partial<GiteaClient> = {
    async ask(path, shape) {
      const body = answer(path);
      return body === undefined ? undefined : shape.parse(body);
    },
    async askAll(path, shape) {
      const members = teams?.[path.split('/')[2] ?? '']?.members;
      if (members === undefined) {
        throw new ForgeError('refused', 'Must be a team member', { status: 403 });
      }
      return shape.parse(users(members));
    },
  };
  return client as GiteaClient;
}

const WRITERS = { permission: 'none', units: { 'repo.code': 'write', 'repo.pulls': 'read' }, members: ['bob'] };
const READING = { permission: 'none', units: { 'repo.code': 'read', 'repo.pulls': 'read' } };
const READERS = { ...READING, members: ['mallory', COLLABORATOR, WRITING_COLLABORATOR, OWNER, ADMINISTRATOR] };
const TRIAGERS = { permission: 'write', units: { 'repo.issues': 'write', 'repo.pulls': 'write' }, members: ['bob'] };
const HIDDEN_OWNERS = { permission: 'owner', units: { 'repo.code': 'owner' } };

for (const [what, login, teams, expected] of [
  ['of a person, who can be assigned', 'bob', undefined, 'yes'],
  ['of a person, who cannot be assigned', 'dave', undefined, 'no'],
  ['in a team that may write', 'bob', { 1: WRITERS, 2: READERS }, 'yes'],
  ['in an old team that may write', 'bob', { 1: { permission: 'write', members: ['bob'] }, 2: READERS }, 'yes'],
  ['in no team, so a collaborator', 'carol', { 1: WRITERS, 2: READERS }, 'yes'],
  ['in a team that only reads pull requests', 'mallory', { 1: WRITERS, 2: READERS }, 'no'],
  ['in a team of each kind', 'bob', { 1: WRITERS, 2: { ...READERS, members: ['bob'] } }, 'yes'],
  ['where a team that only reads is not shown', 'carol', { 1: WRITERS, 2: READING }, 'unknown'],
  ['in a team that may write anything but code', 'bob', { 1: TRIAGERS }, 'no'],
  ['in a team that only reads, and a collaborator', COLLABORATOR, { 1: WRITERS, 2: READERS }, 'unknown'],
  ['in a team that only reads, where the owners are not shown', 'mallory', { 1: HIDDEN_OWNERS, 2: READERS }, 'no'],
  ['in a team that only reads, and an owner', OWNER, { 1: HIDDEN_OWNERS, 2: READERS }, 'yes'],
  [
    'in a team that only reads, and an administrator of one',
    ADMINISTRATOR,
    { 1: HIDDEN_OWNERS, 2: READERS },
    'unknown',
  ],
  ['in a team that may write, where another is not shown', 'bob', { 1: WRITERS, 2: { permission: 'read' } }, 'yes'],
  ['where only teams that may write are not shown', 'carol', { 1: { permission: 'admin' } }, 'yes'],
] as const) {
  test(`who may write: ${what}`, async (t) => {
    t.is(await writeAccess(clientOf(teams), 'octo/site')(login), expected);
  });
}

test('who may write: a collaborator in a team that only reads, as administrators are shown', async (t) => {
  const access = writeAccess(clientOf({ 1: WRITERS, 2: READERS }, true), 'octo/site');
  t.is(await access(WRITING_COLLABORATOR), 'yes');
  t.is(await access(COLLABORATOR), 'no');
});

test('teams are hidden that decide who may write, and no others', async (t) => {
  const hidden = (teams: Readonly<Record<string, Team>>) => hiddenTeams(clientOf(teams), 'octo/site');
  const { members: _, ...writers } = WRITERS;
  t.deepEqual(await hidden({ 1: HIDDEN_OWNERS, 2: writers }), [], 'every team may push');
  t.deepEqual(await hidden({ 1: HIDDEN_OWNERS, 2: writers, 3: READERS }), ['team-2']);
  t.deepEqual(await hidden({ 1: WRITERS, 2: READING }), ['team-2']);
});
