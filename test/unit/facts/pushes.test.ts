import { broughtBy, type Push, pushersOf } from '../../../src/facts/authors/pushes.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';
import { randomOf, SEED } from '../../simulated-forge/api/seed.ts';

type Commits = Parameters<typeof broughtBy>[0];

/** Each commit follows the one before it; a list of parents says otherwise. */
function history(...commits: readonly (string | readonly [sha: string, ...parents: string[]])[]): Commits {
  return commits.map((commit, index) => {
    const before = commits[index - 1];
    const parent = typeof before === 'string' ? before : (before?.[0] ?? 'base');
    const [sha, ...parents] = typeof commit === 'string' ? [commit, parent] : commit;
    return { sha, parents };
  });
}

const push = (sha: string, by: string, from: string | null = null): Push => ({ sha, by, from });
const named = (commits: Commits, ...pushes: readonly Push[]) =>
  Object.fromEntries(
    [...pushersOf(broughtBy(commits, pushes))].map(([sha, logins]) => [sha, [...logins].sort().join()]),
  );

test('each push brought what no earlier one had brought, in whatever order they come', (t) => {
  const commits = history('a', 'b', 'c', 'd');
  const pushes = [push('b', 'alice'), push('d', 'bob', 'b')];
  t.deepEqual(named(commits, ...pushes), { a: 'alice', b: 'alice', c: 'bob', d: 'bob' });
  t.deepEqual(named(commits, ...pushes.toReversed()), { a: 'alice', b: 'alice', c: 'bob', d: 'bob' });
});

test('a push that was not seen is of nobody, and ends what the next one brought', (t) => {
  const commits = history('a', 'b', 'c');
  t.deepEqual(named(commits, push('c', 'bob', 'b')), { c: 'bob' });
  t.deepEqual(named(commits, push('c', 'bob'), push('b', '')), { c: 'bob' });
  t.deepEqual(named(commits, push('c', 'bob')), { a: 'bob', b: 'bob', c: 'bob' });
  t.deepEqual(named(commits), {});
});

test('a commit that several have pushed is of all of them', (t) => {
  t.deepEqual(named(history('a'), push('a', 'alice'), push('a', 'bob', 'gone'), push('a', '')), { a: 'alice,bob' });
});

test('three hundred pushes of ids of SHA-256', (t) => {
  const shas = Array.from({ length: 300 }, (_, index) => index.toString(16).padStart(64, '0'));
  const pushes = shas.map((sha, index) => push(sha, index % 2 === 0 ? 'alice' : 'bob', shas[index - 1] ?? null));
  const pushers = named(history(...shas), ...pushes);
  t.deepEqual(
    Object.values(pushers),
    pushes.map(({ by }) => by),
  );
});

/** By the definition, without care for time. */
function byDefinition(commits: Commits, pushes: readonly Push[]): readonly (readonly string[])[] {
  const reach = (sha: string): ReadonlySet<string> => {
    const commit = commits.find((one) => one.sha === sha);
    return new Set(commit === undefined ? [] : [sha, ...commit.parents.flatMap((parent) => [...reach(parent)])]);
  };
  const tips = pushes.flatMap(({ sha, from }) => [sha, from ?? '']);
  return pushes.map(({ sha, from }) => {
    const others = tips.filter((other) => other !== sha && reach(sha).has(other));
    const before = new Set((from === null ? others : [from]).flatMap((one) => [...reach(one)]));
    return [...reach(sha)].filter((one) => !before.has(one)).sort();
  });
}

test('which push brought what is as defined, in any history', (t) => {
  const random = randomOf(SEED);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let round = 0; round < sized(300, 5_000); round += 1) {
    const commits: Commits = Array.from({ length: 1 + below(9) }, (_, index) => ({
      sha: `c${index}`,
      parents: Array.from({ length: 1 + below(2) }, () => (index === 0 ? 'base' : `c${below(index)}`)),
    }));
    const any = () => `c${below(commits.length + 1)}`;
    const pushes = Array.from({ length: below(5) }, () => push(any(), `u${below(3)}`, below(2) === 0 ? null : any()));
    const brought = broughtBy(commits, pushes);
    const found = pushes.map((one) => [...(brought.get(one) ?? [])].sort());
    t.deepEqual(found, byDefinition(commits, pushes), JSON.stringify({ commits, pushes }));
  }
});
