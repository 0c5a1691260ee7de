import type { ForgeName } from '../../src/forges/port/forges.ts';
import { forgesOf, onlyCarolCounts, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { idOf } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);

/** What agents, and those who asked them for a change, try: none of it is a second pair of eyes. */
const gatehouse = shareStories(test, FORGES);

const APPROVED = `version: 1
author_trailers: [Assisted-by, On-behalf-of]
override: { by: [bob, carol] }
rules:
  - id: approved
    require: { approvals: 1 }
`;
const STRICT = APPROVED.replace('approvals: 1', 'approvals: { count: 1, unknown_authors: undecided }');
const FRESH = APPROVED.replace('approvals: 1', 'approvals: { count: 1, fresh: true }');
const AGAIN = APPROVED.replace('approvals: 1', 'approvals: { count: 1, committers: true }');

const BOB = 'Co-authored-by: Bob <bob@example.test>';

/** An address that the forge gave to hide another one. */
function hidden(name: ForgeName, login: string, numbered = true): string {
  const domain = name === 'github' ? 'users.noreply.127.0.0.1' : 'noreply.localhost';
  return `${numbered ? `${idOf(login)}+` : ''}${login}@${domain}`;
}

function agentOf(name: ForgeName): string {
  return name === 'github' ? 'coder[bot]' : 'coder';
}

/** An agent opens a pull request of one commit with this message. */
async function agentOpens(scene: Scene, agent: string, message: string): Promise<number> {
  const { forge, repository } = scene;
  forge.commit(repository, 'agent/topic', { 'a.txt': 'a\n' }, { author: agent, message });
  const number = forge.openPullRequest(repository, { head: 'agent/topic', author: agent });
  await scene.tell({ kind: 'pull-request', number, action: 'opened' });
  return number;
}

/** Messages by which bob has a part in the change. */
const MESSAGES: Readonly<Record<string, (name: ForgeName) => string>> = {
  'his address': () => `feat: it\n\n${BOB}`,
  'his address in another case': () => 'feat: it\n\nCO-AUTHORED-BY : bob <BOB@Example.Test>\r\n',
  'his hidden address': (name) => `feat: it\n\nCo-authored-by: Bob <${hidden(name, 'bob')}>`,
  'an older hidden address': (name) => `feat: it\n\nCo-authored-by: Bob <${hidden(name, 'Bob', false)}>`,
  'a folded line': () => 'feat: it\n\nCo-authored-by:\n  Bob\n  <bob@example.test>',
  'one line with two addresses': (name) =>
    `feat: it\n\nCo-authored-by: A <a@elsewhere.test>, Bob <${hidden(name, 'bob')}>`,
  'a line beside a sign-off': () => `feat: it\n\nSome words.\n${BOB}\nSigned-off-by: Coder <coder@example.test>`,
  'the message of a squash': () => `feat: it\n\n* one\n\n${BOB}\n\n* two\n\n---------\n\n${BOB}`,
  'a trailer that the policy names': (name) => `feat: it\n\nAssisted-by: Bob <${hidden(name, 'bob')}>`,
  'a login behind a trailer that the policy names': () => 'feat: it\n\nOn-behalf-of: @bob',
  'the last of many': () =>
    `feat: it\n\n${Array.from({ length: 15 }, (_, index) => `Co-authored-by: x <${index}@elsewhere.test>\n`).join('')}${BOB}`,
};

