import type { ExecutionContext } from 'ava';
import { ageHeartbeats, letHeartbeatsRunOut } from '../helpers/dead-worker.ts';
import { DOOR } from '../helpers/door.ts';
import { CLIENTS } from '../helpers/forges.ts';
import nightly from '../helpers/nightly.ts';
import { TWO_RULES } from '../helpers/policies.ts';
import { type GatehouseProcess, gatehouse } from '../helpers/process.ts';
import { startProxy } from '../helpers/proxy.ts';
import { REPOSITORY, type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

const FILES = {
  '.gatehouse.yml': TWO_RULES,
  'app.ts': 'one\ntwo\nthree\nfour\nfive\n',
};

/** The first report has nothing to compare with; the second updates, adds and takes away. */
const FIRST = { 'app.ts': 'debugger; // 1\ntwo\nthree\ndebugger; // 4\nfive\n' };
const SECOND = { 'app.ts': 'debugger; // 1\ntwo\ndebugger; // 3\nfour\nfive\n' };

/** A real worker, in a process that can be killed. */
async function startWorker(
  t: ExecutionContext,
  story: Story,
  env: Readonly<Record<string, string>> = {},
): Promise<GatehouseProcess> {
  const started = new Date();
  const worker = gatehouse(['work'], {
    ...story.environment,
    ...{ PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', DRAIN_SECONDS: '0', WORKER_CONCURRENCY: '32' },
    ...env,
  });
  t.teardown(() => worker.child.kill('SIGKILL'));
  await worker.logged('Gatehouse is listening');
  // It would find pull requests before the test sends their webhook.
  await story.resynced(started);
  return worker;
}

/** Ends in the middle of a status that it sets on a commit. */
async function killAtStatus(
  { forge, ...story }: Story,
  worker: GatehouseProcess,
  sha: string,
  { carriedOut, act }: { readonly carriedOut: boolean; readonly act: () => Promise<unknown> },
): Promise<void> {
  let asked = false;
  const path = new RegExp(`/statuses/${sha}$`);
  story.when('POST', path, () => {
    asked = true;
  });
  forge.fault({ method: 'POST', path, afterwards: carriedOut, times: 1, fault: { kind: 'hang' } });
  await act();
  await eventually('the worker sets the status', () => asked);
  worker.child.kill('SIGKILL');
  await worker.ended();
}

async function end(t: ExecutionContext, worker: GatehouseProcess): Promise<void> {
  worker.child.kill('SIGTERM');
  t.is((await worker.ended()).code, 0);
}

/** Of the jobs of a pull request. */
async function jobStates({ door }: Story, number: number): Promise<readonly string[]> {
  return (await door.jobs()).flatMap(({ key, state }) => (key === `${REPOSITORY}#${number}` ? [state] : []));
}

/** What a reader sees: the standing comments, and the status. Their links name the head, which is another for each. */
function seen(story: Story, number: number) {
  const { headSha } = story.forge.pull(story.repository, number);
  return {
    status: story.status(number),
    comments: story.comments(number).map((body) => body.replaceAll(headSha, 'HEAD')),
    inlines: story
      .inlines(number)
      .filter(({ body }) => body.startsWith('<!-- gatehouse:finding'))
      .map(({ path, line, body }) => `${path}:${line} ${body}`)
      .toSorted(),
  };
}

for (const name of CLIENTS) {
  test(`${name}: after a kill at any write the next worker completes the report once`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const { forge } = story;
    let worker = await startWorker(t, story);
    const writesOf = async (act: () => Promise<unknown>) => {
      const before = story.writes();
      await act();
      await story.settled();
      return story.writes() - before;
    };
    const prepare = () => story.openSilently(FIRST, { title: 'things' });
    const update = (number: number) => {
      const head = forge.push(REPOSITORY, number, SECOND);
      // So that a pending status is among the writes.
      story.impersonate(head, 'success', 'gatehouse');
      forge.edit(REPOSITORY, number, { title: 'docs: things' });
    };

    // The result without a kill.
    const model = prepare();
    const inFirst = await writesOf(() => story.tell({ kind: 'pull-request', number: model, action: 'opened' }));
    const afterFirst = seen(story, model);
    update(model);
    const inSecond = await writesOf(() => story.tell({ kind: 'pull-request', number: model, action: 'synchronize' }));
    const afterSecond = seen(story, model);
    t.true(inFirst >= 3 && inSecond >= 5, `${inFirst} and ${inSecond} writes`);
    t.is(afterSecond.inlines.length, 2);

    const points = [
      ...Array.from({ length: inFirst }, (_, index) => ({ report: 'first', nth: index + 1 })),
      ...Array.from({ length: inSecond }, (_, index) => ({ report: 'second', nth: index + 1 })),
    ].flatMap((point) => [
      { ...point, carriedOut: false },
      { ...point, carriedOut: true },
    ]);
    const victims = points.map((point) => ({ ...point, number: prepare() }));
    for (const { number, report } of victims) {
      if (report === 'second') {
        await story.tell({ kind: 'pull-request', number, action: 'opened' });
      }
    }
    await story.settled();

    const traps = victims.map(({ number, report, nth, carriedOut }) => {
      if (report === 'second') {
        update(number);
      }
      return story.trap(number, nth, carriedOut);
    });
    await Promise.all(victims.map(({ number }) => story.tell({ kind: 'pull-request', number, action: 'synchronize' })));
    await eventually('every review is stuck at its write', () => traps.every(({ sprung }) => sprung));
    worker.child.kill('SIGKILL');
    t.is((await worker.ended()).signal, 'SIGKILL');
    const { rows } = await story.door.database.query(
      "SELECT FROM gatehouse_jobs.job WHERE name = 'review' AND state = 'active'",
    );
    t.true(rows.length > 0, 'jobs of a worker that is dead');

    await letHeartbeatsRunOut(story.door.database);
    worker = await startWorker(t, story);
    await story.settled();
    for (const { number, report, nth, carriedOut } of victims) {
      const at = `killed ${carriedOut ? 'after' : 'before'} write ${nth} of the ${report} report`;
      t.deepEqual(seen(story, number), report === 'first' ? afterFirst : afterSecond, at);
    }
    await end(t, worker);
  });
}

test('a kill before the success of an old head was withdrawn never leaves it green', async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  const worker = await startWorker(t, story);
  const number = await story.settled(story.open({ 'app.ts': 'fine\n' }, { title: 'docs: things' }));
  const old = story.head(number);
  t.is(story.states(old).at(-1), 'success');
  const act = () => story.push(number, { 'app.ts': 'better\n' });
  await killAtStatus(story, worker, old, { carriedOut: false, act });
  // Nothing but the next worker looks for jobs whose worker is gone.
  await ageHeartbeats(story.door.database);
  const next = await startWorker(t, story);
  t.is(await story.verdict(old), 'pending');
  t.is(story.status(number)?.state, 'success');
  await end(t, next);
});

