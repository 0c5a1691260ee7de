import { makeHealth } from '../../src/http/health.ts';
import test from '../helpers/test.ts';

const up = async () => undefined;
/** A fifth of what checks and reports may take. */
const PATIENCE = 0.2;

test('while a check runs, the last finished result is the answer', async (t) => {
  let answer: Promise<string | undefined> = Promise.resolve(undefined);
  const health = makeHealth({ database: () => answer, redis: up }, {}, PATIENCE);
  t.deepEqual((await health()).database, { status: 'up' });
  const slow = Promise.withResolvers<string | undefined>();
  answer = slow.promise;
  t.deepEqual((await health()).database, { status: 'up' });
  slow.resolve('refused the connection');
  await slow.promise;
  t.deepEqual((await health()).database, { status: 'down', message: 'refused the connection' });
});

test('a hundred callers at once share one check', async (t) => {
  let checks = 0;
  const check = async () => {
    checks += 1;
    return undefined;
  };
  const health = makeHealth({ database: check, redis: up });
  await Promise.all(Array.from({ length: 100 }, health));
  t.is(checks, 1);
});

test('before a first check has finished, the dependency is down', async (t) => {
  const health = makeHealth({ database: () => Promise.withResolvers<undefined>().promise, redis: up }, {}, PATIENCE);
  t.deepEqual(await health(), {
    database: { status: 'down', message: 'has not answered yet' },
    redis: { status: 'up' },
  });
});

test('a check that does not answer in time is down, and the next one is awaited again', async (t) => {
  const answers: Promise<undefined>[] = [Promise.resolve(undefined), Promise.withResolvers<undefined>().promise];
  const health = makeHealth({ database: () => answers.shift() ?? Promise.resolve(undefined), redis: up }, {}, PATIENCE);
  const seen: string[] = [];
  const look = async () => {
    const { status, message } = (await health()).database;
    seen.push(message ?? status);
  };
  // The second check takes as long as four answers. Timers that are due at once do not say if the last is "up".
  while (seen.at(-1) !== 'did not answer within 0.8 s' && seen.length < 10) {
    await look();
  }
  t.deepEqual(seen.slice(0, 3), ['up', 'up', 'up']);
  t.is(seen.at(-1), 'did not answer within 0.8 s', seen.join(', '));
  await look();
  t.is(seen.at(-1), 'up');
});

test('a check that throws is down, and does not stop the others', async (t) => {
  const health = makeHealth({ database: () => Promise.reject(new Error('a defect')), redis: up });
  t.deepEqual(await health(), {
    database: { status: 'down', message: 'could not be checked' },
    redis: { status: 'up' },
  });
});
