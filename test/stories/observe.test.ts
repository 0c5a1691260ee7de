import { readObserved } from '../../src/audit/read-observed.ts';
import { noise, SLOW_TO_EVALUATE } from '../helpers/hostile-policies.ts';
import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import ava from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const test = ava.serial;
const gatehouse = shareStories(ava, [...FORGES, 'github']);

const POLICY = `version: 1
override: { by: bob }
rules:
  - { id: titled, require: { title: '^feat: ' } }
  - { id: no-todo, level: observe, forbid: { added_lines: TODO } }
  - { id: reviewed, level: observe, require: { approvals: 1 } }
  - { id: docs, level: observe, when: { label: docs }, require: { files: 'docs/**' } }
`;
const TODO = { 'a.txt': 'TODO: later\n' };

/** What the newest verdict on a pull request recorded of each rule. */
async function recorded({ door, repository }: Scene, number: number): Promise<readonly string[]> {
  const { rows } = await door.database.query<{ rules: readonly { id: string; level: string; outcome: string }[] }>(
    `SELECT rules FROM gatehouse.audit_verdicts
      WHERE repository = $1 AND pull_request = $2 ORDER BY answered_at DESC LIMIT 1`,
    [repository, number],
  );
  return (rows[0]?.rules ?? []).map(({ id, level, outcome }) => `${id} ${level} ${outcome}`);
}

const FAILED = 'gatehouse_observed_rules_total{outcome="failed"}';

for (const name of FORGES) {
  test(`${name}: an observed rule is recorded and counted, and not shown`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const before = await scene.metric(FAILED);
    const number = await scene.settled(scene.open(TODO, { title: 'feat: a' }));
    t.deepEqual(scene.status(number), { state: 'success', description: 'The rule that applies is met' });
    t.deepEqual(scene.comments(number), []);
    t.deepEqual(scene.inlines(number), []);
    t.deepEqual(await recorded(scene, number), [
      'titled error passed',
      'no-todo observe failed',
      'reviewed observe waiting',
      'docs observe inactive',
    ]);
    t.true((await scene.metric(FAILED)) > before);

    const failing = await scene.settled(scene.open({ 'b.txt': 'TODO: later\n' }, { title: 'things' }));
    t.deepEqual(scene.status(failing), { state: 'failure', description: '1 of 1 rule failed: titled' });
    t.notRegex(scene.comments(failing).join(), /no-todo|reviewed|docs|TODO/);
    t.regex(scene.comments(failing).join(), /1 problem to fix/);
    t.deepEqual(scene.inlines(failing), []);

    t.deepEqual(await readObserved(scene.door.database, { repository: scene.repository }, 9), [
      { rule: 'no-todo', observed: true, pullRequests: 2, wouldFail: 2, wouldWait: 0, notJudged: 0 },
      { rule: 'reviewed', observed: true, pullRequests: 2, wouldFail: 0, wouldWait: 2, notJudged: 0 },
    ]);
  });

  test(`${name}: an observed rule follows reviews until its level is raised`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open(TODO, { title: 'feat: a' }));
    await scene.settled(scene.review(number, 'bob', 'approved'));
    t.is((await recorded(scene, number))[2], 'reviewed observe passed');

    forge.commit(repository, 'main', { '.gatehouse.yml': POLICY.replaceAll('level: observe', 'level: error') });
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    t.deepEqual(scene.status(number), { state: 'failure', description: '1 of 3 rules failed: no-todo' });
    t.is(scene.inlines(number).length, 1);
  });
}

test('an observed rule that takes too long to evaluate ends no other', async (t) => {
  const policy = `version: 1\nrules:\n  - { id: titled, require: { title: '^feat: ' } }\n  - id: slow\n    level: observe\n${SLOW_TO_EVALUATE}\n`;
  const scene = gatehouse('github').scene({ '.gatehouse.yml': policy });
  const files = Array.from({ length: 8 }, (_, index) => [`src/${index}.txt`, noise(1_000)] as const);
  const number = await scene.settled(scene.open(Object.fromEntries(files), { title: 'feat: a' }));
  t.deepEqual(scene.status(number), { state: 'success', description: 'The rule that applies is met' });
  t.deepEqual(await recorded(scene, number), ['titled error passed', 'slow observe undecided']);
});
