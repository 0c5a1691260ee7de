import { spawnSync } from 'node:child_process';
import { authorsOf } from '../../../src/facts/authors/authors.ts';
import { coAuthorsOf } from '../../../src/facts/authors/co-authors.ts';
import { NO_PEOPLE_SETTINGS } from '../../../src/facts/authors/people-settings.ts';
import { readAccounts } from '../../../src/facts/authors/read-accounts.ts';
import { trailersOf } from '../../../src/facts/authors/trailers.ts';
import type { NamedAddress } from '../../../src/forges/port/accounts.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { Commit } from '../../../src/forges/port/pull-request.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';
import { randomOf, SEED } from '../../simulated-forge/api/seed.ts';
import { requiring } from '../review/judge.ts';

const BOB = 'Co-authored-by: Bob <bob@example.test>';

/** Lines that git treats each in its own way. */
const LINES = [
  ['', '', '', ' ', '\r', 'Change it', 'plain text here', '# a comment', '---', ':', 'a b: c'],
  [BOB, 'CO-AUTHORED-BY : Carol <carol@example.test>', 'Key:', 'Key:\r'],
  ['text: yes', '\tfolded', ' <dan@example.test>'],
  ['Signed-off-by: Alice <alice@example.test>', '(cherry picked from commit abc)', 'Conflicts:', '\tpath'],
  ['# ------------------------ >8 ------------------------'],
].flat();

function* messages(count: number): Generator<string> {
  const random = randomOf(SEED);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let index = 0; index < count; index += 1) {
    const lines = Array.from({ length: 1 + below(12) }, () => LINES[below(LINES.length)] ?? '');
    yield `${lines.join('\n')}${below(2) === 0 ? '' : '\n'}`;
  }
}

test('trailers are read as git reads them', (t) => {
  for (const input of messages(sized(60, 3_000))) {
    const { stdout } = spawnSync('git', ['interpret-trailers', '--parse', '--no-divider'], { input, encoding: 'utf8' });
    const gits = stdout.split('\n').filter((line) => line !== '');
    const ours = trailersOf(input).trailers.map(({ key, value }) => `${key}: ${value}`);
    t.deepEqual(
      ours.map((line) => line.trimEnd()),
      gits.map((line) => line.trimEnd()),
      JSON.stringify(input),
    );
  }
});

/** Who made these commits, as the forge tells whose addresses are. */
const made = (commits: readonly Commit[], accounts: Readonly<Record<string, string | null>> = {}) => ({
  commits,
  complete: true,
  accounts: new Map(Object.entries(accounts)),
});

function commit(message: string, more: Partial<Commit> = {}): Commit {
  const alice = { name: 'Alice', email: 'alice@example.test', login: 'alice', bot: 'no' } as const;
  const unsigned = { verified: 'unknown', signer: undefined } as const;
  return { sha: 'a'.repeat(40), message, author: alice, committer: alice, parents: [], ...unsigned, ...more };
}

/** Texts of the co-authors whom a message names, with other trailers that name some. */
function named(message: string, trailers: readonly string[] = []): readonly string[] {
  return coAuthorsOf([commit(message)], trailers).coAuthors.map(({ text }) => text);
}

test('co-authors are named in the last paragraph, in any case, also folded', (t) => {
  t.deepEqual(named(`Change it\n\n${BOB}\n`), ['bob@example.test']);
  t.deepEqual(named('Change it\n\ncO-aUTHORED-BY : bob\n  <BOB@example.test>\r\n'), ['bob@example.test']);
  t.deepEqual(named(`Change it\n\n${BOB}\n\nAnd more.\n`), []);
  t.deepEqual(named(BOB), []);
  t.deepEqual(named(`Change it\n\nBecause.\n${BOB}`), []);
  t.deepEqual(named(`Change it\n\nBecause.\n${BOB}\nSigned-off-by: a <a@b>`), ['bob@example.test']);
  t.deepEqual(named('Change it\n\nCo-authored-by: a <a@x.test>, b <b@x.test>'), ['a@x.test', 'b@x.test']);
  t.deepEqual(named('Change it\n\nCo-authored-by: Bob\nCo-authored-by: bob@x.test'), ['Bob', 'bob@x.test']);
  t.deepEqual(named(`Change it\n\n* one\n\n${BOB}\n\n* two\n\n---------\n\n${BOB}`), ['bob@example.test']);
  t.is(named(`Change it\n\n${lines(15)}\n${BOB}`).at(-1), 'bob@example.test');
  t.deepEqual(named('Change it\n\nSigned-off-by: a <a@b>\nCo-authored-by: Bob\n# a comment\n <bob@x.test>'), ['Bob']);
});

test('a policy names other trailers of co-authors', (t) => {
  const message = 'Change it\n\nAssisted-by: A machine\nOn-behalf-of: @bob <bob@example.test>\nReviewed-by: c <c@x>';
  t.deepEqual(named(message), []);
  t.deepEqual(named(message, ['assisted-by', 'On-Behalf-Of']), ['A machine', 'bob@example.test']);
});

