import test from 'ava';
import type { Given } from '../../../src/review/cases/given.ts';
import { passes, translated } from './judge.ts';

const RUNS = 400;

/** The same numbers for the same seed. */
function random(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor(state / 65_536) % bound;
  };
}

type Status = 'approved' | 'pending' | 'skipped';

/** A pull request, and whether predicates that Gatehouse does not know are met. */
interface World {
  readonly given: Given;
  readonly unknown: boolean;
}

interface Predicate {
  readonly yaml: string;
  readonly met: (world: World) => boolean;
}

const has = (name: string) => (world: World) => world.given.labels?.includes(name) === true;

const PREDICATES: readonly Predicate[] = [
  { yaml: 'has_labels: [one]', met: has('one') },
  { yaml: 'has_labels: [two]', met: has('two') },
  { yaml: "targets_branch: { pattern: '^main$' }", met: ({ given }) => given.base === 'main' },
  { yaml: "title: { not_matches: ['^feat'] }", met: ({ given }) => given.title?.startsWith('feat') !== true },
  {
    yaml: "no_changed_files: { paths: ['^a/'] }",
    met: ({ given }) => given.files?.some(({ path }) => path.startsWith('a/')) !== true,
  },
  { yaml: 'has_author_in: { users: [ann] }', met: ({ given }) => given.author === 'ann' },
];
const UNKNOWN: Predicate = { yaml: 'has_future_predicate: true', met: ({ unknown }) => unknown };

interface Rule {
  readonly yaml: string;
  readonly status: (world: World) => Status;
}

/** policy/approval/approve.go */
function drawRule(name: string, next: (bound: number) => number, predicates: readonly Predicate[]): Rule {
  const draw = () => predicates[next(predicates.length)];
  const conditions = [draw(), draw()]
    .filter((one) => one !== undefined && next(2) === 0)
    .filter((one) => one !== undefined);
  const required = next(3) === 0 ? draw() : undefined;
  const count = next(3);
  const own = [...new Map(conditions.map((one) => [one.yaml.split(':')[0], one])).values()];
  const yaml = `  - name: ${name}
    if: { ${own.map((one) => one.yaml).join(', ')} }
    options: { methods: { comments: [] } }
    requires: { count: ${count}, users: [sally, bob]${required === undefined ? '' : `, conditions: { ${required.yaml} }`} }
`;
  return {
    yaml,
    status(world) {
      if (own.some((one) => !one.met(world))) {
        return 'skipped';
      }
      const approvals = world.given.reviews?.filter(({ author }) => author !== world.given.author).length ?? 0;
      return approvals >= count && required?.met(world) !== false ? 'approved' : 'pending';
    },
  };
}

/** policy/approval/evaluate.go */
function drawPart(rules: readonly Rule[], depth: number, next: (bound: number) => number): Rule {
  const index = next(rules.length);
  const rule = rules[index];
  if (rule === undefined || depth === 0 || next(2) === 0) {
    return { yaml: `r${index}`, status: rule?.status ?? (() => 'skipped') };
  }
  const kind = next(2) === 0 ? 'or' : 'and';
  const parts = Array.from({ length: 1 + next(3) }, () => drawPart(rules, depth - 1, next));
  return {
    yaml: `{ ${kind}: [${parts.map((part) => part.yaml).join(', ')}] }`,
    status: (world) => combined(kind, parts, world),
  };
}

function combined(kind: 'or' | 'and', parts: readonly Rule[], world: World): Status {
  const statuses = parts.map((part) => part.status(world));
  const approved = statuses.includes('approved');
  const pending = statuses.includes('pending');
  if (kind === 'or') {
    return approved ? 'approved' : pending ? 'pending' : 'skipped';
  }
  return pending ? 'pending' : approved ? 'approved' : 'skipped';
}

function drawPolicy(next: (bound: number) => number, predicates: readonly Predicate[]): Rule {
  const rules = Array.from({ length: 4 }, (_, index) => drawRule(`r${index}`, next, predicates));
  const parts = Array.from({ length: 1 + next(3) }, () => drawPart(rules, 3, next));
  return {
    yaml: `policy: { approval: [${parts.map((part) => part.yaml).join(', ')}] }\napproval_rules:\n${rules.map((rule) => rule.yaml).join('')}`,
    status: (world) => combined('and', parts, world),
  };
}

function drawPullRequest(next: (bound: number) => number): Given {
  return {
    labels: ['one', 'two'].filter(() => next(2) === 0),
    base: next(2) === 0 ? 'main' : 'other',
    title: next(2) === 0 ? 'feat: x' : 'x',
    author: next(2) === 0 ? 'ann' : 'dan',
    files: [{ path: next(2) === 0 ? 'a/b' : 'b' }],
    reviews: ['sally', 'bob'].filter(() => next(2) === 0).map((author) => ({ author })),
  };
}

test('random policies of policy-bot pass the same pull requests after translation', (t) => {
  const counts = { passed: 0, stopped: 0 };
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const next = random(seed);
    const source = drawPolicy(next, PREDICATES);
    const { policy, text, lost } = translated('policy-bot', source.yaml);
    t.deepEqual(lost, [], `seed ${seed}\n${source.yaml}`);
    for (let run = 0; run < 8; run += 1) {
      const given = drawPullRequest(next);
      const approved = source.status({ given, unknown: false }) === 'approved';
      counts[approved ? 'passed' : 'stopped'] += 1;
      t.is(passes(policy, given), approved, `seed ${seed}\n${source.yaml}\n${text}\n${JSON.stringify(given)}`);
    }
  }
  t.true(counts.passed > RUNS && counts.stopped > RUNS, JSON.stringify(counts));
});

test('random policies with unknown predicates pass nothing that policy-bot may stop', (t) => {
  let passed = 0;
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const next = random(seed);
    const source = drawPolicy(next, [...PREDICATES, UNKNOWN, UNKNOWN]);
    const { policy, text } = translated('policy-bot', source.yaml);
    for (let run = 0; run < 8; run += 1) {
      const given = drawPullRequest(next);
      if (!passes(policy, given)) {
        continue;
      }
      passed += 1;
      for (const unknown of [true, false]) {
        t.is(
          source.status({ given, unknown }),
          'approved',
          `seed ${seed}\n${source.yaml}\n${text}\n${JSON.stringify(given)}`,
        );
      }
    }
  }
  t.true(passed > RUNS / 4, `${passed} passed`);
});
