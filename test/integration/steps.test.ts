import { countSteps, type Steps, type StepsOfReviews } from '../helpers/count-steps.ts';
import test from '../helpers/test.ts';

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
  const steps = await countSteps();
  t.log(steps);
  t.true(steps.failing.requests > steps.green.requests, 'the failing review posts its comment');
  const over = (Object.keys(MOST) as (keyof StepsOfReviews)[]).flatMap((review) =>
    (Object.keys(MOST[review]) as (keyof Steps)[])
      .filter((step) => steps[review][step] > MOST[review][step])
      .map((step) => `${review}, ${step}: ${steps[review][step]} of ${MOST[review][step]}`),
  );
  t.deepEqual(over, []);
});
