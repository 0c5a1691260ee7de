import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { symlink } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, 'gitea', 'forgejo']);

const NO_DEBUGGING = `version: 1
rules:
  - id: no-debugging
    forbid: { added_lines: debugger, in: '**/*.ts' }
  - id: small
    require: { changed_lines: '<= 5' }
`;

const DOCS_ONLY = `version: 1
rules:
  - id: docs
    require: { only_files: ['docs/**', '**/*.md'] }
`;

const NO_FORKS = `version: 1
rules:
  - id: no-forks
    require: { fork: false }
  - id: strangers
    when: { fork: true }
    require: { label: checked }
`;

/** Enough alike that every forge sees a rename. */
const LINES = Array.from({ length: 40 }, (_, index) => `line ${index}\n`).join('');

for (const name of FORGES) {
  test(`${name}: a NUL byte in a text file never hides its lines from a rule`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': NO_DEBUGGING });
    const number = await scene.open({ 'src/a.ts': 'debugger\n// \0\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /src\/a\.ts/);
  });

  test(`${name}: a renamed file with a NUL byte never hides its lines from a rule`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': NO_DEBUGGING, 'src/old.ts': `\0${LINES}` });
    const number = await scene.open({ 'src/old.ts': null, 'src/new.ts': `\0${LINES}debugger\n` });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
  });

  test(`${name}: a line end of editors alone never hides a line from a rule`, async (t) => {
    const policy = `version: 1\nrules:\n  - { id: no-debugging, forbid: { added_lines: '^debugger$' } }\n`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy });
    const numbers = [
      await scene.open({ 'src/a.ts': 'let a = 1;\rdebugger\r\n' }),
      await scene.open({ 'src/a.ts': 'let a = 1;\u2028debugger\n' }),
      await scene.open({ 'src/a.ts': '\ufeffdebugger\n' }),
    ];
    await scene.settled();
    t.deepEqual(
      numbers.map((number) => scene.status(number)?.state),
      ['failure', 'failure', 'failure'],
    );
  });

  test(`${name}: deleting a test never meets a rule that requires one`, async (t) => {
    const policy = `version: 1\nrules:\n  - { id: tested, require: { files: 'test/**' } }\n`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy, 'test/a.ts': 'test\n', 'test/b.ts': LINES });
    const number = await scene.open({ 'src/a.ts': 'a\n', 'test/a.ts': null, 'test/b.ts': null, 'src/b.ts': LINES });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /test\/a\.ts.*removed/);
  });

  test(`${name}: a file moved into the documentation is not documentation only`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': DOCS_ONLY, 'src/a.ts': LINES, 'docs/b.md': LINES });
    const [docs, moved, link] = [
      await scene.open({ 'docs/b.md': null, 'docs/c.md': `${LINES}more\n` }),
      await scene.open({ 'src/a.ts': null, 'docs/a.ts': `${LINES}more\n` }),
      await scene.open({ 'docs/b.md': null, docs: symlink('src') }),
    ];
    await scene.settled();
    t.deepEqual(
      [docs, moved, link].map((number) => scene.status(number)?.state),
      ['success', 'failure', 'failure'],
    );
    t.regex(scene.comments(moved).join(), /1 other path among 1 changed file: `src\/a\.ts`/);
  });

  test(`${name}: a proposed policy of a deleted fork reads no other repository`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': 'version: 1\nrules: []\n' });
    const { forge, repository } = scene;
    const secret = `acme/secret-${repository.split('/')[1]}`;
    forge.createRepository(secret, { '.gatehouse.yml': 'version: 1\nrules: [{ id: TOP-SECRET }]\n' });
    const fork = forge.fork(repository, 'mallory');
    const proposed = `version: 1\nextends: ${secret}@main\nrules: []\n`;
    const number = scene.openSilently({ '.gatehouse.yml': proposed }, { from: fork, author: 'mallory' });
    forge.deleteRepository(fork);
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.deepEqual(
      forge.seen.filter(({ path }) => path.includes(secret)),
      [],
    );
    t.notRegex(scene.comments(number).join(), /TOP-SECRET/);
  });
}

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: a stranger who pushes to refs/for never passes for a writer`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': NO_FORKS });
    const [own, pushed] = [await scene.open({ 'a.txt': 'a\n' }), await scene.pushForReview({ 'a.txt': 'a\n' })];
    await scene.settled();
    t.is(scene.status(own)?.state, 'success');
    t.is(scene.status(pushed)?.state, 'failure');
    t.regex(scene.comments(pushed).join(), /no-forks[\s\S]*strangers/);
  });

  test(`${name}: a policy that a stranger pushes to refs/for reads no other repository`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': 'version: 1\nrules: []\n' });
    const secret = `acme/secret-${scene.repository.split('/')[1]}`;
    scene.forge.createRepository(secret, { '.gatehouse.yml': 'version: 1\nrules: [{ id: TOP-SECRET }]\n' });
    const number = await scene.pushForReview({ '.gatehouse.yml': `version: 1\nextends: ${secret}@main\nrules: []\n` });
    await scene.settled();
    t.deepEqual(
      scene.forge.seen.filter(({ path }) => path.includes(secret)),
      [],
    );
    t.notRegex(scene.comments(number).join(), /TOP-SECRET/);
  });
}
