import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { OLDEST_NODE } from '../../src/oldest-node.cjs';
import { inTime } from '../helpers/deadline.ts';
import { SECRET } from '../helpers/door.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { scripts } = packageJson;

/** Shells that npm may be set to use (`script-shell`), as far as this machine has them. Only some replace themselves by a last command. */
const SHELLS = ['sh', 'dash', 'bash', 'busybox', 'ksh', 'mksh', 'yash', 'zsh'];

function findProgram(name: string): string | undefined {
  const { stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  return stdout.trim() || undefined;
}

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(true));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(false)));
  });

/** `npm start`, in a process group of its own, so that a test that fails leaves nothing behind. */
function npmStart(shell: string) {
  const npm = process.env['npm_execpath'];
  const child = spawn(npm === undefined ? 'npm' : process.execPath, [...(npm === undefined ? [] : [npm]), 'start'], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      npm_config_script_shell: shell,
      // Without its stores it listens all the same, and is not ready.
      DATABASE_URL: 'postgres://127.0.0.1:9/nothing',
      REDIS_URL: 'redis://127.0.0.1:9',
      WEBHOOK_SECRET: SECRET,
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      DRAIN_SECONDS: '0',
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return { child, output: () => output };
}

test('npm start ends the service on SIGTERM, whatever shell npm uses', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-npm-start-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const tried: string[] = [];
  for (const name of SHELLS) {
    const program = findProgram(name);
    if (program === undefined) {
      continue;
    }
    tried.push(name);
    // BusyBox chooses its program by the name that it was started with.
    const shell = name === 'busybox' ? join(folder, 'sh') : program;
    if (name === 'busybox') {
      await symlink(program, shell);
    }
    const { child, output } = npmStart(shell);
    try {
      const port = () => /"port":(\d+).*"Gatehouse is listening"/.exec(output())?.[1];
      await until(() => port() !== undefined || child.exitCode !== null);
      t.is(child.exitCode, null, `${name}: ${output()}`);
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) {
        await inTime('npm start has ended', once(child, 'exit'));
      }
      await until(() => output().includes('"msg":"drained"'));
      await until(async () => !(await isListening(Number(port()))));
      t.pass();
    } finally {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // The whole group has ended.
      }
    }
  }
  t.log(`shells tried: ${tried.join(', ')}`);
  t.true(tried.length > 0);
});

/** Those on the path that are older than Gatehouse needs, by version: npm puts one that is new enough before them. */
function olderNodes(): ReadonlyMap<string, string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.flatMap((folder): readonly (readonly [string, string])[] => {
    const { stdout } = spawnSync(join(folder, 'node'), ['-p', 'process.versions.node'], { encoding: 'utf8' });
    const version = stdout?.trim() ?? '';
    const isOlder = version !== '' && OLDEST_NODE.localeCompare(version, 'en', { numeric: true }) > 0;
    return isOlder ? [[version, folder]] : [];
  });
  return new Map(found);
}

test('an older Node says which one Gatehouse needs, and never a stack', (t) => {
  const older = olderNodes();
  if (older.size === 0) {
    t.log(`left out: no Node older than ${OLDEST_NODE} is on the path`);
  }
  for (const [version, folder] of older) {
    const env = { ...process.env, PATH: [folder, process.env['PATH']].join(delimiter) };
    for (const script of ['start', 'gatehouse', 'demo', 'test'] as const) {
      const { status, stderr } = spawnSync('sh', ['-c', scripts[script]], { cwd: ROOT, env, encoding: 'utf8' });
      t.is(stderr, `Gatehouse needs Node ${OLDEST_NODE} or newer, this is ${version}\n`, script);
      t.is(status, 1);
    }
  }
  t.pass();
});
