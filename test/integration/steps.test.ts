import test from 'ava';
import { countSteps, STEPS, type StepsOfReviews, stepsTable } from '../../bench/steps.ts';

/** How many they are. One more is a cost for everybody, and must be meant. */
const MOST: StepsOfReviews = {
  failing: {
    statements: 15,
    transactions: 15,
    looks: 3,
    commands: 10,
    messages: 7,
    requests: 6,
    storeBytes: 7_500,
    forgeBytes: 7_000,
  },
  green: {
    statements: 13,
    transactions: 13,
    looks: 3,
    commands: 8,
    messages: 7,
    requests: 4,
    storeBytes: 7_500,
    forgeBytes: 4_600,
  },
  unchanged: {
    statements: 7,
    transactions: 7,
    looks: 3,
    commands: 2,
    messages: 0,
    requests: 1,
    storeBytes: 6_800,
    forgeBytes: 1_600,
  },
};

test('a review takes no more steps than are written down', async (t) => {
  const steps = await countSteps();
  t.log(stepsTable(steps));
  const over = (Object.keys(MOST) as (keyof StepsOfReviews)[]).flatMap((review) =>
    (Object.keys(STEPS) as (keyof typeof STEPS)[])
      .filter((step) => steps[review][step] > MOST[review][step])
      .map((step) => `${review}, ${step}: ${steps[review][step]} of ${MOST[review][step]}`),
  );
  t.deepEqual(over, []);
});
