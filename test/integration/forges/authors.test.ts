import type { ForgeName } from '../../../src/forges/port/forges.ts';
import test from '../../helpers/test.ts';
import { type Changes, idOf } from '../../simulated-forge/git.ts';
import { type JudgedSite, judgedSite } from './judging.ts';
import { FORGES } from './setup.ts';

/** Whoever made a change is no second pair of eyes: who that is, as each forge shows commits, addresses and accounts. */
const APPROVED = `version: 1
author_trailers: [Assisted-by, On-behalf-of]
override: { by: [bob] }
rules:
  - id: approved
    require: { approvals: { unknown_authors: undecided } }
`;
const LENIENT = APPROVED.replace('{ unknown_authors: undecided }', '1');
const TWO_FOR_MACHINES = `version: 1
rules:
  - id: two
    when: { contributors: { bots: true } }
    require: { approvals: 2 }
`;
const FIRST_TIME = `version: 1
rules:
  - id: welcome
    when: { contributors: { first_time: true } }
    require: { label: welcome }
`;

/** An address that the forge gave to hide another one. */
function hidden(name: ForgeName, login: string, numbered = true): string {
  const domain = name === 'github' ? 'users.noreply.127.0.0.1' : 'noreply.localhost';
  return `${numbered ? `${idOf(login)}+` : ''}${login}@${domain}`;
}

/** Last lines of a message by which bob has a part in the change. */
const NAMING_BOB: readonly ((name: ForgeName) => string)[] = [
  () => 'Co-authored-by: Bob <bob@example.test>',
  () => 'CO-AUTHORED-BY : bob <BOB@Example.Test>\r\n',
  (name) => `Co-authored-by: Bob <${hidden(name, 'bob')}>`,
  (name) => `Co-authored-by: Bob <${hidden(name, 'Bob', false)}>`,
  (name) => `Assisted-by: Bob <${hidden(name, 'bob')}>`,
  () => 'On-behalf-of: @bob',
];

type Open = (site: JudgedSite) => number | Promise<number>;

/** A pull request of so many commits that a program committed in the author's name. More than 40 are not listed with it. */
const committed =
  (committer: string, many = 1): Open =>
  (site) => {
    for (let line = 0; line < many; line++) {
      site.forge.commit(site.repository, 'topic', { 'a.txt': `${line}\n` }, { committer });
    }
    return site.open('topic');
  };

/** One that changes a.txt, while the base branch changes c.txt. */
const opened =
  (then: (site: JudgedSite, number: number, main: string) => unknown): Open =>
  async (site) => {
    const number = await site.open({ 'a.txt': 'a\n' });
    then(site, number, site.forge.commit(site.repository, 'main', { 'c.txt': 'new\n' }));
    return number;
  };
const pushed = opened(({ forge, repository }, number) =>
  forge.push(repository, number, { 'a.txt': 'b\n' }, { author: 'bob' }),
);
const updated = (changes?: Changes) =>
  opened(({ forge, repository }, number) => forge.updateBranch(repository, number, 'bob', changes));
const merged = (files: Changes) =>
  opened(({ forge, repository }, number, main) => {
    const message = 'Merge main\n\nCo-authored-by: Bob <bob@example.test>';
    forge.push(repository, number, { 'c.txt': 'new\n', ...files }, { merging: [main], message });
  });
const emptied: Open = async (site) => {
  const main = site.forge.head(site.repository, 'main');
  const number = await opened(() => {})(site);
  site.forge.pushCommit(site.repository, number, main);
  return number;
};

const FORGES_OWN = 'noreply@mail.acme.test';

