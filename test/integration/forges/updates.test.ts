import test from '../../helpers/test.ts';
import { type Changes, symlink } from '../../simulated-forge/git.ts';
import { type JudgedSite, judgedSite } from './judging.ts';
import { FORGES } from './setup.ts';

/** An approval outlives an update of the branch that changes nothing itself, and no other merge. */
const APPROVED = `version: 1
rules:
  - id: approved
    require: { approvals: { fresh: except-updates } }
`;
const BASE = { '.gatehouse.yml': APPROVED, 'a.txt': 'a\n', 'b.txt': 'b\n' };
/** More than the simulated forges list of a tree. */
const MANY = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`many/${index}`, '']));

/** A pull request that changes a.txt and adds mine.txt, approved by bob; then the base branch changes b.txt. */
async function approved(site: JudgedSite): Promise<number> {
  const number = await site.open({ 'a.txt': 'mine\n', 'mine.txt': 'mine\n' });
  await site.review(number, 'bob', 'approved');
  site.forge.commit(site.repository, 'main', { 'b.txt': 'new\n' });
  return number;
}

const update = ({ forge, repository }: JudgedSite, number: number, changes?: Changes) =>
  forge.updateBranch(repository, number, 'alice', changes);

/** Merges that are more than an update, pushed by the author of the pull request. */
const PUSHES: Readonly<Record<string, (site: JudgedSite, number: number) => void>> = {
  'drops what was approved': (site, number) => update(site, number, { 'mine.txt': null }),
  'moves a file': (site, number) => update(site, number, { 'mine.txt': null, 'moved.txt': 'mine\n' }),
  'turns a file into a link': (site, number) => update(site, number, { 'mine.txt': symlink('mine\n') }),
  'merges a file that both sides changed'(site, number) {
    site.forge.commit(site.repository, 'main', { 'a.txt': 'theirs\n' });
    update(site, number, { 'a.txt': 'mine\n' });
  },
  'merges another branch than the base'({ forge, repository }, number) {
    const evil = forge.commit(repository, 'evil', { 'evil.txt': 'evil\n' });
    forge.push(repository, number, { 'evil.txt': 'evil\n', 'b.txt': 'new\n' }, { merging: [evil] });
  },
  'merges the base and another branch'({ forge, repository }, number) {
    const evil = forge.commit(repository, 'evil', { 'evil.txt': 'evil\n' });
    forge.push(repository, number, { 'b.txt': 'new\n' }, { merging: [forge.head(repository, 'main'), evil] });
  },
  'follows a commit of its author'(site, number) {
    site.forge.push(site.repository, number, { 'mine.txt': 'else\n' });
    update(site, number);
  },
  'is followed by a commit of its author'(site, number) {
    update(site, number);
    site.forge.push(site.repository, number, { 'mine.txt': 'else\n' });
  },
  'replaces what was approved'({ forge, repository }, number) {
    const merging = [forge.head(repository, 'main')];
    forge.forcePush(repository, number, { 'a.txt': 'mine\n', 'mine.txt': 'mine\n' }, { merging });
  },
};

/** The paths by which two histories are compared: first by their commits, and trees only then. */
const comparisons = ({ repository }: JudgedSite) => new RegExp(`^/repos/${repository}/(?:compare/|commits$)`);

for (const name of FORGES) {
  test(`${name}: an approval survives updates from base where the rule says so`, async (t) => {
    const site = await judgedSite(t, name, BASE);
    const number = await approved(site);
    site.forge.updateBranch(site.repository, number, 'bob');
    t.is((await site.judge(number)).state, 'success');
    site.forge.commit(site.repository, 'main', { 'b.txt': null, 'c.txt': 'c\n' });
    update(site, number);
    t.is((await site.judge(number)).state, 'success');
  });

  test(`${name}: an approval ends with an update from base where it has to be fresh`, async (t) => {
    const policy = APPROVED.replace('except-updates', 'true, committers: true');
    const site = await judgedSite(t, name, { ...BASE, '.gatehouse.yml': policy });
    const number = await approved(site);
    t.is((await site.judge(number)).state, 'success');
    update(site, number);
    site.forge.forgetRequests();
    t.is((await site.judge(number)).state, 'pending');
    const asked = site.forge.seen.map(({ path }) => path).filter((path) => comparisons(site).test(path));
    t.deepEqual(asked, [], 'nothing is read of a merge that makes no difference');
  });

  for (const [what, push] of Object.entries(PUSHES)) {
    test(`${name}: an approval ends with a merge that ${what}`, async (t) => {
      const site = await judgedSite(t, name, BASE);
      const number = await approved(site);
      push(site, number);
      const { state, said } = await site.judge(number);
      t.is(state, 'pending');
      t.regex(said, /`bob`, given (?:for an earlier commit|before the last force-push)/);
    });
  }

  test(`${name}: an approval ends with a merge of histories merged crosswise`, async (t) => {
    const site = await judgedSite(t, name, BASE);
    const { forge, repository } = site;
    const number = await site.open({ 'mine.txt': 'mine\n' });
    const first = site.head(number);
    forge.commit(repository, 'main', { 'b.txt': 'new\n' });
    update(site, number);
    forge.push(repository, number, { 'a.txt': 'mine\n' });
    await site.review(number, 'bob', 'approved');
    t.is((await site.judge(number)).state, 'success');

    // The base takes in the first commit alone: now each side has what the other one had.
    forge.commit(repository, 'main', { 'mine.txt': 'mine\n' }, { merging: [first] });
    update(site, number);
    t.is((await site.judge(number)).state, 'pending');
  });

  test(`${name}: an approval ends with an update that cannot be compared as a whole`, async (t) => {
    const many = await judgedSite(t, name, { ...BASE, ...MANY });
    const ofMany = await approved(many);
    update(many, ofMany);
    t.is((await many.judge(ofMany)).state, 'pending', 'more files than the forge lists');

    const site = await judgedSite(t, name, BASE);
    const number = await approved(site);
    update(site, number);
    site.forge.fault({ method: 'GET', path: comparisons(site), fault: { kind: 'status', status: 404 } });
    t.is((await site.judge(number)).state, 'pending');
  });
}
