import test from '../../helpers/test.ts';
import { type JudgedSite, judgedSite } from './judging.ts';
import { FORGES } from './setup.ts';

/** Whose word counts is a matter of what they may do now, and of nobody else: as each forge tells it, to all or a few. */
const APPROVED = 'id: reviewed, require: { approvals: 1 }';
const AGREED = 'id: calm, forbid: { changes_requested: true }';
const files = (...rules: readonly string[]) => ({
  '.gatehouse.yml': `version: 1\nrules:\n${rules.map((rule) => `  - { ${rule} }\n`).join('')}`,
});
const ONE_FILE = { 'a.txt': 'a\n' };

type State = Parameters<JudgedSite['forge']['review']>[3];

const stateOf = async (site: JudgedSite, number: number) => (await site.judge(number)).state;

for (const name of FORGES) {
  test(`${name}: an approval ends with its author’s write access`, async (t) => {
    const site = await judgedSite(t, name, files(APPROVED));
    const number = await site.open(ONE_FILE);
    await site.review(number, 'bob', 'approved');
    t.is(await stateOf(site, number), 'success');
    site.forge.addOutsider('bob');
    const { state, said } = await site.judge(number);
    t.is(state, 'pending');
    t.regex(said, /not counted: `bob`, without write access/);

    site.forge.addOutsider('nora');
    await site.review(number, 'nora', 'approved');
    t.is(await stateOf(site, number), 'pending');
    site.forge.removeOutsider('nora');
    const after = await site.judge(number);
    t.is(after.state, name === 'github' ? 'success' : 'pending');
    if (name !== 'github') {
      t.regex(after.said, /`nora`, given before its author could write to the repository, .*: approve again/);
      await site.review(number, 'nora', 'approved');
      t.is(await stateOf(site, number), 'success');
    }
  });

  test(`${name}: a request for changes counts once its author may write, and no longer`, async (t) => {
    const site = await judgedSite(t, name, files(AGREED));
    const number = await site.open(ONE_FILE);
    site.forge.addOutsider('noel');
    await site.review(number, 'noel', 'changes-requested');
    t.is(await stateOf(site, number), 'success');
    site.forge.removeOutsider('noel');
    t.is(await stateOf(site, number), 'pending');
    site.forge.addOutsider('noel');
    t.is(await stateOf(site, number), 'success');
  });
}

const SCOPES = ['write:repository', 'write:issue', 'read:user'];

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: no word counts while members of a team that only reads are hidden`, async (t) => {
    const site = await judgedSite(t, name, files(APPROVED, AGREED), { token: 'narrow' });
    const { forge, repository } = site;
    forge.addToken('narrow', 'gatehouse', SCOPES);
    forge.createTeam('acme/readers', ['rita']);
    forge.grantTeam(repository, 'acme/readers', 'read');
    forge.addOutsider('rita');
    const number = await site.open(ONE_FILE);
    await site.review(number, 'bob', 'approved');
    await site.review(number, 'rita', 'changes-requested');
    const { state, said, description } = await site.judge(number);
    t.is(state, 'pending');
    t.regex(description, /whether bob can write: give the scope read:organization/);
    for (const login of ['bob', 'rita']) {
      const unread = new RegExp(
        `whether \`${login}\` can write .* could not be read: give the scope read:organization`,
      );
      t.regex(said, unread);
    }
    // As the comment asks for: the scope, and a place in the team.
    forge.addToken('narrow', 'gatehouse', [...SCOPES, 'read:organization']);
    forge.createTeam('acme/readers', ['rita', 'gatehouse']);
    t.is(await stateOf(site, number), 'success');
  });

  test(`${name}: an approval that was asked for again does not count for an amount`, async (t) => {
    const site = await judgedSite(t, name, files('id: it, require: { approvals: { count: 1, all_of: [bob] } }'));
    const number = await site.open(ONE_FILE);
    await site.review(number, 'bob', 'approved');
    t.is(await stateOf(site, number), 'success');
    await site.requestReview(number, 'bob');
    t.is(await stateOf(site, number), 'pending');
    await site.review(number, 'carol', 'approved');
    t.is(await stateOf(site, number), 'success', 'bob for himself, and carol for the amount');
  });
}

/** Reviews by people who may not write: `first` tells the names apart. */
function strangersSay({ forge, repository }: JudgedSite, number: number, state: State, many: number, first = 0): void {
  for (let index = first; index < first + many; index++) {
    forge.addOutsider(`stranger-${index}`);
    forge.review(repository, number, `stranger-${index}`, state);
  }
}

