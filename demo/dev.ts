/**
 * `npm run dev`: `gatehouse serve` on embedded stores, restarted whenever a file of src changes. The data stays in .dev/, or the
 * folder given by `--data`, between runs. PORT, METRICS_PORT, WEBHOOK_SECRET and LOG_LEVEL are honoured. With the credentials of
 * a forge, as `gatehouse setup` writes them to .env, it reviews too. While it runs, stores.env in the folder has the URLs of the
 * stores, for `npm run doctor`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmbeddedStores } from '../test/helpers/stores.ts';
import { runCommand } from './service.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const DEVELOPMENT_SECRET = 'for development only';
const { values } = parseArgs({ options: { data: { type: 'string', default: `${root}.dev` } } });

if (existsSync(`${root}.env`)) {
  // What the environment has already stays.
  process.loadEnvFile(`${root}.env`);
}
const reviews = ['FORGE_TOKEN', 'FORGE_TOKEN_FILE', 'GITHUB_APP_ID'].some((name) => process.env[name]?.trim());

const stores = await startEmbeddedStores({ dataDir: values.data });
const storesFile = join(values.data, 'stores.env');
try {
  const secret = process.env['WEBHOOK_SECRET']?.trim() || DEVELOPMENT_SECRET;
  const urls = { DATABASE_URL: stores.database.url, REDIS_URL: stores.redis.url };
  const env = { ...urls, WEBHOOK_SECRET: secret, DRAIN_SECONDS: '0' };
  await runCommand(['migrate'], env);
  const lines = Object.entries(urls).map(([name, url]) => `${name}='${url}'\n`);
  await writeFile(storesFile, lines.join(''), { mode: 0o600 });
  process.stderr.write(`${stores.description}\n`);
  if (secret === DEVELOPMENT_SECRET) {
    process.stderr.write(`WEBHOOK_SECRET is '${DEVELOPMENT_SECRET}'\n`);
  }
  process.stderr.write(`psql ${stores.database.url}\n\n`);
  const command = ['src/main.js', 'serve', ...(reviews ? ['--with-worker'] : [])];
  const watched = spawn(process.execPath, ['--watch-path=src', '--watch-preserve-output', ...command], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => watched.kill('SIGTERM'));
  }
  await once(watched, 'close');
} finally {
  await rm(storesFile, { force: true });
  await stores.close();
}