/** What bob approves, and whether that counts: not where he has made something of it. */
const APPROVED_BY_BOB: Readonly<Record<string, readonly [open: Open, state: string, committer?: string]>> = {
  'his own commit': [pushed, 'pending'],
  'his update that changes nothing itself': [updated(), 'success'],
  'his update that changes a file': [updated({ 'a.txt': 'changed in the merge\n' }), 'pending'],
  'his update that drops what the base changed': [updated({ 'c.txt': 'old\n' }), 'pending'],
  'a merge that names him and changes nothing': [merged({}), 'success'],
  'a merge that names him and changes a file': [merged({ 'a.txt': 'changed in the merge\n' }), 'pending'],
  'what brings nothing in, and has no commits': [emptied, 'success'],
  'what the forge committed by its known address': [committed(FORGES_OWN, 41), 'success', FORGES_OWN.toUpperCase()],
};
/** On an Enterprise Server, which has no account for itself. `elsewhere`: as its administrator has set it. */
const IN_THE_BROWSER: typeof APPROVED_BY_BOB = {
  'a commit made in the browser': [committed('noreply@127.0.0.1'), 'success'],
  '41 commits made in the browser': [committed('noreply@127.0.0.1', 41), 'success'],
  'a commit made in the browser elsewhere': [committed(FORGES_OWN), 'success'],
  'a commit made in the browser of another server': [committed('github@acme.test'), 'error'],
};

for (const name of FORGES) {
  for (const [what, row] of Object.entries({ ...APPROVED_BY_BOB, ...(name === 'github' && IN_THE_BROWSER) })) {
    const [open, state, committer] = row;
    test(`${name}: bob approves ${what}: ${state}`, async (t) => {
      const files = { '.gatehouse.yml': APPROVED, 'a.txt': 'before\n', 'c.txt': 'old\n' };
      const site = await judgedSite(t, name, files, committer === undefined ? {} : { committer });
      const number = await open(site);
      await site.review(number, 'bob', 'approved');
      const judged = await site.judge(number);
      t.is(judged.state, state);
      t.is(/`bob`, (?:who committed|named as a co-author)/.test(judged.said), state === 'pending', judged.said);
    });
  }
}

