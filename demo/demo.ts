/**
 * `npm run demo`: the whole door on embedded stores, shown to a person. It stays up until Ctrl-C, or
 * ends by itself with `--once`. PORT, METRICS_PORT and WEBHOOK_SECRET are honoured.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { payloads, pullRequestOpened } from '../test/helpers/payloads.ts';
import { startEmbeddedStores } from '../test/helpers/stores.ts';
import { type RunningService, runCommand, startServe } from './service.ts';
import { answer, command, progress, request, say, title } from './show.ts';

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });
const secret = process.env['WEBHOOK_SECRET'] || randomBytes(24).toString('hex');

title('Gatehouse');
say('starting PostgreSQL and Valkey, embedded, in a folder that goes when this ends …');
const stores = await startEmbeddedStores();
try {
  const env = {
    DATABASE_URL: stores.database.url,
    REDIS_URL: stores.redis.url,
    WEBHOOK_SECRET: secret,
    DRAIN_SECONDS: '0',
  };
  await runCommand(['migrate'], env);
  const service = await startServe({ ...env, LOG_LEVEL: 'info' });
  const origin = `http://localhost:${service.port}`;
  say(`${stores.description}; the door listens on ${origin}`);
  try {
    await tour(origin, service.metricsPort);
    if (!values.once) await stayUp(origin, service);
  } finally {
    const code = await service.stop();
    if (code !== 0) process.exitCode = 1;
  }
} finally {
  await stores.close();
}

async function tour(origin: string, metricsPort: number): Promise<void> {
  const database = new pg.Client({ connectionString: stores.database.url });
  await database.connect();
  const stored = async () => {
    const { rows } = await database.query<{ count: number }>('SELECT count(*)::int FROM gatehouse.deliveries');
    return rows[0]?.count ?? 0;
  };
  const { event, body } = pullRequestOpened();
  const size = `${(body.length / 1024).toFixed(1)} KiB`;

  title('1  A pull request is opened, and the forge tells the door');
  request(`POST /webhook   X-Forge-Event: ${event}   ${size}, signed`);
  await deliver(origin, body, event, 'demo-1', secret, 'answered after COMMIT, never before');
  say(`stored: ${await stored()} delivery, and a job to review the pull request`);

  title('2  The same delivery comes again');
  request('POST /webhook   X-Forge-Delivery: demo-1');
  await deliver(origin, body, event, 'demo-1', secret, 'absorbed');
  say(`stored: still ${await stored()} delivery`);

  title('3  Somebody without the secret tries');
  request('POST /webhook   signed with a guess');
  await deliver(origin, body, event, 'demo-2', 'a guess at the secret');
  say(`stored: still ${await stored()} delivery`);

  title('4  One of everything a forge sends');
  const examples = payloads();
  let acknowledged = 0;
  for (const [index, example] of examples.entries()) {
    const response = await post(origin, example.body, example.event, `example-${index}`, secret);
    if (response.status === 200) acknowledged += 1;
    progress(index + 1, examples.length, 'payloads delivered');
  }
  say(`acknowledged: ${acknowledged}, stored: ${(await stored()) - 1}`);
  if (acknowledged !== examples.length || (await stored()) !== acknowledged + 1) {
    throw new Error('what was acknowledged and what is stored differ');
  }
  await database.end();

  title('5  Is it well?');
  request('GET /health');
  const health = await fetch(`${origin}/health`);
  answer(health.status, await health.text());

  title('6  What Prometheus sees');
  const metricsUrl = `http://localhost:${metricsPort}/metrics`;
  request(`GET ${metricsUrl}`);
  const page = await (await fetch(metricsUrl)).text();
  const shown =
    /^(gatehouse_deliveries_total\{event="pull_request"|gatehouse_rejections_total\{reason="signature_mismatch"|gatehouse_secret_matches_total\{secret="current"|gatehouse_commit_seconds_count|gatehouse_dependency_up)/;
  for (const line of page.split('\n').filter((text) => shown.test(text))) say(line);
}

function post(origin: string, body: Buffer, event: string, id: string, key: string): Promise<Response> {
  return fetch(`${origin}/webhook`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Forge-Event': event,
      'X-Forge-Delivery': id,
      'X-Hub-Signature-256': sign(body, key),
    },
    body: new Uint8Array(body),
  });
}

async function deliver(origin: string, body: Buffer, event: string, id: string, key: string, remark = '') {
  const response = await post(origin, body, event, id, key);
  answer(response.status, await response.text(), remark);
}

function sign(body: Buffer | string, key: string): string {
  return `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
}

async function stayUp(origin: string, service: RunningService): Promise<void> {
  const body = '{"zen":"Keep it logically awesome."}';
  title('It stays up. Try it from another terminal:');
  command(
    `curl -i ${origin}/webhook \\\n  -H 'Content-Type: application/json' -H 'X-Forge-Event: ping' -H 'X-Forge-Delivery: try-1' \\\n` +
      `  -H 'X-Hub-Signature-256: ${sign(body, secret)}' \\\n  -d '${body}'`,
  );
  command(`curl -i ${origin}/health`);
  title('Ctrl-C ends it.');
  const interrupted = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const ended = await Promise.race([interrupted.then(() => 'interrupted'), service.ended]);
  if (ended !== 'interrupted') throw new Error(`the service ended with status ${ended}`);
  title('Draining, then stopping the stores …');
}
