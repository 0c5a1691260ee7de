import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { inTime } from '../helpers/deadline.ts';
import { SECRET } from '../helpers/door.ts';
import { execute } from '../helpers/execute.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import { startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

const DEV = fileURLToPath(new URL('../../demo/dev.ts', import.meta.url));
const REPOSITORY = 'acme/widgets';

/** `npm run doctor`, with another file than the one in .dev/ and without the .env of this machine. */
async function doctor(storesFile: string, env: Readonly<Record<string, string>>) {
  const [, , ...args] = packageJson.scripts.doctor.split(' ');
  const given = args
    .filter((argument) => argument !== '--env-file-if-exists=.env')
    .map((argument) => argument.replace('.dev/stores.env', storesFile));
  // With a fault it exits with 1: what it prints counts.
  const printed = await execute(process.execPath, given, {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env['PATH'], WEBHOOK_SECRET: SECRET, ...env },
  }).catch((error: { readonly stdout: string }) => error);
  return printed.stdout;
}

test('under npm run dev no first review fails, and doctor never misses its stores', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-dev-'));
  // PostgreSQL, which does not run as root, must be able to enter it.
  await chmod(folder, 0o755);
  const forge = await startSimulatedForge({ forge: 'gitea' });
  forge.createRepository(REPOSITORY, {
    '.gatehouse.yml': "version: 1\nrules:\n  - { id: titled, require: { title: '^feat: ' } }\n",
  });
  const headSha = forge.commit(REPOSITORY, 'topic', { 'a.txt': 'a\n' });
  const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'feat: a' });
  const access = { FORGE: 'gitea', FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  const storesFile = join(folder, 'stores', 'stores.env');
  const dev = spawn(process.execPath, [DEV, '--data', join(folder, 'stores')], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '0',
      WEBHOOK_SECRET: SECRET,
      ...access,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(dev, 'close');
  const lines: string[] = [];
  const listening = Promise.withResolvers<number>();
  createInterface({ input: dev.stdout }).on('line', (line) => {
    lines.push(line);
    const { port } = JSON.parse(line) as { readonly port?: number };
    if (port !== undefined) {
      listening.resolve(port);
    }
  });
  createInterface({ input: dev.stderr }).on('line', (line) => lines.push(line));
  void closed.then(() => listening.reject(new Error(`it ended before it listened:\n${lines.join('\n')}`)));
  try {
    const port = await inTime('Gatehouse listens', listening.promise);
    const event = { kind: 'pull-request', number, action: 'opened' } as const;
    await forge.deliver(`http://127.0.0.1:${port}/webhook`, REPOSITORY, event, { secret: SECRET });
    await until(() => forge.statuses(REPOSITORY, headSha).at(-1)?.state === 'success');
    t.deepEqual(
      lines.filter((line) => line.includes('a review failed') || line.includes('failed in its worker')),
      [],
    );
    const stdout = await doctor(storesFile, access);
    t.regex(stdout, /^✔ database /m);
    t.regex(stdout, /^✔ redis /m);
    t.notRegex(stdout, /^✘/m);
  } finally {
    dev.kill('SIGTERM');
    await inTime('npm run dev has ended', closed);
    t.false(existsSync(storesFile), 'stores that have ended are not examined');
    await forge.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