for (const name of FORGES) {
  const agent = agentOf(name);

  for (const [how, message] of Object.entries(MESSAGES)) {
    test(`${name}: a co-author’s approval does not count: ${how}`, async (t) => {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
      const number = await agentOpens(scene, agent, message(name));
      await scene.review(number, 'bob', 'approved');
      await scene.settled();
      t.is(scene.status(number)?.state, 'pending');
      t.false(scene.states(number).includes('success'));
      t.regex(scene.comments(number).join(), /`bob`, named as a co-author of this pull request/);

      await scene.review(number, 'carol', 'approved');
      await scene.settled();
      t.is(scene.status(number)?.state, 'success');
    });
  }

  test(`${name}: a co-author in a merge with changes of its own does not count`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const { forge, repository } = scene;
    const number = await agentOpens(scene, agent, 'feat: it');
    const tip = forge.commit(repository, 'main', { 'c.txt': 'c\n' });
    const merge = { author: agent, merging: [tip], message: `Merge main\n\n${BOB}` };
    forge.push(repository, number, { 'a.txt': 'changed in the merge\n', 'c.txt': 'c\n' }, merge);
    await onlyCarolCounts(t, scene, number);
  });

  test(`${name}: a co-author of a merge that changes nothing made nothing`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const { forge, repository } = scene;
    const number = await agentOpens(scene, agent, 'feat: it');
    const tip = forge.commit(repository, 'main', { 'c.txt': 'c\n' });
    const merge = { author: agent, merging: [tip], message: `Merge main\n\n${BOB}` };
    forge.push(repository, number, { 'c.txt': 'c\n' }, merge);
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a co-author of an earlier commit does not count`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await agentOpens(scene, agent, `feat: it\n\n${BOB}`);
    scene.forge.push(scene.repository, number, { 'a.txt': 'b\n' }, { author: agent, message: 'fix: it' });
    await onlyCarolCounts(t, scene, number);
  });

  test(`${name}: text in the middle of a message names no co-author`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await agentOpens(scene, agent, `feat: it\n\n${BOB}\n\nThat was the line.`);
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: co-authors count again where the policy says so`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': AGAIN });
    const number = await agentOpens(scene, agent, `feat: it\n\n${BOB}`);
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: an address of no account is named, and strict rules stay undecided`, async (t) => {
    const message = 'feat: it\n\nCo-authored-by: Bob <bob@elsewhere.test>';
    const lenient = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const named = await agentOpens(lenient, agent, message);
    await lenient.settled();
    t.regex(lenient.comments(named).join(), /no account is known for .*bob@elsewhere\.test/);

    const strict = gatehouse(name).scene({ '.gatehouse.yml': STRICT });
    const number = await agentOpens(strict, agent, message);
    await strict.review(number, 'bob', 'approved');
    await strict.settled();
    t.is(strict.status(number)?.state, 'error');
    strict.forge.forcePush(strict.repository, number, { 'a.txt': 'b\n' }, { author: agent, message: 'feat: it' });
    await strict.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await strict.review(number, 'carol', 'approved');
    await strict.settled();
    t.is(strict.status(number)?.state, 'success');
  });

  test(`${name}: a co-author who is amended away does not approve what was before`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const number = await agentOpens(scene, agent, `feat: it\n\n${BOB}`);
    await scene.review(number, 'bob', 'approved');
    scene.forge.forcePush(scene.repository, number, { 'a.txt': 'a\n' }, { author: agent, message: 'feat: it' });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.false(scene.states(number).includes('success'));
  });

  test(`${name}: a co-author who is amended away is still one`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await agentOpens(scene, agent, `feat: it\n\nCo-authored-by: Bob <${hidden(name, 'bob')}>`);
    await scene.settled();
    scene.forge.forcePush(scene.repository, number, { 'a.txt': 'a\n' }, { author: agent, message: 'feat: it' });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /`bob`, who made a commit of this pull request that was there before/);
    await scene.comment(number, 'bob', `/gatehouse override approved ${scene.head(number)} hotfix 4711`);
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /by `bob` was written by somebody who made a commit of this pull request/);
    t.false(scene.states(number).includes('success'));
    await scene.review(number, 'carol', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: who made commits for another base branch may approve`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const { forge, repository } = scene;
    forge.commit(repository, 'release', { 'r.txt': 'r\n' }, { author: 'bob' });
    forge.commit(repository, 'release', { 'r.txt': 'r2\n' }, { author: 'bob' });
    const tip = forge.head(repository, 'release');
    forge.commit(repository, 'topic', { 'a.txt': 'a\n', 'r.txt': 'r2\n' }, { author: agent, merging: [tip] });
    const number = await scene.open('topic', { author: agent });
    await scene.settled();
    await scene.retarget(number, 'release');
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success', 'they were of the wrong base branch alone');
    await scene.retarget(number, 'main');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
  });

  test(`${name}: ten thousand co-authors, and names that are markup, do no harm`, async (t) => {
    const many = Array.from({ length: 10_000 }, (_, index) => `Co-authored-by: x <${index}@elsewhere.test>\n`).join('');
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await agentOpens(scene, agent, `feat: it\n\n${many}`);
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /not all co-authors of the commits could be read/);

    const other = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const hostile = 'Co-authored-by: @alice <img src=x>\u001b[31m\u202e`</details>|<@bob ![x](http://x.test)>';
    const marked = await agentOpens(other, agent, `feat: it\n\n${hostile}`);
    await other.settled();
    t.is(other.status(marked)?.state, 'pending');
    const text = other.comments(marked).join();
    t.false(text.includes('\u001b') || text.includes('\u202e'));
    t.regex(text, /``? ?.*img src=x/);
    t.notRegex(text.replaceAll(/(`+)[^\n]*?\1/g, ''), /<img|\]\(http:\/\/x\.test/);
  });

  test(`${name}: a co-author cannot override, and another person can`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await agentOpens(scene, agent, `feat: it\n\nCo-authored-by: Bob <${hidden(name, 'bob')}>`);
    const { headSha } = scene.forge.pull(scene.repository, number);
    const command = `/gatehouse override approved ${headSha} hotfix 4711`;
    await scene.comment(number, 'bob', command);
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /somebody whom a commit of this pull request names as its co-author/);
    await scene.comment(number, 'carol', command);
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  if (name !== 'github') {
    test(`${name}: accounts that cannot be read leave it undecided`, async (t) => {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
      const path = new RegExp(`^/repos/${scene.repository}/assignees$`);
      scene.forge.fault({ method: 'GET', path, fault: { kind: 'status', status: 403 } });
      const number = await agentOpens(scene, agent, `feat: it\n\n${BOB}`);
      await scene.review(number, 'bob', 'approved');
      await scene.settled();
      t.is(scene.status(number)?.state, 'error');
      t.false(scene.states(number).includes('success'));
      t.regex(scene.comments(number).join(), /not all co-authors of the commits could be read/);
    });
  }

  test(`${name}: nobody overrides what may be by a co-author without an account`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await agentOpens(scene, agent, 'feat: it\n\nCo-authored-by: Bob <bob@elsewhere.test>');
    const { headSha } = scene.forge.pull(scene.repository, number);
    await scene.comment(number, 'carol', `/gatehouse override approved ${headSha} hotfix 4711`);
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /no account is known for `bob@elsewhere\.test`/);
  });
}
