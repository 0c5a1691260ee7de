import type { ExecutionContext } from 'ava';
import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { type Changes, symlink } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const APPROVED = (fresh: string) => `version: 1
rules:
  - id: approved
    require: { approvals: { fresh: ${fresh} } }
`;
const BASE = { '.gatehouse.yml': APPROVED('except-updates'), 'a.txt': 'a\n', 'b.txt': 'b\n' };
/** More than the simulated forges list of a tree. */
const MANY = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`many/${index}`, '']));

/** A pull request that changes a.txt and adds mine.txt, approved by bob; then the base branch changes b.txt. */
async function approved(t: ExecutionContext, scene: Scene, files: Changes = {}): Promise<number> {
  const number = await scene.open({ 'a.txt': 'mine\n', 'mine.txt': 'mine\n', ...files });
  await scene.review(number, 'bob', 'approved');
  await scene.settled();
  t.is(scene.status(number)?.state, 'success');
  scene.forge.commit(scene.repository, 'main', { 'b.txt': 'new\n' });
  return number;
}

async function pushed(scene: Scene, number: number): Promise<string | undefined> {
  await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
  await scene.settled();
  return scene.status(number)?.state;
}

/** Merges that are more than an update, pushed by the author of the pull request. */
const PUSHES: Readonly<Record<string, (scene: Scene, number: number) => void>> = {
  'changes a file by itself'({ forge, repository }, number) {
    forge.updateBranch(repository, number, 'alice', { 'mine.txt': 'else\n' });
  },
  'adds a file of its own'({ forge, repository }, number) {
    forge.updateBranch(repository, number, 'alice', { 'extra.txt': 'extra\n' });
  },
  'drops what the base branch changed'({ forge, repository }, number) {
    forge.updateBranch(repository, number, 'alice', { 'b.txt': 'b\n' });
  },
  'drops what was approved'({ forge, repository }, number) {
    forge.updateBranch(repository, number, 'alice', { 'mine.txt': null });
  },
  'moves a file'({ forge, repository }, number) {
    forge.updateBranch(repository, number, 'alice', { 'mine.txt': null, 'moved.txt': 'mine\n' });
  },
  'turns a file into a link'({ forge, repository }, number) {
    forge.updateBranch(repository, number, 'alice', { 'mine.txt': symlink('mine\n') });
  },
  'merges a file that both sides changed'({ forge, repository }, number) {
    forge.commit(repository, 'main', { 'a.txt': 'theirs\n' });
    forge.updateBranch(repository, number, 'alice', { 'a.txt': 'mine\n' });
  },
  'merges another branch than the base'({ forge, repository }, number) {
    const evil = forge.commit(repository, 'evil', { 'evil.txt': 'evil\n' });
    forge.push(repository, number, { 'evil.txt': 'evil\n', 'b.txt': 'new\n' }, { merging: [evil] });
  },
  'merges the base and another branch'({ forge, repository }, number) {
    const evil = forge.commit(repository, 'evil', { 'evil.txt': 'evil\n' });
    const merging = [forge.head(repository, 'main'), evil];
    forge.push(repository, number, { 'b.txt': 'new\n' }, { merging });
  },
  'follows a commit of its author'({ forge, repository }, number) {
    forge.push(repository, number, { 'mine.txt': 'else\n' });
    forge.updateBranch(repository, number, 'alice');
  },
  'is followed by a commit of its author'({ forge, repository }, number) {
    forge.updateBranch(repository, number, 'alice');
    forge.push(repository, number, { 'mine.txt': 'else\n' });
  },
  'replaces what was approved'({ forge, repository }, number) {
    const merging = [forge.head(repository, 'main')];
    forge.forcePush(repository, number, { 'a.txt': 'mine\n', 'mine.txt': 'mine\n' }, { merging });
  },
};

/** The paths by which two histories are compared: first by their commits, and trees only then. */
const comparisons = ({ repository }: Scene) => new RegExp(`^/repos/${repository}/(?:compare/|commits$)`);

for (const name of FORGES) {
  test(`${name}: an approval survives updates from base where the rule says so`, async (t) => {
    const scene = gatehouse(name).scene(BASE);
    const number = await approved(t, scene);
    scene.forge.updateBranch(scene.repository, number, 'bob');
    t.is(await pushed(scene, number), 'success');
    scene.forge.commit(scene.repository, 'main', { 'b.txt': null, 'c.txt': 'c\n' });
    scene.forge.updateBranch(scene.repository, number, 'alice');
    t.is(await pushed(scene, number), 'success');
  });

  test(`${name}: an approval ends with an update from base where it has to be fresh`, async (t) => {
    const scene = gatehouse(name).scene({ ...BASE, '.gatehouse.yml': APPROVED('true, committers: true') });
    const number = await approved(t, scene);
    scene.forge.updateBranch(scene.repository, number, 'alice');
    const before = scene.forge.seen.length;
    t.not(await pushed(scene, number), 'success');
    const asked = scene.forge.seen.slice(before).map(({ path }) => path);
    t.deepEqual(
      asked.filter((path) => comparisons(scene).test(path)),
      [],
      'nothing is read of a merge that makes no difference',
    );
  });

  for (const [what, push] of Object.entries(PUSHES)) {
    test(`${name}: an approval ends with a merge that ${what}`, async (t) => {
      const scene = gatehouse(name).scene(BASE);
      const number = await approved(t, scene);
      push(scene, number);
      t.not(await pushed(scene, number), 'success');
      t.regex(scene.comments(number).join(), /`bob`, given (?:for an earlier commit|before the last force-push)/);
    });
  }

  test(`${name}: an approval ends with a merge of histories merged crosswise`, async (t) => {
    const scene = gatehouse(name).scene(BASE);
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'mine.txt': 'mine\n' });
    const { headSha: first } = forge.pull(repository, number);
    forge.commit(repository, 'main', { 'b.txt': 'new\n' });
    forge.updateBranch(repository, number, 'alice');
    forge.push(repository, number, { 'a.txt': 'mine\n' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    // The base takes in the first commit alone: now each side has what the other one had.
    forge.commit(repository, 'main', { 'mine.txt': 'mine\n' }, { merging: [first] });
    forge.updateBranch(repository, number, 'alice');
    t.not(await pushed(scene, number), 'success');
  });

  test(`${name}: an approval ends with an update of more files than the forge lists`, async (t) => {
    const scene = gatehouse(name).scene({ ...BASE, ...MANY });
    const number = await approved(t, scene);
    scene.forge.updateBranch(scene.repository, number, 'alice');
    t.not(await pushed(scene, number), 'success');
  });

  test(`${name}: an approval ends with an update that the forge cannot compare`, async (t) => {
    const scene = gatehouse(name).scene(BASE);
    const number = await approved(t, scene);
    scene.forge.updateBranch(scene.repository, number, 'alice');
    scene.forge.fault({ method: 'GET', path: comparisons(scene), fault: { kind: 'status', status: 404 } });
    t.not(await pushed(scene, number), 'success');
  });
}
