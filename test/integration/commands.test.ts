import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SECRET, shareDoor } from '../helpers/door.ts';
import { gatehouse } from '../helpers/process.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;
const emptyDoor = shareDoor(ava);

test('send signs a file, posts it and prints the answer, but never the secret', async (t) => {
  const door = await emptyDoor();
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-send-'));
  const file = join(folder, 'payload.json');
  await writeFile(file, '{"zen":"from a file"}');
  const args = ['send', file, '--url', `${door.url}/webhook`, '--event', 'ping', '--delivery', 'by-hand'];
  const { code, stdout, stderr } = await runGatehouse(args, { env: { WEBHOOK_SECRET: SECRET } });
  await rm(folder, { recursive: true });
  t.is(code, 0);
  t.regex(stdout, /200 OK\n\{"received":true\}/);
  t.false((stdout + stderr).includes(SECRET));
  const [stored] = await door.deliveries();
  t.like(stored, { event: 'ping', deliveryId: 'by-hand' });
});

test('send reads standard input, and fails when the answer is not 200', async (t) => {
  const door = await emptyDoor();
  const args = ['send', '-', '--url', `${door.url}/webhook`];
  const refused = await runGatehouse(args, { env: { WEBHOOK_SECRET: 'some other secret' }, input: '{}' });
  t.is(refused.code, 1);
  t.regex(refused.stdout, /401 Unauthorized/);
  t.is((await gatehouse(args, { WEBHOOK_SECRET: SECRET }, '{}').ended()).code, 0);
});

test('send reports a missing file or server', async (t) => {
  for (const [args, said] of [
    [['/no/such/file'], /^Cannot read \/no\/such\/file: ENOENT/],
    [['-', '--url', 'http://127.0.0.1:9/webhook'], /No answer: /],
  ] as const) {
    const { code, stdout } = await runGatehouse(['send', ...args], { env: { WEBHOOK_SECRET: SECRET }, input: '{}' });
    t.is(code, 1);
    t.regex(stdout, said);
  }
});

test('send --wait tries again until something answers', async (t) => {
  const seen: unknown[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers['x-forge-delivery']);
    request.resume();
    response.end('{"received":true}');
  });
  // As if nobody were there: before anything is read.
  server.once('connection', (socket) => socket.resetAndDestroy());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const args = ['send', '-', '--url', `http://127.0.0.1:${port}/webhook`, '--delivery', 'one', '--wait', '60'];
  const { code, stdout } = await runGatehouse(args, { env: { WEBHOOK_SECRET: SECRET }, input: '{}' });
  server.close();
  t.regex(stdout, /^No answer: /m);
  t.is(code, 0, stdout);
  t.deepEqual(seen, ['one']);
});

test('all configuration errors are reported before the start, with status 78', async (t) => {
  const { code, stderr } = await gatehouse(['serve'], { PORT: 'eighty', WEBHOOK_SECRET: 'tooshort' }).ended();
  t.is(code, 78);
  t.is(
    stderr,
    'The configuration has 4 faults:\n' +
      '  PORT: must be a port number, 0 to 65535\n' +
      '  DATABASE_URL: is required\n' +
      '  REDIS_URL: is required\n' +
      '  WEBHOOK_SECRET: must have at least 16 characters\n',
  );
});

test('docs/commands.md lists every command that the help lists, and no other', async (t) => {
  const { code, stdout } = await runGatehouse(['--help']);
  t.is(code, 0);
  t.regex(stdout, /Usage: gatehouse <command>/);
  const commands = [...stdout.matchAll(/^ {2}(\w+) .*$/gm)].map(([, name]) => name);
  t.true(commands.length > 10, stdout);
  const page = await readFile(new URL('../../docs/commands.md', import.meta.url), 'utf8');
  const cells = [...page.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = '']) => cell);
  const listed = [...cells.join().matchAll(/`(\w+)/g)].map(([, name]) => name);
  t.deepEqual(listed.toSorted(), commands.toSorted());
});

test('the version goes to standard output', async (t) => {
  t.regex((await gatehouse(['--version'], {}).ended()).stdout, /^\d+\.\d+\.\d+\n$/);
});
