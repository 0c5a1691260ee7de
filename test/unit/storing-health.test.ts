import { makeStoringHealth } from '../../src/inbox/storing-health.ts';
import test from '../helpers/test.ts';

const FAULT = 'cannot store deliveries';

function atTime() {
  const clock = { now: 100_000, changes: 0 };
  const storing = makeStoringHealth(
    () => {
      clock.changes += 1;
    },
    () => clock.now,
  );
  return { clock, storing };
}

test('one refusal between stored deliveries is not a fault', (t) => {
  const { clock, storing } = atTime();
  storing.failed(clock.now);
  clock.now += 2_000;
  storing.stored();
  clock.now += 10_000;
  t.is(storing.fault(), undefined);
  t.is(clock.changes, 0);
});

test('three seconds in which nothing was stored are a fault, told once', (t) => {
  const { clock, storing } = atTime();
  storing.failed(clock.now);
  clock.now += 3_000;
  t.is(storing.fault(), FAULT);
  storing.failed(clock.now);
  storing.failed(clock.now);
  t.is(clock.changes, 1);
  storing.stored();
  t.is(storing.fault(), undefined);
  t.is(clock.changes, 2);
});

test('a delivery that waited for four seconds in vain is a fault at once', (t) => {
  const { clock, storing } = atTime();
  storing.failed(clock.now - 4_000);
  t.is(storing.fault(), FAULT);
});

test('a delivery that waited in vain while others were stored is not a fault', (t) => {
  const { clock, storing } = atTime();
  storing.stored();
  storing.failed(clock.now - 4_000);
  t.is(storing.fault(), undefined);
});

test('nothing is written to find out while deliveries are stored', async (t) => {
  const { storing } = atTime();
  t.is(await storing.check(() => Promise.reject(new Error('was called'))), undefined);
});

test('a probe that writes ends the fault, and one that fails does not', async (t) => {
  const { clock, storing } = atTime();
  storing.failed(clock.now - 4_000);
  t.is(await storing.check(() => Promise.reject(new Error('disk full'))), FAULT);
  t.is(storing.fault(), FAULT);
  t.is(await storing.check(async () => {}), undefined);
  t.is(storing.fault(), undefined);
});