test('addresses that hide others name their login, and the account they belong to', (t) => {
  const of = (address: string, accounts: Record<string, string | null> = {}) => {
    const message = `Change it\n\nCo-authored-by: x <${address}>`;
    const { people, unknown, complete } = authorsOf(made([commit(message)], accounts), NO_PEOPLE_SETTINGS);
    const logins = people.flatMap(({ as, login }) => (as === 'co-author' && login !== null ? [login] : []));
    return { logins, unknown: unknown.length, complete };
  };
  const github = '12+Bob@users.noreply.github.com';
  t.deepEqual(of(github), { logins: ['bob'], unknown: 0, complete: false });
  t.deepEqual(of(github, { [github.toLowerCase()]: 'Bob' }), { logins: ['bob'], unknown: 0, complete: true });
  // He was renamed since, and somebody else may have his name.
  t.deepEqual(of(github, { [github.toLowerCase()]: 'Bobby' }), {
    logins: ['bobby', 'bob'],
    unknown: 0,
    complete: true,
  });
  t.deepEqual(of(github, { [github.toLowerCase()]: null }), { logins: ['bob'], unknown: 1, complete: true });
  t.deepEqual(of('bob@noreply.gitea.test', { 'bob@noreply.gitea.test': 'bob' }).logins, ['bob']);
  t.deepEqual(of('bob@x.test'), { logins: [], unknown: 0, complete: false });
  t.deepEqual(of('bob@x.test', { 'bob@x.test': null }), { logins: [], unknown: 1, complete: true });
});

test('an address of the author or committer of a commit is known', (t) => {
  const other = { name: 'Bob', email: 'B@home.test', login: 'bob', bot: 'no' } as const;
  const commits = [commit('x', { author: other }), commit('Change it\n\nCo-authored-by: B <b@HOME.test>')];
  const { byLogin, unknown, complete } = authorsOf(made(commits), NO_PEOPLE_SETTINGS);
  t.deepEqual([...byLogin.keys()].sort(), ['alice', 'bob']);
  t.deepEqual([unknown.length, complete], [0, true]);
});

const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => `Co-authored-by: ${index} <${index}@x.test>`).join('\n');

test('a co-author whom only an update of the branch tells is known', (t) => {
  const bob = { name: 'Bob', email: 'bob@example.test', login: 'bob', bot: 'no' } as const;
  const update = commit('Merge branch main', { sha: 'b'.repeat(40), author: bob, parents: ['1', '2'] });
  const commits = [commit(`Change it\n\n${BOB}`), update];
  const { byLogin, complete } = authorsOf(made(commits), NO_PEOPLE_SETTINGS, new Set([update.sha]));
  t.deepEqual([...byLogin.keys()].sort(), ['alice', 'bob']);
  t.true(complete);
});

test('an address of no account never passes for the login of a machine or a team', (t) => {
  const people = { ...NO_PEOPLE_SETTINGS, machineAccounts: ['ci-*', '*-bot', 'helper', '*@agents.test'] };
  const machine = (email: string) => {
    const author = { name: 'x', email, login: null, bot: 'unknown' } as const;
    const commits = [commit('Change it', { author, committer: null })];
    return authorsOf(made(commits), people).people.map((person) => person.machine);
  };
  t.deepEqual(['ci-mallory@evil.test', 'x-bot', 'helper'].flatMap(machine), [false, false, false]);
  t.deepEqual(machine('coder@agents.test'), [true]);
  const helped = authorsOf(made([commit('Change it\n\nCo-authored-by: Helper')]), people).people;
  const machines = helped.map(({ login, machine: is }) => `${login} ${is}`);
  t.deepEqual(machines, ['alice false', 'alice false', 'null true']);
});

test('more co-authors than are read leave it undecided, and never fewer', (t) => {
  const incomplete = (message: string) => t.false(coAuthorsOf([commit(message)], []).complete, message.slice(0, 50));
  incomplete(`Change it\n\n${lines(10_000)}`);
  incomplete(`Change it\n\n${lines(1_500)}`);
  incomplete(`Change it\n\n${BOB}\nCo-authored-by: ${'x'.repeat(1_000_000)} <x@x.test>`);
  incomplete(`Change it\n\n${BOB}\n${' folded\n'.repeat(5_000)}`);
  t.true(coAuthorsOf([commit(`Change it\n\n${lines(900)}`)], []).complete);
  t.deepEqual(named(`${'A long story.\n\n'.repeat(10_000)}${BOB}`), ['bob@example.test']);
  const many = Array.from({ length: 3 }, (_, index) =>
    commit(`x\n\n${lines(900).replaceAll('@', `@${index}.`)}`, { sha: `${index}`.repeat(40) }),
  );
  t.false(coAuthorsOf(many, []).complete);
  const given = { commits: [{ message: `x\n\n${lines(10_000)}` }], reviews: [{ author: 'bob' }] };
  t.is(requiring('{ approvals: 1 }', given).outcome, 'undecided');
});

test('the forge is asked for some addresses only, and for none that it gave', async (t) => {
  const asked: NamedAddress[] = [];
  const forge = {
    accounts: async (_repository: string, addresses: readonly NamedAddress[]) => {
      asked.push(...addresses);
      return new Map(addresses.map(({ address }) => [address, null]));
    },
  } satisfies Partial<Forge>;
  const read = (message: string, given?: ReadonlyMap<string, string | null>) =>
    readAccounts(forge as Partial<Forge> as Forge, 'o/r', [commit(message)], [], given);
  t.deepEqual([...(await read(`x\n\n${BOB}`, new Map([['bob@example.test', 'bob']])))], [['bob@example.test', 'bob']]);
  t.is((await read('x\n\nCo-authored-by: Alice <ALICE@example.test>')).size, 0);
  t.is((await read('x')).size, 0);
  t.is(asked.length, 0);
  const known = await read(`x\n\n${lines(100)}`);
  t.is(asked.length, 20);
  const hundred = made([commit(`x\n\n${lines(100)}`)], Object.fromEntries(known));
  t.false(authorsOf(hundred, NO_PEOPLE_SETTINGS).complete);
});
