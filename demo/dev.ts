/**
 * `npm run dev`: `gatehouse serve` on embedded stores, restarted whenever a file of src changes. The
 * data stays in .dev/ between runs. PORT, METRICS_PORT, WEBHOOK_SECRET and LOG_LEVEL are honoured.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startEmbeddedStores } from '../test/helpers/stores.ts';
import { runCommand } from './service.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const DEVELOPMENT_SECRET = 'for development only';

const stores = await startEmbeddedStores({ dataDir: `${root}.dev` });
try {
  const secret = process.env['WEBHOOK_SECRET'] || DEVELOPMENT_SECRET;
  const env = {
    DATABASE_URL: stores.database.url,
    REDIS_URL: stores.redis.url,
    WEBHOOK_SECRET: secret,
    DRAIN_SECONDS: '0',
  };
  await runCommand(['migrate'], env);
  process.stderr.write(`${stores.description}\n`);
  if (secret === DEVELOPMENT_SECRET) {
    process.stderr.write(`WEBHOOK_SECRET is '${DEVELOPMENT_SECRET}'\n`);
  }
  process.stderr.write(`psql ${stores.database.url}\n\n`);
  const watched = spawn(process.execPath, ['--watch-path=src', '--watch-preserve-output', 'src/main.ts', 'serve'], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => watched.kill('SIGTERM'));
  }
  await once(watched, 'close');
} finally {
  await stores.close();
}
