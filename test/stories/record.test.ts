import { recordAsText } from '../helpers/audit.ts';
import { forgesOf, type Scene, shareStories, tellStory } from '../helpers/story.ts';
import ava from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const test = ava.serial;
const shared = shareStories(ava, FORGES);

const SECRET_LINE = 'const key = "AKIAQWERTYUIOPASDFGH";';
const POLICY = `version: 1
rules:
  - id: title
    require: { title: '^feat: ' }
  - id: no-keys
    forbid: { added_lines: 'AKIA[A-Z]{16}', in: ['**/*.ts'] }
  - id: review
    require: { approvals: { count: 1 } }
    level: warn
`;
const FILES = { '.gatehouse.yml': POLICY, 'app.ts': 'one\n' };

interface Row {
  readonly state: string;
  readonly head: string;
  readonly rules: readonly { readonly id: string; readonly outcome: string; readonly places?: unknown }[] | null;
  readonly approvals: readonly { readonly login: string }[] | null;
  readonly policy: string | null;
  readonly group: string | null;
}

async function verdicts({ door, repository }: Scene, number: number): Promise<readonly Row[]> {
  const { rows } = await door.database.query<Row>(
    `SELECT state, head_sha AS head, rules, approvals, convert_from(body, 'UTF8') AS policy, merge_group_sha AS group
       FROM gatehouse.audit_verdicts v LEFT JOIN gatehouse.audit_texts t ON t.digest = v.policy_digest
      WHERE repository = $1 AND pull_request = $2 ORDER BY answered_at`,
    [repository, number],
  );
  return rows;
}

async function postings({ door, repository }: Scene, headSha: string): Promise<readonly string[]> {
  const { rows } = await door.database.query<{ state: string }>(
    'SELECT state FROM gatehouse.audit_postings WHERE repository = $1 AND head_sha = $2 ORDER BY posted_at',
    [repository, headSha],
  );
  return rows.map(({ state }) => state);
}

for (const name of FORGES) {
  test(`${name}: a verdict is recorded with its rules, approvals and policy, without what it quotes`, async (t) => {
    const scene = shared(name).scene(FILES);
    const title = 'the password is hunter2';
    const number = await scene.settled(scene.open({ 'app.ts': `one\n${SECRET_LINE}\n` }, { title }));
    const [first, ...more] = await verdicts(scene, number);
    t.deepEqual(more, []);
    t.like(first, { state: 'failure', policy: POLICY, approvals: [] });
    t.deepEqual(
      first?.rules?.map(({ id, outcome }) => `${id} ${outcome}`),
      ['title failed', 'no-keys failed', 'review waiting'],
    );
    t.deepEqual(first?.rules?.[1]?.places, [{ path: 'app.ts', line: 2 }]);
    t.deepEqual(await postings(scene, scene.head(number)), ['failure']);
    const text = await recordAsText(scene.door.database);
    t.regex(text, /no-keys/);
    t.notRegex(text, /AKIAQWERTYUIOPASDFGH|hunter2/);

    await scene.settled(scene.review(number, 'bob', 'approved'));
    const after = await verdicts(scene, number);
    t.deepEqual(
      after.map(({ approvals }) => approvals?.map(({ login }) => login)),
      [[], ['bob']],
    );
  });
}

test('without a policy nothing is recorded, and its deletion is', async (t) => {
  const without = shared('github').scene({ 'app.ts': 'one\n' });
  const first = await without.settled(without.open({ 'app.ts': 'two\n' }));
  t.deepEqual(await verdicts(without, first), []);

  const scene = shared('github').scene(FILES);
  const number = await scene.settled(scene.open({ 'app.ts': `one\n${SECRET_LINE}\n` }));
  scene.forge.commit(scene.repository, 'main', { '.gatehouse.yml': null });
  await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'edited' }));
  t.deepEqual(
    (await verdicts(scene, number)).map(({ state }) => state),
    ['failure', 'none'],
  );
});

