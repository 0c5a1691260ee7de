import type { Forge } from '../../../src/forges/port/forge.ts';
import type { Visibility } from '../../../src/forges/port/pull-request.ts';
import type { Baseline } from '../../../src/review/policy/baseline.ts';
import type { Policy } from '../../../src/review/policy/policy.ts';
import { areRules, type RuleSources, rulesDigest, rulesOf } from '../../../src/review/rules-of.ts';
import { IN_PROCESS } from '../../helpers/policies.ts';
import test from '../../helpers/test.ts';
import { policyOf } from './judge.ts';

const REPOSITORY = 'acme/app';
const SHARED = 'acme/shared';

const rules = (...lines: readonly string[]) =>
  `version: 1\nrules:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`;
const TITLED = "id: titled, require: { title: '^feat: ' }";
const OWNED = 'id: owned, require: { approvals: { count: 1, from: [CODEOWNERS] } }';
const ASKED = 'id: asked, forbid: { reviews_requested: true }';
const EXTENDING = `extends: ${SHARED}@main\n${rules(TITLED)}`;
const NO_BASELINE: Baseline = { kind: 'none' };
const OPERATORS = policyOf(rules('id: of-operator, require: { label: ready }'));

const baseline = (digest: string, visibility: Visibility = 'public'): Baseline => ({
  ...{ kind: 'policy', repository: 'acme/.gatehouse', commit: `${digest}-sha`, digest, visibility },
  ...{
    policy: policyOf(rules('id: sealed, require: { label: ready }')),
    file: { path: '.gatehouse.yml', text: digest },
  },
});

/** All that decides by which rules pull requests into `main` are judged. */
interface World {
  /** Of `main`: a commit has the name of its files. */
  readonly own: Readonly<Record<string, string>>;
  readonly shared: string | undefined;
  readonly sharedVisibility: Visibility;
  readonly visibility: Visibility;
  readonly baseline: Baseline;
  readonly operators: Policy | undefined;
  readonly machineAccounts: readonly string[];
}

const PLAIN: World = {
  own: { '.gatehouse.yml': rules(TITLED) },
  shared: rules('id: two, require: { label: ready }'),
  sharedVisibility: 'public',
  visibility: 'public',
  baseline: NO_BASELINE,
  operators: undefined,
  machineAccounts: ['bot'],
};

function contextOf(world: World) {
  const commits = new Map<string, Readonly<Record<string, string>>>();
  const commitOf = (files: Readonly<Record<string, string>>) => {
    const sha = JSON.stringify(files);
    commits.set(sha, files);
    return sha;
  };
  const { own, shared, machineAccounts } = world;
  const commit = commitOf(own);
  const asked: string[] = [];
  const visible: string[] = [];
  const forge: Partial<Forge> = {
    name: 'github',
    machineAccounts,
    branchCommit: async (repository) =>
      repository === SHARED && shared !== undefined ? commitOf({ '.gatehouse.yml': shared }) : undefined,
    tagCommit: async () => undefined,
    tree: async () => undefined,
    repository: async (name) => {
      visible.push(name);
      const visibility = name === SHARED ? world.sharedVisibility : world.visibility;
      return { id: name, ownerId: '1', name, defaultBranch: 'main', visibility, archived: false, topics: [] };
    },
    async fileAt(repository, path, sha) {
      asked.push(`${repository}/${path}`);
      return commits.get(sha)?.[path];
    },
  };
  const context = {
    forge: forge as Forge,
    fallback: world.operators,
    baselineOf: async () => world.baseline,
    workers: IN_PROCESS,
  };
  const place = { repository: REPOSITORY, commit };
  return { context, place, asked, visible, rulesOf: () => rulesOf(context, place) };
}

interface Change {
  readonly what: string;
  readonly world?: Partial<World>;
  readonly change: Partial<World>;
  /** Whether it is known only from the repository's own visibility, which no resync reads. */
  readonly isShown?: true;
}

const owned = (codeOwners: string, rule = OWNED) => ({
  own: { '.gatehouse.yml': rules(rule), ...(codeOwners && { CODEOWNERS: codeOwners }) },
});
const extending = { own: { '.gatehouse.yml': EXTENDING } };
const own = (...lines: readonly string[]) => ({ own: { '.gatehouse.yml': rules(...lines) } });

