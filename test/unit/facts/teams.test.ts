import type { Reading } from '../../../src/facts/fact.ts';
import { type Facts, factsOf } from '../../../src/facts/table.ts';
import { teams as fact, type MemberRole, membersAmong, readOwnTeams } from '../../../src/facts/teams.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { isMember } from '../../../src/review/predicates/team-members.ts';
import test from '../../helpers/test.ts';

const GROUP = { people: [], teams: ['octo/*'] };

/** Reads the members among those of a role. `asked`: whom the forge was asked about. */
async function read(role: MemberRole, facts: Facts, { complete = true } = {}) {
  const asked: string[] = [];
  const forge: Partial<Forge> = {
    async organisationMembers(_organisation, logins) {
      asked.push(...logins);
      return { members: logins.filter((login) => login === 'bob'), complete };
    },
  };
  const values: ReadonlyMap<string, unknown> = new Map(Object.entries(facts));
  const reading: Reading<Facts['teams']> = {
    forge: forge as Forge,
    pullRequest: facts.pullRequest,
    preloaded: {},
    baseSha: '',
    statusContext: 'gatehouse',
    authorTrailers: ['co-authored-by'],
    writeAccess: async () => 'unknown',
    ownerTeams: async () => [],
    before: facts.teams,
    of: async <Value>({ name }: { readonly name: string; readonly unread: Value }) => values.get(name) as Value,
  };
  return { asked, teams: await fact.read(reading, [`${role}@octo`]) };
}

const PEOPLE: Given = {
  author: 'Ann',
  assignees: ['assignee'],
  requested: ['asked', '@octo/core'],
  reviews: [
    { author: 'stranger', official: false },
    { author: 'talker', state: 'commented' },
    { author: 'Bob' },
    { author: 'critic', state: 'changes-requested' },
  ],
  commits: [
    { message: 'x\n\nCo-authored-by: Eve <eve@x.test>', author: 'dan', committer: null, signed_by: 'signer' },
    { message: 'y', author: null, committer: 'Dan', signed_by: null },
  ],
  accounts: { 'eve@x.test': 'eve' },
  threads: [{ by: 'asker' }, { by: 'ASKER' }],
};
const WHOM: Readonly<Record<MemberRole, readonly string[]>> = {
  author: ['ann'],
  assignees: ['assignee'],
  requested: ['asked'],
  reviewers: ['bob', 'critic', 'stranger'],
  authors: ['dan', 'eve'],
  signers: ['signer'],
  conversations: ['asker'],
};

for (const [role, whom] of Object.entries(WHOM)) {
  test(`members: of ${role}, each is asked about once, and nobody else`, async (t) => {
    t.deepEqual((await read(role as MemberRole, factsOf(PEOPLE))).asked.toSorted(), whom);
  });
}

test('who was not asked about is neither a member nor a stranger', async (t) => {
  const { teams } = await read('reviewers', factsOf(PEOPLE));
  t.deepEqual(
    ['BOB', 'stranger', 'ann', 'talker'].map((login) => isMember(login, GROUP, teams)),
    [true, false, undefined, undefined],
  );
});

test('what is not certain of some is certain of none who are not shown', async (t) => {
  const { teams } = await read('reviewers', factsOf(PEOPLE), { complete: false });
  t.deepEqual(
    ['bob', 'stranger'].map((login) => isMember(login, GROUP, teams)),
    [true, undefined],
  );
});

test('nobody is asked about twice', async (t) => {
  const facts = factsOf(PEOPLE);
  const { teams } = await read('reviewers', facts);
  const more = await read('author', { ...facts, teams });
  t.deepEqual(more.asked, ['ann']);
  t.is(isMember('bob', GROUP, more.teams), true, 'what was known before stays');
  t.deepEqual((await read('reviewers', { ...facts, teams: more.teams })).asked, []);
});

test('teams and organisations of another owner are never asked about', async (t) => {
  const asked = () => Promise.reject(new Error('asked'));
  t.is(await membersAmong({ organisationMembers: asked }, 'octo/example', undefined, 'other', ['ann']), undefined);
  t.is((await readOwnTeams({ teamMembers: asked }, 'octo/example', ['other/core', 'octo-x/core'])).size, 0);
});

test('strangers who approve never crowd out those who may write', async (t) => {
  const strangers = Array.from({ length: 200 }, (_, index) => ({ author: `stranger-${index}`, official: false }));
  const { asked, teams } = await read('reviewers', factsOf({ reviews: [...strangers, { author: 'bob' }] }));
  t.is(asked.length, 50);
  t.is(isMember('bob', GROUP, teams), true);
  t.is(isMember('stranger-199', GROUP, teams), undefined);
});
