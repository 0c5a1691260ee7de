import { GITEAS } from '../helpers/forges.ts';
import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, ...GITEAS, 'github']);

const NO_DEBUGGING = `version: 1
rules:
  - id: no-debugging
    forbid: { added_lines: debugger, in: '**/*.ts' }
  - id: small
    require: { changed_lines: '<= 5' }
`;

for (const name of FORGES) {
  test(`${name}: a NUL byte in a text file never hides its lines from a rule`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': NO_DEBUGGING });
    const number = await scene.open({ 'src/a.ts': 'debugger\n// \0\n' });
    t.is(await scene.verdict(number), 'error');
    t.regex(scene.comments(number).join(), /src\/a\.ts/);
  });
}

// On Gitea and Forgejo the pull request of a deleted fork is closed.
test('github: a proposed policy of a deleted fork reads no other repository', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': 'version: 1\nrules: []\n' });
  const { forge, repository } = scene;
  const secret = `acme/secret-${repository.split('/')[1]}`;
  forge.createRepository(secret, { '.gatehouse.yml': 'version: 1\nrules: [{ id: TOP-SECRET }]\n' });
  const fork = forge.fork(repository, 'mallory');
  const proposed = `version: 1\nextends: ${secret}@main\nrules: []\n`;
  const number = scene.openSilently({ '.gatehouse.yml': proposed }, { from: fork, author: 'mallory' });
  const broken = scene.openSilently({ '.gatehouse.yml': 'version: 2\n' }, { from: fork, author: 'mallory' });
  forge.deleteRepository(fork);
  for (const opened of [number, broken]) {
    await scene.tell({ kind: 'pull-request', number: opened, action: 'opened' });
  }
  await scene.settled();
  t.deepEqual(
    forge.seen.filter(({ path }) => path.includes(secret)),
    [],
  );
  t.notRegex(scene.comments(number).join(), /TOP-SECRET/);
  t.is(scene.status(broken)?.state, 'failure', 'what a deleted fork proposes is read all the same');
});

for (const name of GITEAS) {
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
