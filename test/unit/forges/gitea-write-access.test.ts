import test from 'ava';
import type { GiteaClient } from '../../../src/forges/gitea/client.ts';
import { writeAccess } from '../../../src/forges/gitea/write-access.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';

interface Team {
  readonly permission: string;
  readonly code?: string;
  /** Undefined: not shown. */
  readonly members?: readonly string[];
}

const users = (logins: readonly string[]) => logins.map((login) => ({ login }));

/** Answers of Gitea 1.26.0, of an organisation with these teams; of a person without. */
function clientOf(assignable: readonly string[], teams?: Readonly<Record<string, Team>>): GiteaClient {
  const answer = (path: string): unknown => {
    if (path.endsWith('/assignees')) {
      return users(assignable);
    }
    if (teams === undefined) {
      throw new ForgeError('invalid', 'repo is not owned by an organization', { status: 405 });
    }
    return Object.entries(teams).map(([id, { permission, code }]) => ({
      id: Number(id),
      name: `team-${id}`,
      permission,
      units_map: code === undefined ? null : { 'repo.code': code, 'repo.pulls': 'read' },
    }));
  };
  const client: Partial<GiteaClient> = {
    ask: async (path, shape) => shape.parse(answer(path)),
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

const WRITERS = { permission: 'none', code: 'write', members: ['bob'] };
const READERS = { permission: 'none', code: 'read', members: ['mallory'] };
const ALL = ['alice', 'bob', 'carol', 'mallory'];

for (const [what, login, teams, expected] of [
  ['of a person, who can be assigned', 'bob', undefined, 'yes'],
  ['of a person, who cannot be assigned', 'dave', undefined, 'no'],
  ['in a team that may write', 'bob', { 1: WRITERS, 2: READERS }, 'yes'],
  ['in an old team that may write', 'bob', { 1: { permission: 'write', members: ['bob'] }, 2: READERS }, 'yes'],
  ['in no team, so a collaborator', 'carol', { 1: WRITERS, 2: READERS }, 'yes'],
  ['in a team that only reads pull requests', 'mallory', { 1: WRITERS, 2: READERS }, 'no'],
  ['in a team of each kind', 'bob', { 1: WRITERS, 2: { ...READERS, members: ['bob'] } }, 'yes'],
  [
    'where a team that only reads is not shown',
    'carol',
    { 1: WRITERS, 2: { permission: 'none', code: 'read' } },
    'unknown',
  ],
  ['in a team that may write, where another is not shown', 'bob', { 1: WRITERS, 2: { permission: 'read' } }, 'yes'],
  ['where only teams that may write are not shown', 'carol', { 1: { permission: 'admin' } }, 'yes'],
] as const) {
  test(`who may write: ${what}`, async (t) => {
    t.is(await writeAccess(clientOf(ALL, teams), 'octo/site')(login), expected);
  });
}
