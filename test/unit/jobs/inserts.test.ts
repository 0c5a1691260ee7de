import { insertsByQueue } from '../../../src/jobs/queue/engine.ts';
import { QUEUES } from '../../../src/jobs/queues.ts';
import test from '../../helpers/test.ts';

test('the first of the deliveries in a batch that ask for one review is its origin', (t) => {
  const request = (delivery: string) =>
    ({ kind: 'review', repository: 'acme/widgets', number: 1, origin: { delivery } }) as const;
  const inserts = insertsByQueue(QUEUES, [request('first'), request('second')]);
  t.deepEqual(
    inserts.map(([queue, jobs]) => [queue, jobs.map(({ data }) => data)]),
    [['review', [{ repository: 'acme/widgets', number: 1, origin: { delivery: 'first' } }]]],
  );
});