/** Logins that REST was asked about, one by one, in lower case. */
const asked = ({ forge }: JudgedSite): readonly string[] =>
  forge.seen.flatMap(({ path }) => /\/collaborators\/([^/]+)\/permission/.exec(path)?.[1]?.toLowerCase() ?? []);

test('github: of 300 reviewers the last two are heard, and no App hides them', async (t) => {
  const site = await judgedSite(t, 'github', files(APPROVED, AGREED));
  const number = await site.open(ONE_FILE);
  await site.review(number, 'helper[bot]', 'approved');
  strangersSay(site, number, 'changes-requested', 149);
  strangersSay(site, number, 'approved', 149, 149);
  t.is(await stateOf(site, number), 'pending');
  const { id } = site.forge.review(site.repository, number, 'wanda', 'changes-requested');
  site.forge.review(site.repository, number, 'xenia', 'approved');
  t.is((await site.judge(number)).description, 'Waiting for another review by wanda');
  site.forge.dismiss(site.repository, number, id);
  t.is(await stateOf(site, number), 'success');
  t.deepEqual(asked(site), [], 'GraphQL has told it');
});

test('github: whoever has no account any more may not write', async (t) => {
  const site = await judgedSite(t, 'github', files(APPROVED, AGREED));
  const number = await site.open(ONE_FILE);
  await site.review(number, 'ghost', 'approved');
  t.is(await stateOf(site, number), 'pending');
  await site.review(number, 'wanda', 'approved');
  await site.review(number, 'ghost', 'changes-requested');
  t.is(await stateOf(site, number), 'success');
});

const REVIEWS = /^\/graphql\/repos\/.*\/pulls\/\d+\/comments$/;
const FIELD = '"authorCanPushToRepository"';

const GRAPHQL_LESS: Readonly<Record<string, (site: JudgedSite) => void>> = {
  'lacks the field': ({ forge }) => forge.graphql.missing.push('authorCanPushToRepository'),
  'is down': ({ forge }) => forge.fault({ path: /^\/graphql/, fault: { kind: 'status', status: 502 } }),
  'fails at page two': ({ forge }) => {
    const fail = () => forge.fault({ path: REVIEWS, fault: { kind: 'status', status: 502 } });
    forge.watch({ path: REVIEWS, act: () => forge.watch({ path: REVIEWS, act: fail }) });
  },
  'gives no cursor': ({ forge }) =>
    forge.fault({ path: REVIEWS, fault: { kind: 'replace', text: '"endCursor":"100"', by: '"endCursor":null' } }),
};

for (const [what, weaken] of Object.entries(GRAPHQL_LESS)) {
  test(`github: 150 strangers object, and a writer, while GraphQL ${what}`, async (t) => {
    const site = await judgedSite(t, 'github', files(AGREED));
    weaken(site);
    const number = await site.open(ONE_FILE);
    strangersSay(site, number, 'changes-requested', 150);
    await site.review(number, 'wanda', 'changes-requested');
    t.is(await stateOf(site, number), 'pending', 'unknown is no success');
    t.is(new Set(asked(site)).size, 100);
  });
}

for (const [answer, by] of [
  ['null', `${FIELD}:null`],
  ['absent', '"other":1'],
] as const) {
  test(`github: a permission that is ${answer} is unknown, and asked for by REST`, async (t) => {
    const site = await judgedSite(t, 'github', files(APPROVED));
    const number = await site.open(ONE_FILE);
    await site.review(number, 'wanda', 'approved');
    site.forge.fault({ path: /^\/graphql.*\/facts$/, fault: { kind: 'replace', text: `${FIELD}:true`, by } });
    t.is(await stateOf(site, number), 'success');
    t.deepEqual(asked(site), ['wanda']);
    const reads = site.forge.seen.filter(({ path }) => path.endsWith(`/pulls/${number}/reviews`));
    t.deepEqual(reads, [], 'the rest of the answer is used');
    site.forge.fault({ path: /\/collaborators\//, fault: { kind: 'status', status: 403 } });
    t.is(await stateOf(site, number), 'pending');
  });
}

test('github: an objection is not forgotten where the permission cannot be read', async (t) => {
  for (const fault of [
    { kind: 'status', status: 403 },
    { kind: 'status', status: 404 },
    { kind: 'json', body: { permission: 'push', role_name: 'push' } },
  ] as const) {
    const site = await judgedSite(t, 'github', files(AGREED));
    site.forge.graphql.missing.push('authorCanPushToRepository');
    const number = await site.open(ONE_FILE);
    await site.review(number, 'wanda', 'changes-requested');
    site.forge.fault({ path: /\/collaborators\//, fault });
    t.is(await stateOf(site, number), 'pending', JSON.stringify(fault));
  }
});
