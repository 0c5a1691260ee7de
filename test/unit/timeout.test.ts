import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { withTimeout } from '../../src/common/timeout.ts';
import test from '../helpers/test.ts';

const LIMIT_MS = 20;

test('an answer that came in time is never late because this process was busy', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  t.teardown(() => {
    client.destroy();
    server.close();
  });
  const [socket] = await once(server, 'connection');
  const answered = once(client, 'data').then(([bytes]) => String(bytes));
  const outcome = withTimeout(LIMIT_MS, answered, () => 'late');
  socket.write('in time');
  for (const start = performance.now(); performance.now() - start < 2 * LIMIT_MS; ) {
    // Whoever computes reads no sockets.
  }
  t.is(await outcome, 'in time');
});

test('what never answers is late', async (t) => {
  const { promise } = Promise.withResolvers<string>();
  t.is(await withTimeout(LIMIT_MS, promise, () => 'late'), 'late');
});
