/**
 * `npm run demo`: the whole of Gatehouse on embedded stores, with a simulated forge, step by step. It
 * stays up until Ctrl-C, or ends by itself with `--once`, and writes a page that shows the pull request as people see it. PORT,
 * METRICS_PORT and WEBHOOK_SECRET are honoured; `--forge gitea` or `--forge forgejo` shows another forge than GitHub. It fails
 * when a step has another result than it shows.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { FORGE_NAMES, FORGES, isForgeName } from '../src/forges/port/forges.ts';
import { firstShutdownSignal } from '../src/lifecycle.ts';
import { signatureOf } from '../test/helpers/signature.ts';
import { startEmbeddedStores } from '../test/helpers/stores.ts';
import { type SimulatedForge, startSimulatedForge } from '../test/simulated-forge/simulated-forge.ts';
import { showDoor } from './door.ts';
import { renderPage } from './page/page.ts';
import { showReview } from './review.ts';
import { type RunningService, runCommand, startServe } from './service.ts';
import { command, say, title } from './show.ts';

const INTERRUPTED = 130;
const EX_USAGE = 64;
const PAGE = fileURLToPath(new URL('../.demo/pull-request.html', import.meta.url));

const USAGE = `Usage: npm run demo [-- --once] [-- --forge ${FORGE_NAMES.join('|')}]

PORT, METRICS_PORT and WEBHOOK_SECRET are honoured.`;

const values = readArguments();
const secret = process.env['WEBHOOK_SECRET']?.trim() || randomBytes(24).toString('hex');
// From the beginning, so that Ctrl-C never leaves anything running. A second one ends the demo at once.
const interrupted = firstShutdownSignal().then(() => 'interrupted' as const);

title('Gatehouse');
say('starting embedded PostgreSQL and Valkey in a temporary folder …');
const forge = await startSimulatedForge({ forge: values.forge });
try {
  const stores = await startEmbeddedStores();
  try {
    say(`${stores.description}; a simulated ${forge.name} on ${forge.url}`);
    await show(stores.database.url, stores.redis.url);
  } finally {
    await stores.close();
  }
  if (values.once && process.exitCode === undefined) {
    showPage();
  }
} catch (error) {
  title('The demo failed:');
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await forge.stop();
}
// An interrupted demo may still be waiting for a result that will not come.
if (process.exitCode === INTERRUPTED) {
  process.exit();
}

async function show(databaseUrl: string, redisUrl: string): Promise<void> {
  const env = environment(databaseUrl, redisUrl);
  await runCommand(['migrate'], env);
  const service = await startServe(env);
  const database = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  // When the demo is interrupted, the database stops first.
  database.on('error', () => {});
  try {
    const origin = `http://localhost:${service.port}`;
    say(`gatehouse serve --with-worker on ${origin}`);
    const tour = (async () => {
      const moments = await showReview({ forge, origin, secret });
      await showDoor({ origin, metricsPort: service.metricsPort, secret, database });
      await mkdir(dirname(PAGE), { recursive: true });
      await writeFile(PAGE, renderPage(moments));
    })();
    if ((await outcome(tour, service)) === 'interrupted') {
      process.exitCode = INTERRUPTED;
      // Errors after the interruption do not matter.
      tour.catch(() => {});
    } else if (!values.once) {
      invite(origin, databaseUrl);
      await outcome(new Promise<never>(() => {}), service);
    }
  } finally {
    title('Draining, then stopping everything …');
    const code = await service.stop();
    await database.end();
    if (code !== 0) {
      say(`The service exited with status ${code}.`);
      process.exitCode = 1;
    }
  }
}

/** When the demo is finished or interrupted. A service that exits by itself is a failure. */
async function outcome(work: Promise<unknown>, service: RunningService): Promise<'done' | 'interrupted'> {
  return Promise.race([
    work.then(() => 'done' as const),
    interrupted,
    service.ended.then((code) => Promise.reject(new Error(`the service ended with status ${code}`))),
  ]);
}

/** Every variable that the service reads, so that none is taken from this terminal's environment. */
function environment(databaseUrl: string, redisUrl: string): Readonly<Record<string, string>> {
  const settings = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    WEBHOOK_SECRET: secret,
    FORGE: forge.name,
    FORGE_URL: forge.url,
    FORGE_TOKEN: forge.token,
    // An empty variable counts as absent.
    GITHUB_APP_ID: '',
    GITHUB_APP_PRIVATE_KEY: '',
    POLICY_FILE: '',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'info',
  };
  return { ...Object.fromEntries(Object.keys(settings).map((name) => [`${name}_FILE`, ''])), ...settings };
}

function readArguments(): { readonly once: boolean; readonly forge: SimulatedForge['name'] } {
  try {
    const options = {
      once: { type: 'boolean' },
      forge: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    } as const;
    const { once: ends = false, forge: name = 'github', help } = parseArgs({ options }).values;
    if (!help && isForgeName(name)) {
      return { once: ends, forge: name };
    }
    process.stdout.write(`${USAGE}\n`);
    process.exit(help ? 0 : EX_USAGE);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}\n`);
    process.exit(EX_USAGE);
  }
}

function invite(origin: string, databaseUrl: string): void {
  const body = '{"zen":"Keep it logically awesome."}';
  const page = `${forge.url}/acme/widgets/${FORGES[forge.name].pullRequestSegment}/1`;
  title('Gatehouse keeps running. Try it from another terminal:');
  command(
    `curl -i ${origin}/webhook \\\n  -H 'Content-Type: application/json' -H 'X-Forge-Event: ping' -H 'X-Forge-Delivery: try-1' \\\n` +
      `  -H 'X-Hub-Signature-256: ${signatureOf(body, secret)}' \\\n  -d '${body}'`,
  );
  command(
    `FORGE=${forge.name} FORGE_URL=${forge.url} FORGE_TOKEN=${forge.token} \\\n  npm run -s gatehouse -- explain ${page}`,
  );
  command(`echo '{}' | WEBHOOK_SECRET=${secret} npm run -s gatehouse -- send - --event ping --url ${origin}/webhook`);
  command(`DATABASE_URL=${databaseUrl} npm run -s gatehouse -- deliveries --limit 5`);
  showPage();
  title('Press Ctrl-C to stop.');
}

function showPage(): void {
  title('The pull request, as people see it:');
  say(PAGE);
}
