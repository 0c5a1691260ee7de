import type { ForgeName } from '../../src/forges/port/forges.ts';
import { ALL_FORGES, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, ALL_FORGES, { own: true });

const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^feat: ' }
  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b' }
`;
const FRESH = `version: 1
rules:
  - id: reviewed
    require: { approvals: { count: 1, fresh: true } }
`;
const ANSWERED = `version: 1
rules:
  - id: answered
    require: { threads: {} }
`;
const OUTSIDERS = `version: 1
rules:
  - id: outsiders
    when: { not: { author: '@acme/*' } }
    require: { title: '^feat: ' }
`;
const APPROVED = `version: 1
rules:
  - id: approved
    require: { approvals: 1 }
`;
const UNREQUESTED = `version: 1
rules:
  - id: unrequested
    forbid: { reviews_requested: true }
`;
const GREEN = { title: 'feat: things' };
const MANY = Object.fromEntries(Array.from({ length: 2_999 }, (_, index) => [`src/${index}.ts`, `${index}\n`]));

/** The requests that a step makes, by method and kind of resource. */
async function requests(scene: Scene, step: () => Promise<unknown>): Promise<readonly string[]> {
  const { forge, repository } = scene;
  const before = forge.seen.length;
  await step();
  await scene.settled();
  return forge.seen.slice(before).flatMap(({ method, path }) => {
    const isOfThis = path.includes(`/repos/${repository}/`) || path.startsWith('/orgs/') || path.startsWith('/teams/');
    return !isOfThis ? [] : [`${method} ${kindOf(path, repository)}`];
  });
}

/** `/repos/o/r/pulls/7/files?page=2` is `pulls/files`. */
function kindOf(path: string, repository: string): string {
  const parts = (path.split('?')[0] ?? '').replace(`/repos/${repository}/`, '').split('/');
  return parts
    .filter((part) => !/^(?:\d+|[0-9a-f]{40}|)$/.test(part))
    .join('/')
    .replace(/\d+\.diff/, 'diff');
}

/** How many they are. One more is a cost for everybody, and must be meant. docs/forges.md has them too. */
const EXPECTED: Readonly<Record<string, Readonly<Record<ForgeName, number>>>> = {
  'first green, first review of the repository': { github: 4, gitea: 9, forgejo: 12 },
  'first green': { github: 4, gitea: 7, forgejo: 10 },
  'first failing, with a comment at a line': { github: 6, gitea: 9, forgejo: 12 },
  'unchanged, green': { github: 1, gitea: 2, forgejo: 2 },
  'unchanged, failing': { github: 1, gitea: 2, forgejo: 2 },
  'push, still green': { github: 5, gitea: 8, forgejo: 11 },
  'push that resolves': { github: 7, gitea: 14, forgejo: 15 },
  'first green, 2,999 files': { github: 33, gitea: 7, forgejo: 10 },
  'a rule with fresh approvals, none given': { github: 4, gitea: 12, forgejo: 15 },
  'the same, approved': { github: 6, gitea: 21, forgejo: 22 },
  'the same, judged again as in its turn': { github: 4, gitea: 18, forgejo: 19 },
  'a rule about conversations, there is none': { github: 4, gitea: 10, forgejo: 13 },
  'the same, two reviews have one': { github: 5, gitea: 12, forgejo: 13 },
  'whether the author is a member': { github: 4, gitea: 10, forgejo: 13 },
  'a rule about requested reviews, none is requested': { github: 5, gitea: 17, forgejo: 20 },
  'approved by 3': { github: 3, gitea: 13, forgejo: 14 },
  'approved by 30': { github: 3, gitea: 13, forgejo: 14 },
  'approved by 300': { github: 9, gitea: 23, forgejo: 24 },
};

async function opened(from: Scene, files: Readonly<Record<string, string>>, details: { title: string }) {
  const number = from.openSilently(files, details);
  const made = await requests(from, () => from.tell({ kind: 'pull-request', number, action: 'opened' }));
  return { number, made };
}

/** The first review of a pull request that so many have approved of, by a rule about approvals. */
async function countApproved(scene: Scene): Promise<Readonly<Record<string, readonly string[]>>> {
  await opened(scene, { 'first.ts': 'one\n' }, GREEN);
  const made: Record<string, readonly string[]> = {};
  for (const many of [3, 30, 300]) {
    const number = scene.openSilently({ [`${many}.ts`]: 'one\n' }, GREEN);
    for (let index = 0; index < many; index++) {
      scene.forge.review(scene.repository, number, `reviewer-${index}`, 'approved');
    }
    const tell = () => scene.tell({ kind: 'pull-request', number, action: 'opened' });
    made[`approved by ${many}`] = await requests(scene, tell);
  }
  return made;
}

/** What each step made. */
async function countAll(
  scene: Scene,
  fresh: Scene,
  answered: Scene,
  outsiders: Scene,
  unrequested: Scene,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const told = (number: number, at = scene) => at.tell({ kind: 'pull-request', number, action: 'synchronize' });
  const green = await opened(scene, { 'a.ts': 'one\n' }, GREEN);
  const known = await opened(scene, { 'b.ts': 'one\n' }, GREEN);
  const failing = await opened(scene, { 'c.ts': 'debugger\n' }, GREEN);
  const many = await opened(scene, MANY, GREEN);
  const approvals = await opened(fresh, { 'a.ts': 'one\n' }, GREEN);
  outsiders.forge.addMember('acme', 'gatehouse');
  outsiders.forge.addMember('acme', 'alice');
  const member = await opened(outsiders, { 'a.ts': 'one\n' }, GREEN);
  const silent = await opened(answered, { 'a.ts': 'one\n' }, GREEN);
  const discussed = async (number: number) => {
    for (const line of [1, 1]) {
      answered.forge.commentInline(answered.repository, number, 'bob', { path: 'a.ts', line, body: 'Why?' });
    }
    await told(number, answered);
  };
  const inTurn = async () => {
    // The first of these webhooks tells who pushed.
    await fresh.settled(told(approvals.number, fresh));
    return requests(fresh, () => told(approvals.number, fresh));
  };
  return {
    'first green, first review of the repository': green.made,
    'first green': known.made,
    'first failing, with a comment at a line': failing.made,
    'unchanged, green': await requests(scene, () => told(green.number)),
    'unchanged, failing': await requests(scene, () => told(failing.number)),
    'push, still green': await requests(scene, () => scene.push(green.number, { 'a.ts': 'two\n' })),
    'push that resolves': await requests(scene, () => scene.push(failing.number, { 'c.ts': 'fine\n' })),
    'first green, 2,999 files': many.made,
    'a rule with fresh approvals, none given': approvals.made,
    'the same, approved': await requests(fresh, () => fresh.review(approvals.number, 'bob', 'approved')),
    'the same, judged again as in its turn': await inTurn(),
    'a rule about conversations, there is none': silent.made,
    'the same, two reviews have one': await requests(answered, () => discussed(silent.number)),
    'whether the author is a member': member.made,
    'a rule about requested reviews, none is requested': (await opened(unrequested, { 'a.ts': 'one\n' }, GREEN)).made,
  };
}

function row(made: readonly string[]): string {
  const kinds = Map.groupBy(made, (kind) => kind);
  return `${made.length}: ${[...kinds].map(([kind, all]) => (all.length > 1 ? `${kind} ×${all.length}` : kind)).join(', ')}`;
}

for (const name of ALL_FORGES) {
  test.serial(`${name}: requests of a review`, async (t) => {
    const counted = {
      ...(await countAll(
        gatehouse(name).scene({ '.gatehouse.yml': POLICY }),
        gatehouse(name).scene({ '.gatehouse.yml': FRESH }),
        gatehouse(name).scene({ '.gatehouse.yml': ANSWERED }),
        gatehouse(name).scene({ '.gatehouse.yml': OUTSIDERS }),
        gatehouse(name).scene({ '.gatehouse.yml': UNREQUESTED }),
      )),
      ...(await countApproved(gatehouse(name).scene({ '.gatehouse.yml': APPROVED }))),
    };
    t.log(
      Object.entries(counted)
        .map(([what, made]) => `${what}: ${row(made)}`)
        .join('\n'),
    );
    t.deepEqual(
      Object.entries(counted).map(([what, made]) => [what, made.length]),
      Object.entries(EXPECTED).map(([what, expected]) => [what, expected[name]]),
    );
  });
}

/** The same of the groups of a merge queue, by how many pull requests they have. */
const EXPECTED_OF_GROUPS: readonly (readonly [what: string, number, expected: number])[] = [
  ['reviewed before', 1, 5],
  ['reviewed before', 3, 5],
  ['reviewed before the branch moved', 3, 6],
  ['judged for it', 1, 7],
  ['judged for it', 3, 13],
];

test.serial('github: requests of a merge group', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': POLICY });
  const { forge, repository } = scene;
  for (const [index, [what, members, expected]] of EXPECTED_OF_GROUPS.entries()) {
    let group = { number: 0, headSha: '' };
    for (let member = 0; member < members; member++) {
      const change = { [`${index}-${member}.ts`]: 'one\n' };
      const isReviewed = what !== 'judged for it';
      const number = isReviewed ? (await opened(scene, change, GREEN)).number : scene.openSilently(change, GREEN);
      group = { number, headSha: forge.enqueue(repository, number) };
    }
    if (what.endsWith('moved')) {
      forge.commit(repository, 'main', { 'moved.txt': 'a\n' });
    }
    const made = await requests(scene, () => scene.tell({ kind: 'merge-group', action: 'checks_requested', ...group }));
    const about = `a group of ${members}, ${what}: ${row(made)}`;
    t.log(about);
    t.is(made.length, expected, about);
    t.is(scene.status(group.headSha)?.state, 'success');
    forge.mergeQueue(repository, 'main');
  }
});
