import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { until } from '../helpers/until.ts';

const DEMO = fileURLToPath(new URL('../../demo/demo.ts', import.meta.url));

test('the demo ends with the path of a page that shows a failure and then a success', async (t) => {
  const child = spawn(process.execPath, [DEMO, '--once', '--forge', 'gitea'], {
    env: { ...process.env, PORT: '0', METRICS_PORT: '0', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let complaints = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (complaints += text));
  const [code] = await once(child, 'close');
  t.is(code, 0, output + complaints);
  const path = output.trimEnd().split('\n').at(-1)?.trim() ?? '';
  const [, opened = '', fixed = ''] = (await readFile(path, 'utf8')).split('<section class="moment">');
  t.regex(opened, /3 problems to fix[\s\S]*gatehouse\/main[\s\S]*3 of 4 rules failed[\s\S]*Merging is blocked/);
  t.is(opened.match(/class="said"/g)?.length, 2);
  t.regex(fixed, /All rules are met[\s\S]*gatehouse\/main[\s\S]*Ready to merge/);
  t.notRegex(fixed, /class="said"/);
});

test('the demo leaves no service running, though it gets two signals at once', async (t) => {
  const child = spawn(process.execPath, [DEMO], {
    env: { ...process.env, PORT: '0', METRICS_PORT: '0', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  const ended = once(child, 'close');
  await until(() => /on (http:\S+)\n[\s\S]*\n1 {2}/.test(output));
  const [, address = ''] = /with-worker on (http:\S+)/.exec(output) ?? [];
  const isUp = () =>
    fetch(`${address}/health/live`).then(
      ({ ok }) => ok,
      () => false,
    );
  t.true(await isUp(), output);
  child.kill('SIGTERM');
  child.kill('SIGTERM');
  await ended;
  await until(async () => !(await isUp()));
});
