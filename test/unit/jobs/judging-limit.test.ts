import { JudgedTooOftenError, makeJudgingLimit } from '../../../src/jobs/review/judging-limit.ts';
import test from '../../helpers/test.ts';

const HOUR_MS = 60 * 60_000;

/** How many of so many pull requests, or of one again and again, are judged. */
function hour() {
  const clock = { now: 0 };
  const limit = makeJudgingLimit(() => clock.now);
  function judged(times: number, author: string, of: (time: number) => string): number {
    let count = 0;
    for (let time = 0; time < times; time++) {
      const [repository = '', number] = of(time).split('#');
      try {
        limit.count({ repository, number: Number(number), author });
        count += 1;
      } catch (error) {
        if (!(error instanceof JudgedTooOftenError) || error.retryAt === undefined) {
          throw error;
        }
      }
    }
    return count;
  }
  return { clock, judged };
}

test('a pull request is judged 60 times an hour, and others meanwhile', (t) => {
  const { clock, judged } = hour();
  const seventh = (times: number, repository = 'acme/widgets') => judged(times, 'mallory', () => `${repository}#7`);
  t.deepEqual([seventh(100), judged(1, 'alice', () => 'acme/widgets#8')], [60, 1]);
  clock.now += HOUR_MS - 1;
  t.is(seventh(1, 'acme/Widgets'), 0);
  clock.now += 1;
  t.is(seventh(100), 60);
});

test('the pull requests of an author are judged 300 times an hour together, for each owner', (t) => {
  const { judged } = hour();
  const inWidgets = judged(200, 'mallory', (time) => `acme/widgets#${time}`);
  const inGears = judged(200, 'Mallory', (time) => `acme/gears#${time}`);
  const elsewhere = judged(1, 'mallory', () => 'octo/site#1');
  t.deepEqual([inWidgets, inGears, elsewhere], [200, 100, 1]);
});
