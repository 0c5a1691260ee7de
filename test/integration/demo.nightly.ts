import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { makeMigratedDatabase, sharedRedisUrl } from '../helpers/database.ts';
import { inTime } from '../helpers/deadline.ts';
import { SECRET } from '../helpers/door.ts';
import { execute } from '../helpers/execute.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const DEMO = fileURLToPath(new URL('../../demo/demo.ts', import.meta.url));
const SERVICE = new URL('../../demo/service.ts', import.meta.url).href;

test('the demo ends with the path of a page that shows a failure and then a success', async (t) => {
  const { stdout } = await execute(process.execPath, [DEMO, '--once', '--forge', 'gitea'], {
    env: { ...process.env, PORT: '0', METRICS_PORT: '0', NO_COLOR: '1' },
  });
  const path = stdout.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const [, opened = '', fixed = ''] = (await readFile(path, 'utf8')).split('<section class="moment">');
  t.regex(opened, /3 problems to fix[\s\S]*gatehouse\/main[\s\S]*3 of 4 rules failed[\s\S]*Merging is blocked/);
  t.is(opened.match(/class="said"/g)?.length, 2);
  t.regex(fixed, /All rules are met[\s\S]*gatehouse\/main[\s\S]*Ready to merge/);
  t.notRegex(fixed, /class="said"/);
});

test('a demo that ends without stopping its service never leaves it running', async (t) => {
  const database = await makeMigratedDatabase();
  t.teardown(() => database.drop());
  const stores = { DATABASE_URL: database.url, REDIS_URL: await sharedRedisUrl() };
  const forge = { FORGE: 'gitea', FORGE_URL: 'http://127.0.0.1:9', FORGE_TOKEN: 'a-token' };
  const env = { ...stores, ...forge, WEBHOOK_SECRET: SECRET, PORT: '0', METRICS_PORT: '0' };
  const script = `
    const { startServe } = await import(${JSON.stringify(SERVICE)});
    const { port } = await startServe(${JSON.stringify(env)});
    const { ok } = await fetch(\`http://127.0.0.1:\${port}/health/live\`);
    console.log(JSON.stringify({ port, ok }));
    process.exit(1);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await inTime('the demo has asked', once(createInterface({ input: child.stdout }), 'line'));
  const { port, ok }: { port: number; ok: boolean } = JSON.parse(line);
  t.true(ok);
  const live = `http://127.0.0.1:${port}/health/live`;
  await until(async () => (await fetch(live).catch(() => undefined)) === undefined);
});
