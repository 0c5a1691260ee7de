import { makeArrivalWatch } from '../../src/http/body-arrival.ts';
import test from '../helpers/test.ts';

test('of more than 1,000 bodies of which no byte has arrived, the oldest gives way', (t) => {
  const watchArrival = makeArrivalWatch();
  const stopped: string[] = [];
  const watch = (id: number) => watchArrival((reason) => stopped.push(`${id}: ${reason}`));
  const arrivals = Array.from({ length: 1_000 }, (_, id) => watch(id));
  t.deepEqual(stopped, []);
  arrivals.push(watch(1_000));
  t.deepEqual(stopped, ['0: overloaded']);
  arrivals[1]?.progress(1);
  arrivals[2]?.end();
  arrivals.push(watch(1_001), watch(1_002));
  t.deepEqual(stopped, ['0: overloaded']);
  arrivals.push(watch(1_003));
  t.deepEqual(stopped, ['0: overloaded', '3: overloaded']);
  for (const arrival of arrivals) {
    arrival.end();
  }
});