test('an override is recorded with who and why', async (t) => {
  const policy = POLICY.replace('rules:', 'override: { by: bob }\nrules:');
  const scene = shared('github').scene({ ...FILES, '.gatehouse.yml': policy });
  const number = await scene.settled(scene.open({ 'app.ts': 'two\n' }, { title: 'things' }));
  await scene.settled(scene.comment(number, 'bob', `/gatehouse override title ${scene.head(number)} hotfix 4711`));
  const { rows } = await scene.door.database.query(
    `SELECT state, overrides -> 0 ->> 'rule' AS rule, overrides -> 0 ->> 'login' AS login, overrides -> 0 ->> 'reason' AS reason
       FROM gatehouse.audit_verdicts WHERE repository = $1 AND pull_request = $2 ORDER BY answered_at`,
    [scene.repository, number],
  );
  t.deepEqual(rows, [
    { state: 'failure', rule: null, login: null, reason: null },
    { state: 'success', rule: 'title', login: 'bob', reason: 'hotfix 4711' },
  ]);
  const changes = await scene.door.database.query(
    'SELECT rule, change FROM gatehouse.audit_rule_changes WHERE repository = $1 ORDER BY changed_at',
    [scene.repository],
  );
  t.deepEqual(changes.rows, [
    { rule: 'title', change: 'failed' },
    { rule: 'title', change: 'overridden' },
  ]);
});

test('github: a merge group adds a row for each of its pull requests', async (t) => {
  const scene = shared('github').scene(FILES);
  const numbers = ['feat: one', 'two'].map((title, index) =>
    scene.openSilently({ [`${index}.txt`]: 'a\n' }, { title }),
  );
  const groups = numbers.map((number) => ({ number, headSha: scene.forge.enqueue(scene.repository, number) }));
  const last = groups.at(-1);
  if (last === undefined) {
    throw new Error('the queue is empty');
  }
  for (let times = 0; times < 2; times++) {
    await scene.settled(scene.tell({ kind: 'merge-group', action: 'checks_requested', ...last }));
  }
  for (const [index, number] of numbers.entries()) {
    t.deepEqual(
      (await verdicts(scene, number)).map(({ state, group }) => ({ state, group })),
      [{ state: index === 0 ? 'success' : 'failure', group: last.headSha }],
    );
  }
  t.deepEqual(await postings(scene, last.headSha), ['pending', 'failure', 'pending', 'failure']);
});

test('github: a merge group adds the verdict that is stored of a pull request as it was recorded', async (t) => {
  const scene = shared('github').scene(FILES);
  const { forge, repository, door } = scene;
  const judged = await scene.settled(scene.open({ 'app.ts': `one\n${SECRET_LINE}\n` }, { title: 'feat: one' }));
  await scene.settled(scene.review(judged, 'bob', 'approved'));
  const unseen = scene.openSilently({ '2.txt': 'a\n' }, { title: 'feat: two' });
  const [, group] = [judged, unseen].map((number) => ({ number, headSha: forge.enqueue(repository, number) }));
  for (let times = 0; group !== undefined && times < 2; times++) {
    await scene.settled(scene.tell({ kind: 'merge-group', action: 'checks_requested', ...group }));
  }
  const { rows } = await door.database.query<{ number: number; group: string | null; said: object; later: boolean }>(
    `SELECT pull_request AS number, merge_group_sha AS group, asked_at > lag(answered_at) OVER times AS later,
            to_jsonb(v) - '{asked_at,answered_at,merge_group_sha}'::text[] AS said
       FROM gatehouse.audit_verdicts v WHERE repository = $1
     WINDOW times AS (PARTITION BY pull_request ORDER BY answered_at) ORDER BY pull_request, answered_at`,
    [repository],
  );
  const headSha = group?.headSha;
  t.deepEqual(
    rows.map(({ number, group: of }) => [number, of]),
    [
      [judged, null],
      [judged, null],
      [judged, headSha],
      [unseen, headSha],
    ],
  );
  t.like(rows[2]?.said, { state: 'failure', author: 'alice', approvals: [{ login: 'bob' }] });
  t.deepEqual(rows[2]?.said, rows[1]?.said);
  t.true(rows[2]?.later, 'it was asked for with the group');
  t.deepEqual(await postings(scene, headSha ?? ''), ['pending', 'failure', 'pending', 'failure']);
});

test('a review whose row cannot be stored posts no verdict, and is retried', async (t) => {
  await using story = await tellStory('github', FILES);
  const { database } = story.door;
  await database.query('ALTER TABLE gatehouse.audit_verdicts ADD CONSTRAINT full_disk CHECK (false)');
  const number = await story.settled(story.open({ 'app.ts': 'two\n' }, { title: 'feat: things' }));
  t.deepEqual(story.states(number), []);
  const { rows } = await database.query('SELECT verdict FROM gatehouse.reviews WHERE pull_request = $1', [number]);
  t.deepEqual(rows, [{ verdict: null }]);

  await database.query('ALTER TABLE gatehouse.audit_verdicts DROP CONSTRAINT full_disk');
  await story.judge(number);
  t.deepEqual(story.states(number), ['success']);
  t.is((await verdicts(story, number)).length, 1);
});
