import type { Worker } from 'node:worker_threads';
import { Redis } from 'ioredis';
import pg from 'pg';
import { DOOR, WORKER } from '../helpers/door.ts';
import { TWO_RULES } from '../helpers/policies.ts';
import { type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const STEPS = ['statements', 'transactions', 'commands', 'messages', 'requests'] as const;
/** Statements leave out looks for jobs; transactions count a statement outside of one too. */
type Steps = Readonly<Record<(typeof STEPS)[number], number>>;

const REVIEWS = ['failing', 'green', 'unchanged'] as const;
type StepsOfReviews = Readonly<Record<(typeof REVIEWS)[number], Steps>>;

/** Few slots, so that few poll. */
const ENVIRONMENT = { WORKER_CONCURRENCY: '1' };
/** Polls and other work in the background only add to a count, so that the least of several has none. */
const ROUNDS = 5;
const LOOKS_FOR_JOB = /FOR UPDATE OF j SKIP LOCKED|FROM \S+\.queue\s+WHERE EXISTS/;

/**
 * How many they are. One more is a cost for everybody, and must be meant. The commands are those of a machine so slow
 * that each request asks whether it has to wait; polls differ from run to run.
 */
const MOST: StepsOfReviews = {
  failing: { statements: 11, transactions: 11, commands: 10, messages: 5, requests: 6 },
  green: { statements: 9, transactions: 9, commands: 8, messages: 5, requests: 4 },
  unchanged: { statements: 3, transactions: 3, commands: 2, messages: 0, requests: 1 },
};

test('a review takes no more steps than are written down', async (t) => {
  const { steps, isLoopback } = await countSteps();
  t.log(
    ...(isLoopback ? [] : ['statements and commands are not counted: the stores are on no loopback address']),
    steps,
  );
  t.is(steps.green.statements > 0, isLoopback);
  t.true(steps.failing.requests > steps.green.requests, 'the failing review posts its comment');
  const over = (Object.keys(MOST) as (keyof StepsOfReviews)[]).flatMap((review) =>
    (Object.keys(MOST[review]) as (keyof Steps)[])
      .filter((step) => steps[review][step] > MOST[review][step])
      .map((step) => `${review}, ${step}: ${steps[review][step]} of ${MOST[review][step]}`),
  );
  t.deepEqual(over, []);
});

/** Reviews one after the other, of a worker on GitHub's simulated API. */
async function countSteps(): Promise<{ readonly steps: StepsOfReviews; readonly isLoopback: boolean }> {
  await using story = await tellStory('github', { '.gatehouse.yml': TWO_RULES }, ENVIRONMENT, DOOR);
  await using counter = await startCounter(story);
  const started = new Date();
  await using _worker = await story.openDoor(counter.environment, WORKER);
  await story.resynced(started);
  const open = (line: string) => story.openSilently({ 'src/a.ts': `one\n${line}\n` }, { title: 'feat: begin' });
  const review = async (number: number) => {
    const before = counter.read();
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
    await story.settled();
    return difference(counter.read(), before);
  };
  // What is done once only: modules, workers, connections, the policy.
  await review(open('two'));

  const rounds: StepsOfReviews[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const green = open('two');
    rounds.push({
      failing: await review(open('debugger')),
      green: await review(green),
      unchanged: await review(green),
    });
  }
  const least = (which: (typeof REVIEWS)[number], step: (typeof STEPS)[number]) =>
    Math.min(...rounds.map((round) => round[which][step]));
  return {
    steps: mapped(REVIEWS, (which) => mapped(STEPS, (step) => least(which, step))),
    isLoopback: story.environment['DATABASE_URL']?.includes(LOOPBACK) ?? false,
  };
}

/** The worker reaches its stores by this name, and everybody else by their address. */
const COUNTED_HOST = 'localhost';
const LOOPBACK = '127.0.0.1';

/** Counts what this process does by way of `COUNTED_HOST`. */
async function startCounter({ forge, environment }: Story) {
  let [statements, transactions, commands, messages] = [0, 0, 0, 0];
  const { query } = pg.Client.prototype;
  const { sendCommand } = Redis.prototype;
  const inTransaction = new WeakSet<pg.Client>();
  pg.Client.prototype.query = function (this: pg.Client, ...args: Parameters<typeof query>) {
    const [given] = args as unknown as [string | { readonly text?: string }];
    const text = typeof given === 'string' ? given : (given.text ?? '');
    if (this.host === COUNTED_HOST && !LOOKS_FOR_JOB.test(text)) {
      statements += 1;
      transactions += Number(!inTransaction.has(this));
      const begins = text.startsWith('BEGIN') || (inTransaction.has(this) && !text.includes('COMMIT'));
      inTransaction[begins ? 'add' : 'delete'](this);
    }
    return query.apply(this, args);
  } as typeof query;
  Redis.prototype.sendCommand = function (this: Redis, ...args) {
    commands += Number(this.options.host === COUNTED_HOST);
    return sendCommand.apply(this, args);
  };
  const countMessages = (worker: Worker) => {
    const message = () => {
      messages += 1;
    };
    const { postMessage, cpuUsage } = worker;
    worker.on('message', message);
    worker.postMessage = (...args: Parameters<typeof postMessage>) => {
      message();
      postMessage.apply(worker, args);
    };
    // The worker is interrupted to answer it.
    worker.cpuUsage = (...args) => {
      message();
      return cpuUsage.apply(worker, args);
    };
  };
  process.on('worker', countMessages);

  return {
    environment: Object.fromEntries(
      ['DATABASE_URL', 'REDIS_URL'].map((name) => [name, environment[name]?.replace(LOOPBACK, COUNTED_HOST) ?? '']),
    ),
    read: (): Steps => ({ statements, transactions, commands, messages, requests: forge.seen.length }),
    async [Symbol.asyncDispose]() {
      process.off('worker', countMessages);
      pg.Client.prototype.query = query;
      Redis.prototype.sendCommand = sendCommand;
    },
  };
}

function difference(after: Steps, before: Steps): Steps {
  return mapped(STEPS, (step) => after[step] - before[step]);
}

function mapped<Key extends string, Value>(keys: readonly Key[], of: (key: Key) => Value) {
  // A record has no other keys.
  return Object.fromEntries(keys.map((key) => [key, of(key)])) as Record<Key, Value>;
}
