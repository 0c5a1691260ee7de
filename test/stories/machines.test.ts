import { DOOR } from '../helpers/door.ts';
import { forgesOf, type Scene, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

/** Accounts of programs, which only their operator may know: none of them is a second pair of eyes. */
const gatehouse = shareStories(test, FORGES, { env: { MACHINE_ACCOUNTS: 'coder, *-bot,*@agents.test' } });

const APPROVED = `version: 1
override: { by: [review-bot, helper, carol] }
machine_accounts: [helper]
rules:
  - id: approved
    require: { approvals: { count: 1, unknown_authors: undecided } }
`;
const NAMED = APPROVED.replace('count: 1', 'count: 1, from: [review-bot]');
const TWO_FOR_AGENTS = `version: 1
rules:
  - id: two
    when: { contributors: { bots: true } }
    require: { approvals: 2 }
`;

const WELCOME = `version: 1
rules:
  - id: welcome
    when: { contributors: { first_time: true } }
    require: { approvals: 2 }
`;

const FORBIDDEN = `version: 1
rules:
  - id: welcome
    forbid: { contributors: { first_time: true } }
`;
const KNOWN = FORBIDDEN.replace('forbid: ', 'require: { not: ').replace('true } }', 'true } } }');
const STRANGERS = WELCOME.replace(
  'when: { contributors: { first_time: true } }',
  'when: { all: [{ contributors: { first_time: true } }, { not: { author: alice } }] }',
);

/** A pull request of the account `author`, of one commit of it. */
async function opened(scene: Scene, author: string, message = 'feat: it'): Promise<number> {
  const { forge, repository } = scene;
  forge.commit(repository, 'topic', { 'a.txt': 'a\n' }, { author, message });
  const number = forge.openPullRequest(repository, { head: 'topic', author });
  await scene.tell({ kind: 'pull-request', number, action: 'opened' });
  return number;
}

for (const name of FORGES) {
  for (const machine of ['coder', 'Review-Bot', 'helper']) {
    test(`${name}: an approval by the machine ${machine} does not count`, async (t) => {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
      const number = await opened(scene, 'alice');
      await scene.review(number, machine, 'approved');
      await scene.settled();
      t.is(scene.status(number)?.state, 'pending');
      t.false(scene.states(number).includes('success'));
      t.true(scene.comments(number).join().includes(`\`${machine}\`, a bot that the policy does not name`));
      await scene.review(number, 'bob', 'approved');
      await scene.settled();
      t.is(scene.status(number)?.state, 'success');
    });
  }

  test(`${name}: a machine that the policy names may approve`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': NAMED });
    const number = await opened(scene, 'alice');
    await scene.review(number, 'review-bot', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a machine cannot override, and a person can`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await opened(scene, 'alice');
    const command = `/gatehouse override approved ${scene.head(number)} hotfix 4711`;
    await scene.comment(number, 'review-bot', command);
    await scene.comment(number, 'helper', command);
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /by `review-bot` was written by a bot/);
    t.regex(scene.comments(number).join(), /by `helper` was written by a bot/);
    await scene.comment(number, 'carol', command);
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: the address of a machine is no unknown person’s`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await opened(scene, 'alice', 'feat: it\n\nCo-authored-by: Coder <noreply@agents.test>');
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    const other = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const unknown = await opened(other, 'alice', 'feat: it\n\nCo-authored-by: Coder <noreply@elsewhere.test>');
    await other.review(unknown, 'bob', 'approved');
    await other.settled();
    t.is(other.status(unknown)?.state, 'error');
  });

  test(`${name}: what a machine has a part in needs two people`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': TWO_FOR_AGENTS });
    const number = await opened(scene, 'alice', 'feat: it\n\nCo-authored-by: Coder <noreply@agents.test>');
    await scene.review(number, 'bob', 'approved');
    await scene.review(number, 'review-bot', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.false(scene.states(number).includes('success'));
    await scene.review(number, 'carol', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a commit of a machine, merged in by a person, needs two people`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': TWO_FOR_AGENTS });
    const number = await opened(scene, 'alice');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    scene.forge.push(scene.repository, number, { 'b.txt': 'b\n' }, { author: 'coder' });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
  });

  test(`${name}: what a newcomer brings in needs two people`, async (t) => {
    // Only GitHub tells who is one.
    const isTold = name === 'github';
    const scene = gatehouse(name).scene({ '.gatehouse.yml': WELCOME });
    const number = await opened(scene, 'newcomer');
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, isTold ? 'pending' : 'error');
    t.false(scene.states(number).includes('success'));
    await scene.review(number, 'carol', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    const known = gatehouse(name).scene({ '.gatehouse.yml': WELCOME });
    const other = await opened(known, 'regular');
    await known.settled();
    t.is(known.status(other)?.state, isTold ? 'success' : 'error');
  });

  test(`${name}: a member may never have committed: nothing is green for not telling`, async (t) => {
    // To GitHub, alice is a member of the organisation: that says nothing of commits.
    for (const policy of [WELCOME, FORBIDDEN, KNOWN]) {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': policy });
      const number = await opened(scene, 'alice');
      await scene.settled();
      t.is(scene.status(number)?.state, 'error', policy);
      t.regex(scene.comments(number).join(), /does not say whether the author has committed before.*not: \{ author:/);
    }
    const scene = gatehouse(name).scene({ '.gatehouse.yml': STRANGERS });
    const number = await opened(scene, 'alice');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success', 'as the comment says');
  });

  test(`${name}: an account that becomes a machine takes its approval back`, async (t) => {
    const policy = 'version: 1\nrules: [{ id: approved, require: { approvals: 1 } }]\n';
    await using story = await tellStory(name, { '.gatehouse.yml': policy }, {}, DOOR);
    const number = await opened(story, 'alice');
    story.forge.review(story.repository, number, 'approver', 'approved');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    await workerComesBy(story, { MACHINE_ACCOUNTS: 'approver' });
    t.is(story.status(number)?.state, 'pending');
  });
}