for (const name of FORGES) {
  const coder = name === 'github' ? 'coder[bot]' : 'coder';

  test(`${name}: a co-author’s approval does not count, whichever address names them`, async (t) => {
    const site = await judgedSite(t, name, { '.gatehouse.yml': APPROVED });
    for (const [index, naming] of NAMING_BOB.entries()) {
      const message = `feat: it\n\n${naming(name)}`;
      site.forge.commit(site.repository, `topic-${index}`, { 'a.txt': `${index}\n` }, { author: coder, message });
      const number = await site.open(`topic-${index}`, { author: coder });
      await site.review(number, 'bob', 'approved');
      const { state, said } = await site.judge(number);
      t.is(state, 'pending', message);
      t.regex(said, /`bob`, named as a co-author of this pull request/);
      await site.review(number, 'carol', 'approved');
      t.is((await site.judge(number)).state, 'success', message);
    }
  });

  test(`${name}: an address of no account is named, and where it counts, nothing is green`, async (t) => {
    const site = await judgedSite(t, name, { '.gatehouse.yml': LENIENT });
    const number = await site.open({ 'a.txt': 'a\n' });
    const message = 'feat: it\n\nCo-authored-by: Bob <bob@elsewhere.test>';
    site.forge.push(site.repository, number, { 'a.txt': 'b\n' }, { message });
    site.forge.push(site.repository, number, { 'a.txt': 'c\n' }, { author: 'nobody@elsewhere.test' });
    const { said } = await site.judge(number);
    t.regex(said, /no account is known for .*bob@elsewhere\.test/);
    t.regex(said, /no account is known for the e-mail address of .*nobody@elsewhere\.test/);
    await site.push('main', { '.gatehouse.yml': APPROVED });
    await site.review(number, 'carol', 'approved');
    t.is((await site.judge(number)).state, 'error');
  });

  test(`${name}: what a machine of the operator’s has a part in needs two people`, async (t) => {
    const machineAccounts = ['helper', '*-bot', '*@agents.test'];
    const site = await judgedSite(t, name, { '.gatehouse.yml': TWO_FOR_MACHINES }, { machineAccounts });
    const number = await site.open({ 'a.txt': 'a\n' });
    t.is((await site.judge(number)).state, 'success', 'nobody but people');
    const message = 'feat: it\n\nCo-authored-by: Coder <noreply@agents.test>';
    site.forge.push(site.repository, number, { 'a.txt': 'b\n' }, { message });
    for (const login of ['bob', 'Helper', 'Review-Bot']) {
      await site.review(number, login, 'approved');
    }
    const { state, said } = await site.judge(number);
    t.is(state, 'pending');
    t.regex(said, /`Helper`, `Review-Bot`, a bot that the policy does not name/);
    await site.review(number, 'carol', 'approved');
    t.is((await site.judge(number)).state, 'success');
  });

  test(`${name}: whether the author has committed before is told by GitHub alone, of some`, async (t) => {
    const site = await judgedSite(t, name, { '.gatehouse.yml': FIRST_TIME });
    const isTold = name === 'github';
    for (const [author, state] of [
      ['newcomer', isTold ? 'failure' : 'error'],
      ['regular', isTold ? 'success' : 'error'],
      // A member of the organisation may never have committed.
      ['alice', 'error'],
    ] as const) {
      site.forge.commit(site.repository, author, { 'a.txt': `${author}\n` }, { author });
      t.is((await site.judge(await site.open(author, { author }))).state, state, author);
    }
  });

  test(`${name}: no commits where there must be some never let an approval count`, async (t) => {
    const site = await judgedSite(t, name, { '.gatehouse.yml': APPROVED });
    const number = await site.open({ 'a.txt': 'a\n' });
    site.forge.push(site.repository, number, { 'a.txt': 'b\n' }, { author: 'bob' });
    await site.review(number, 'bob', 'approved');
    const path = new RegExp(`^(?:/graphql|/repos/${site.repository}/pulls/${number}/commits$)`);
    site.forge.fault({ path, fault: { kind: 'json', body: [] } });
    await t.throwsAsync(site.judge(number), {
      message: /lists no commits of this pull request, and it must have some/,
    });
    site.forge.clearFaults();
    t.is((await site.judge(number)).state, 'pending', 'it is read again');
  });

  test(`${name}: only the named account’s verified signature is ever green`, async (t) => {
    const signed = 'version: 1\nrules: [{ id: signed, require: { commits: { every: { signed_by: Alice } } } }]\n';
    const site = await judgedSite(t, name, { '.gatehouse.yml': signed });
    const judged = async (branch: string, details: { verified: boolean; signer?: string }) => {
      site.forge.commit(site.repository, branch, { 'a.txt': `${branch}\n` }, { author: 'alice', ...details });
      return (await site.judge(await site.open(branch))).state;
    };
    t.is(await judged('hers', { verified: true, signer: 'alice' }), 'success');
    t.is(await judged('not-verified', { verified: false, signer: 'alice' }), 'failure');
    t.is(await judged('of-another', { verified: true, signer: 'mallory' }), 'failure');
    t.is(await judged('of-the-forge', { verified: true }), 'failure', 'the forge signs for whoever asks it to');
  });
}

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: where accounts cannot be read, co-authors leave it undecided`, async (t) => {
    const site = await judgedSite(t, name, { '.gatehouse.yml': LENIENT });
    const number = await site.open({ 'a.txt': 'a\n' });
    const message = 'feat: it\n\nCo-authored-by: Bob <bob@example.test>';
    site.forge.push(site.repository, number, { 'a.txt': 'b\n' }, { message });
    await site.review(number, 'bob', 'approved');
    site.forge.fault({ path: /\/assignees$/, fault: { kind: 'status', status: 403 } });
    const { state, said } = await site.judge(number);
    t.is(state, 'error');
    t.regex(said, /not all co-authors of the commits could be read/);
  });
}

test('github: an approval by a bot counts only where the policy names it', async (t) => {
  const site = await judgedSite(t, 'github', { '.gatehouse.yml': APPROVED });
  const number = await site.open({ 'a.txt': 'a\n' });
  await site.review(number, 'helper[bot]', 'approved');
  t.is((await site.judge(number)).state, 'pending');
  const named = APPROVED.replace('unknown_authors: undecided', "from: 'helper[bot]'");
  await site.push('main', { '.gatehouse.yml': named });
  t.is((await site.judge(number)).state, 'success');
});