const CHANGES: readonly Change[] = [
  { what: 'the policy', change: own(TITLED, 'id: more, require: { label: ready }') },
  { what: 'its path', change: { own: { '.github/gatehouse.yml': rules(TITLED) } } },
  { what: 'the policy is gone', change: { own: {} } },
  { what: 'the policy is new', world: { own: {} }, change: own(TITLED) },
  { what: 'CODEOWNERS', world: owned('* @a'), change: owned('* @b') },
  { what: 'CODEOWNERS is new', world: owned(''), change: owned('* @b') },
  {
    what: 'CODEOWNERS, of who may withdraw a request',
    world: owned('* @a', ASKED),
    change: owned('* @b', ASKED),
  },
  { what: 'the extended policy', world: extending, change: { shared: rules(TITLED) } },
  { what: 'the extended policy is gone', world: extending, change: { shared: undefined } },
  { what: 'a broken policy that extends', world: { ...extending, shared: 'rules: 7' }, change: { shared: 'rules: 8' } },
  { what: 'the operator’s policy is new', world: { own: {} }, change: { operators: OPERATORS } },
  { what: 'the operator’s policy is gone', world: { own: {}, operators: OPERATORS }, change: { operators: undefined } },
  { what: 'the baseline is new', change: { baseline: baseline('one') } },
  { what: 'the baseline', world: { baseline: baseline('one') }, change: { baseline: baseline('two') } },
  { what: 'the baseline is gone', world: { baseline: baseline('one') }, change: { baseline: NO_BASELINE } },
  { what: 'machine accounts, of who approved', world: owned(''), change: { machineAccounts: ['bot', 'robot'] } },
  {
    what: 'machine accounts, of who overrides',
    world: { own: { '.gatehouse.yml': rules(TITLED).replace('rules:', 'override: { by: bob }\nrules:') } },
    change: { machineAccounts: [] },
  },
  {
    what: 'more people may read it than the baseline',
    world: { baseline: baseline('one', 'private'), visibility: 'private' },
    change: { visibility: 'public' },
    isShown: true,
  },
  {
    what: 'more people may read it than what it extends',
    world: { ...extending, sharedVisibility: 'private', visibility: 'private' },
    change: { visibility: 'public' },
    isShown: true,
  },
];

for (const { what, world, change, isShown } of CHANGES) {
  test(`a verdict by other rules never counts as one by those of now: ${what}`, async (t) => {
    const before = { ...PLAIN, ...world };
    const { sources } = await contextOf(before).rulesOf();
    const now = contextOf({ ...before, ...change });
    const stored: RuleSources = JSON.parse(JSON.stringify(sources));
    t.not(rulesDigest((await now.rulesOf()).sources), rulesDigest(stored));
    t.is(await areRules(now.context, now.place, stored), isShown === true);
  });
}

const SAME: readonly Change[] = [
  { what: 'nothing', change: {} },
  { what: 'another file of the base branch', change: { own: { ...PLAIN.own, 'a.txt': 'a' } } },
  { what: 'CODEOWNERS that no rule asks for', change: { own: { ...PLAIN.own, CODEOWNERS: '* @a' } } },
  { what: 'an operator’s policy beside its own', change: { operators: OPERATORS } },
  { what: 'machine accounts that no rule asks about', change: { machineAccounts: [] } },
  {
    what: 'the order of machine accounts',
    world: { ...owned(''), machineAccounts: ['a', 'b'] },
    change: { machineAccounts: ['b', 'a'] },
  },
  { what: 'a policy that is not extended', change: { shared: undefined } },
];

for (const { what, world, change } of SAME) {
  test(`no pull request is judged again because of ${what}`, async (t) => {
    const before = { ...PLAIN, ...world };
    const { sources } = await contextOf(before).rulesOf();
    const now = contextOf({ ...before, ...change });
    t.is(rulesDigest((await now.rulesOf()).sources), rulesDigest(sources));
    t.true(await areRules(now.context, now.place, sources));
  });
}

test('at the same commit, none of the repository’s own files is read again', async (t) => {
  const { context, place, asked, rulesOf: now } = contextOf({ ...PLAIN, ...owned('* @a') });
  const { sources, texts } = await now();
  t.deepEqual(
    texts.map(({ path }) => path),
    ['.gatehouse.yml', 'CODEOWNERS'],
  );
  t.deepEqual(
    texts.map(({ digest }) => digest),
    [sources.policyDigest, sources.codeOwnersDigest],
  );
  asked.splice(0);
  t.true(await areRules(context, place, sources));
  t.deepEqual(asked, []);
});

test('who can see the repository is not asked again where its base branch has moved', async (t) => {
  const hidden = { ...PLAIN, ...extending, sharedVisibility: 'private', baseline: baseline('one', 'private') } as const;
  const { sources } = await contextOf(hidden).rulesOf();
  t.like(sources, { extendsHidden: true, baselineHidden: true });
  const moved = contextOf({ ...hidden, own: { ...extending.own, 'a.txt': 'a' } });
  t.true(await areRules(moved.context, moved.place, sources));
  t.deepEqual(moved.visible, [SHARED], 'the shared one, which may be another by now');
});

test('a policy that is given replaces that of the base', async (t) => {
  const { context, place, asked } = contextOf(PLAIN);
  const file = { path: 'mine.yml', unusable: false, text: rules('id: mine, require: { label: ready }') };
  const { policy } = await rulesOf(context, { ...place, file });
  t.like(policy, { kind: 'policy', policy: { rules: [{ id: 'mine' }] } });
  t.deepEqual(asked, []);
});
