import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCollector } from '../helpers/collector.ts';
import { makeMigratedDatabase, sharedRedisUrl } from '../helpers/database.ts';
import { SECRET } from '../helpers/door.ts';
import { NOWHERE } from '../helpers/free-port.ts';
import { gatehouse } from '../helpers/process.ts';
import { signatureOf } from '../helpers/signature.ts';
import test from '../helpers/test.ts';

/** Writes the address of each module that a process loads to a file. */
const RECORDER = `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({
  load(url, context, next) {
    appendFileSync(process.env.LOADED_MODULES, url + '\\n');
    return next(url, context);
  },
});`;

/** A door and worker as a process of its own that takes a delivery and is ended. */
async function runGatehouse(env: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-modules-'));
  const loaded = join(folder, 'loaded');
  const database = await makeMigratedDatabase();
  const service = gatehouse(['serve', '--with-worker'], {
    DATABASE_URL: database.url,
    REDIS_URL: await sharedRedisUrl(),
    WEBHOOK_SECRET: SECRET,
    FORGE: 'gitea',
    FORGE_URL: `http://${NOWHERE}`,
    FORGE_TOKEN: 'token',
    HOST: '127.0.0.1',
    PORT: '0',
    METRICS_PORT: '0',
    DRAIN_SECONDS: '0',
    LOADED_MODULES: loaded,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(RECORDER)}`,
    ...env,
  });
  const { port } = await service.logged('Gatehouse is listening');
  const body = '{"zen":"x"}';
  const answer = await fetch(`http://127.0.0.1:${port}/webhook`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-forge-event': 'ping',
      'x-forge-delivery': 'a-ping',
      'x-hub-signature-256': signatureOf(body, SECRET),
    },
  });
  service.child.kill('SIGTERM');
  const finished = await service.ended();
  const modules = (await readFile(loaded, 'utf8')).split('\n');
  await rm(folder, { recursive: true });
  await database.drop();
  return { status: answer.status, finished, modules };
}

test('without a collector none of OpenTelemetry is loaded but what prom-client loads', async (t) => {
  const { status, finished, modules } = await runGatehouse({ OTEL_SERVICE_NAME: 'x' });
  t.deepEqual([status, finished.code], [200, 0]);
  const loaded = (path: RegExp) => modules.filter((url) => path.test(url));
  t.not(loaded(/\/node_modules\/koa\//).length, 0, 'the modules were recorded');
  t.not(loaded(/\/src\/composition\/worker\.ts$/).length, 0);
  // prom-client requires the API itself, which does nothing alone.
  t.deepEqual(loaded(/opentelemetry(?!\/api\/)/), []);
});

test('OpenTelemetry’s settings work, and its packages print nothing', async (t) => {
  await using collector = await startCollector();
  const { finished, modules } = await runGatehouse({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=the%20key,not a header',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'nonsense',
    OTEL_SERVICE_NAME: 'reviews',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,broken',
    OTEL_LOG_LEVEL: 'all',
    OTEL_BSP_MAX_QUEUE_SIZE: 'x',
  });
  t.true(modules.some((url) => url.includes('/@opentelemetry/sdk-trace/')));
  const door = collector.spans.find(({ name }) => name === 'POST /webhook');
  t.is(door?.attributes['gatehouse.delivery'], 'a-ping');
  t.is(door?.resource['service.name'], 'reviews');
  t.is(collector.headers[0]?.['x-api-key'], 'the key');
  t.deepEqual([finished.code, finished.stderr], [0, '']);
  for (const line of finished.stdout.trimEnd().split('\n')) {
    t.notThrows(() => JSON.parse(line), line);
  }
  t.false(finished.stdout.includes('the key'));
});
