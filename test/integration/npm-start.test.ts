import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ava from 'ava';
import { inTime } from '../helpers/deadline.ts';
import { SECRET } from '../helpers/door.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Shells that npm may be set to use (`script-shell`), as far as this machine has them. Only some replace themselves by a last command. */
const SHELLS = ['sh', 'dash', 'bash', 'busybox', 'ksh', 'mksh', 'yash', 'zsh'];

async function findProgram(name: string): Promise<string | undefined> {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, name);
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    ) {
      return path;
    }
  }
  return undefined;
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
    const program = await findProgram(name);
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

test('every npm script that is one program hands its process over to it', async (t) => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  const handedOver = Object.values(scripts).filter((script) => script.startsWith('exec node '));
  t.true(handedOver.length > 10);
  t.deepEqual(
    Object.entries(scripts).filter(([, script]) => script.startsWith('node ') && !script.includes('&&')),
    [],
  );
});
