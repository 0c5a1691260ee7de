import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { DOOR, openDoor } from '../helpers/door.ts';
import { startProxy } from '../helpers/proxy.ts';
import { startStores } from '../helpers/stores.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

/** Each way. A new connection takes four round trips of the four seconds that it has. */
const LATE_MS = 300;

test('stores that answer 600 ms late are never down, from the first connection on', async (t) => {
  const stores = await startStores();
  t.teardown(() => stores.close());
  await migrateStores(stores.database.url);
  const [database, redis] = [await startProxy(stores.database.url), await startProxy(stores.redis.url)];
  t.teardown(() => Promise.all([database.close(), redis.close()]));
  await Promise.all([database.delay(LATE_MS), redis.delay(LATE_MS)]);
  await using door = await openDoor({ DATABASE_URL: database.url, REDIS_URL: redis.url }, DOOR, { patience: 1 });
  await until(async () => (await fetch(`${door.url}/health`)).status === 200);
  for (let look = 0; look < 3; look++) {
    t.deepEqual([(await fetch(`${door.url}/health/ready`)).status, (await door.post('{}')).status], [200, 200]);
  }
});