for (const carriedOut of [false, true]) {
  const when = carriedOut ? 'after the status' : 'between row and status';
  test(`a worker killed ${when} leaves one row, and the next one adds what was posted`, async (t) => {
    await using story = await tellStory('github', FILES, {}, DOOR);
    const recorded = async (table: string) => {
      const { rows } = await story.door.database.query<{ state: string }>(`SELECT state FROM gatehouse.${table}`);
      return rows.map(({ state }) => state);
    };
    const number = story.openSilently({ 'app.ts': 'fine\n' }, { title: 'docs: things' });
    const act = () => story.tell({ kind: 'pull-request', number, action: 'opened' });
    await killAtStatus(story, await startWorker(t, story), story.head(number), { carriedOut, act });
    t.deepEqual([await recorded('audit_verdicts'), await recorded('audit_postings')], [['success'], []]);

    await letHeartbeatsRunOut(story.door.database);
    const next = await startWorker(t, story);
    await story.settled();
    // Until it is judged again, a success that may stand there is replaced.
    t.deepEqual(story.states(number), [...(carriedOut ? ['success'] : []), 'pending', 'success']);
    t.deepEqual(await recorded('audit_verdicts'), ['success']);
    t.deepEqual(await recorded('audit_postings ORDER BY posted_at'), ['pending', 'success']);
    await end(t, next);
  });
}

test('a worker that gets SIGTERM finishes its review, and exits with 0', async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  const proxy = await startProxy(story.forge.url);
  t.teardown(() => proxy.close());
  const worker = await startWorker(t, story, { FORGE_URL: proxy.url });
  await proxy.hang();
  const number = await story.open(FIRST);
  // A connection alone may be one of the resync before.
  await eventually('the worker has the job, and waits for the forge', async () => {
    const jobs = await story.door.jobs();
    return jobs.some(({ key, state }) => key === `${REPOSITORY}#${number}` && state === 'active') && proxy.open > 0;
  });
  worker.child.kill('SIGTERM');
  await worker.logged('received a signal, stopping');
  await proxy.pass();
  t.is((await worker.ended()).code, 0);
  t.deepEqual(story.states(number), ['failure']);
  t.is(story.comments(number).length, 1);
  t.deepEqual(await jobStates(story, number), ['completed']);
});

nightly('a worker that stops while the forge hangs returns the job, and exits with 0', async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  const worker = await startWorker(t, story);
  const number = story.openSilently(FIRST);
  const trap = story.trap(number, 2, true);
  await story.tell({ kind: 'pull-request', number, action: 'opened' });
  await eventually('the review is stuck', () => trap.sprung);
  await end(t, worker);
  t.deepEqual(await jobStates(story, number), ['retry']);
  const next = await startWorker(t, story);
  t.is(await story.verdict(number), 'failure');
  t.is(story.comments(number).length, 1);
  t.is(story.inlines(number).length, 2);
  await end(t, next);
});

test('a worker that gets SIGTERM before it has started exits with 0', async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  const worker = gatehouse(['work'], { ...story.environment, PORT: '0', METRICS_PORT: '0', DRAIN_SECONDS: '0' });
  t.teardown(() => worker.child.kill('SIGKILL'));
  await worker.logged('Gatehouse is listening');
  await end(t, worker);
});
