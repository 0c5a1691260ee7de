import { secondsSinceQueued } from '../../../src/jobs/queue/job-age.ts';
import test from '../../helpers/test.ts';

const at = (seconds: number) => new Date(1_000 * seconds);

test('the time from webhook to status never mixes the clocks of two machines', (t) => {
  let now = 50_000;
  // The database is in another decade than this machine.
  const seconds = secondsSinceQueued({ createdOn: at(10), startedOn: at(12) }, () => now);
  t.is(seconds(), 2);
  now += 3_500;
  t.is(seconds(), 5.5);
});

test('the time from webhook to status is never negative', (t) => {
  const seconds = secondsSinceQueued({ createdOn: at(3_600), startedOn: at(0) }, () => 0);
  t.is(seconds(), 0);
});
