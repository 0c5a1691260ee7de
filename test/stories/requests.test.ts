import test from 'ava';
import { FORGES, type Scene, shareStories } from '../helpers/story.ts';

const gatehouse = shareStories(test);

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
const GREEN = { title: 'feat: things' };
const MANY = Object.fromEntries(Array.from({ length: 2_999 }, (_, index) => [`src/${index}.ts`, `${index}\n`]));

/** The requests that a step makes, by method and kind of resource, without those answered 304. */
async function requests(scene: Scene, step: () => Promise<unknown>): Promise<readonly string[]> {
  const { forge, repository } = scene;
  const before = forge.seen.length;
  await step();
  await scene.settled();
  return forge.seen
    .slice(before)
    .filter(({ path, status }) => status !== 304 && (path.startsWith(`/repos/${repository}/`) || path === '/graphql'))
    .map(({ method, path }) => `${method} ${kindOf(path, repository)}`);
}

/** `/repos/o/r/pulls/7/files?page=2` is `pulls/files`. */
function kindOf(path: string, repository: string): string {
  const parts = (path.split('?')[0] ?? '').replace(`/repos/${repository}/`, '').split('/');
  return parts
    .filter((part) => !/^(?:\d+|[0-9a-f]{40}|)$/.test(part))
    .join('/')
    .replace(/\d+\.diff/, 'diff');
}

/** How many they are: GitHub's, and Gitea's and Forgejo's. One more is a cost for everybody, and must be meant. */
const EXPECTED: Readonly<Record<string, readonly [github: number, gitea: number]>> = {
  'first green, first review of the repository': [10, 14],
  'first green': [8, 14],
  'first failing, with a comment at a line': [10, 16],
  'unchanged, green': [1, 11],
  'unchanged, failing': [4, 13],
  'push, still green': [6, 14],
  'push that resolves': [10, 22],
  'first green, 2,999 files': [37, 14],
  'a rule with fresh approvals, none given': [14, 23],
  'the same, approved': [8, 24],
};

/** What each step made. */
async function countAll(scene: Scene, fresh: Scene): Promise<Readonly<Record<string, readonly string[]>>> {
  const told = (number: number) => scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
  const opened = async (from: Scene, files: Readonly<Record<string, string>>, details: { title: string }) => {
    const number = from.openSilently(files, details);
    const made = await requests(from, () => from.tell({ kind: 'pull-request', number, action: 'opened' }));
    return { number, made };
  };
  const green = await opened(scene, { 'a.ts': 'one\n' }, GREEN);
  const known = await opened(scene, { 'b.ts': 'one\n' }, GREEN);
  const failing = await opened(scene, { 'c.ts': 'debugger\n' }, GREEN);
  const many = await opened(scene, MANY, GREEN);
  const approvals = await opened(fresh, { 'a.ts': 'one\n' }, GREEN);
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
  };
}

function row(made: readonly string[]): string {
  const kinds = Map.groupBy(made, (kind) => kind);
  return `${made.length}: ${[...kinds].map(([kind, all]) => (all.length > 1 ? `${kind} ×${all.length}` : kind)).join(', ')}`;
}

for (const name of FORGES) {
  test.serial(`${name}: requests of a review`, async (t) => {
    const counted = await countAll(
      gatehouse(name).scene({ '.gatehouse.yml': POLICY }),
      gatehouse(name).scene({ '.gatehouse.yml': FRESH }),
    );
    t.log(
      Object.entries(counted)
        .map(([what, made]) => `${what}: ${row(made)}`)
        .join('\n'),
    );
    t.deepEqual(
      Object.entries(counted).map(([what, made]) => [what, made.length]),
      Object.entries(EXPECTED).map(([what, [github, gitea]]) => [what, name === 'github' ? github : gitea]),
    );
  });
}
