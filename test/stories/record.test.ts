import { recordAsText } from '../helpers/audit.ts';
import { letHeartbeatsRunOut } from '../helpers/dead-worker.ts';
import { DOOR } from '../helpers/door.ts';
import { gatehouse as command, type GatehouseProcess } from '../helpers/process.ts';
import { forgesOf, type Scene, type Story, shareStories, tellStory } from '../helpers/story.ts';
import ava from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

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

const headOf = ({ forge, repository }: Scene, number: number) => forge.pull(repository, number).headSha;

for (const name of FORGES) {
  test(`${name}: a verdict is recorded with its rules, approvals and policy`, async (t) => {
    const scene = shared(name).scene(FILES);
    const number = await scene.settled(scene.open({ 'app.ts': `one\n${SECRET_LINE}\n` }, { title: 'feat: keys' }));
    const [first, ...more] = await verdicts(scene, number);
    t.deepEqual(more, []);
    t.is(first?.state, 'failure');
    t.is(first?.policy, POLICY);
    t.deepEqual(
      first?.rules?.map(({ id, outcome }) => `${id} ${outcome}`),
      ['title passed', 'no-keys failed', 'review waiting'],
    );
    t.deepEqual(first?.rules?.[1]?.places, [{ path: 'app.ts', line: 2 }]);
    t.deepEqual(first?.approvals, []);
    t.deepEqual(await postings(scene, headOf(scene, number)), ['failure']);

    await scene.settled(scene.review(number, 'bob', 'approved'));
    const after = await verdicts(scene, number);
    t.deepEqual(
      after.map(({ approvals }) => approvals?.map(({ login }) => login)),
      [[], ['bob']],
    );
  });

  test(`${name}: neither a line that was found nor a title or message is recorded`, async (t) => {
    const scene = shared(name).scene(FILES);
    const number = await scene.open({ 'app.ts': `one\n${SECRET_LINE}\n` }, { title: 'the password is hunter2' });
    t.is(await scene.verdict(number), 'failure');
    const text = await recordAsText(scene.door.database);
    t.regex(text, /no-keys/);
    t.notRegex(text, /AKIAQWERTYUIOPASDFGH|hunter2/);
  });

  test(`${name}: a review that changes nothing adds no row`, async (t) => {
    const scene = shared(name).scene(FILES);
    const number = scene.openSilently({ 'app.ts': `one\n${SECRET_LINE}\n` });
    // It tells who pushed, which a verdict says where it is not known.
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'synchronize' }));
    const head = headOf(scene, number);
    const before = [await verdicts(scene, number), await postings(scene, head)];
    await scene.tell({ kind: 'pull-request', number, action: 'edited' });
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'synchronize' }));
    t.deepEqual((await verdicts(scene, number)).length, 1);
    t.is(before[0]?.length, 1);
    t.is(scene.status(number)?.state, 'failure');
  });
}

test('with ENFORCE=false the verdict is recorded, and that it was not enforced', async (t) => {
  await using story = await tellStory('github', FILES, { ENFORCE: 'false' });
  const number = await story.settled(story.open({ 'app.ts': `one\n${SECRET_LINE}\n` }));
  const { rows } = await story.door.database.query(
    'SELECT state, enforced FROM gatehouse.audit_verdicts WHERE pull_request = $1',
    [number],
  );
  t.deepEqual(rows, [{ state: 'failure', enforced: false }]);
  t.deepEqual(await postings(story, headOf(story, number)), ['success']);
});

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
  await scene.settled(scene.comment(number, 'bob', `/gatehouse override title ${headOf(scene, number)} hotfix 4711`));
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

test('a review whose row cannot be stored posts no verdict, and is retried', async (t) => {
  await using story = await tellStory('github', FILES);
  const { database } = story.door;
  await database.query('ALTER TABLE gatehouse.audit_verdicts ADD CONSTRAINT full_disk CHECK (false)');
  const number = await story.settled(story.open({ 'app.ts': 'two\n' }, { title: 'feat: things' }));
  t.deepEqual(story.states(number), []);
  const { rows } = await database.query('SELECT verdict FROM gatehouse.reviews WHERE pull_request = $1', [number]);
  t.deepEqual(rows, [{ verdict: null }]);

  await database.query('ALTER TABLE gatehouse.audit_verdicts DROP CONSTRAINT full_disk');
  await story.settled(story.tell({ kind: 'pull-request', number, action: 'synchronize' }));
  t.deepEqual(story.states(number), ['success']);
  t.is((await verdicts(story, number)).length, 1);
});

/** A real worker, in a process that can be killed. */
async function startWorker(story: Story): Promise<GatehouseProcess> {
  const started = new Date();
  const worker = command(['work'], {
    ...story.environment,
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    DRAIN_SECONDS: '0',
  });
  await worker.logged('Gatehouse is listening');
  await story.resynced(started);
  return worker;
}

for (const carriedOut of [false, true]) {
  const when = carriedOut ? 'after the status' : 'between row and status';
  test(`a worker killed ${when} leaves one row, and the next one adds what was posted`, async (t) => {
    await using story = await tellStory('github', FILES, {}, DOOR);
    let worker = await startWorker(story);
    t.teardown(() => worker.child.kill('SIGKILL'));
    const number = story.openSilently({ 'app.ts': 'two\n' }, { title: 'feat: things' });
    const head = headOf(story, number);
    const isStatus = new RegExp(`/statuses/${head}$`);
    let asked = false;
    story.when('POST', isStatus, () => {
      asked = true;
    });
    story.forge.fault({ method: 'POST', path: isStatus, afterwards: carriedOut, times: 1, fault: { kind: 'hang' } });
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
    await eventually('the worker posts the status', () => asked);
    worker.child.kill('SIGKILL');
    await worker.ended();
    t.deepEqual(
      (await verdicts(story, number)).map(({ state }) => state),
      ['success'],
    );
    t.deepEqual(await postings(story, head), []);

    await letHeartbeatsRunOut(story.door.database);
    worker = await startWorker(story);
    await story.settled();
    // Until it is judged again, a success that may stand there is replaced.
    t.deepEqual(story.states(number), [...(carriedOut ? ['success'] : []), 'pending', 'success']);
    t.is((await verdicts(story, number)).length, 1);
    t.deepEqual(await postings(story, head), ['pending', 'success']);
    worker.child.kill('SIGTERM');
    t.is((await worker.ended()).code, 0);
  });
}
