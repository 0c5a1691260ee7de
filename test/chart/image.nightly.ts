import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { version } from '../../src/version.ts';
import { startCluster } from '../helpers/cluster.ts';
import { docker, unavailable } from '../helpers/docker.ts';
import { CHART, find, type Manifest, NAMESPACE, render, secretData } from '../helpers/manifests.ts';
import { makePlayground, type Origin, type Playground, type Running } from '../helpers/pod-in-docker.ts';
import { seriesIn } from '../helpers/promql.ts';
import { type SteadyForge, startForge } from '../helpers/steady-forge.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import { FORGE_PORT, type ForgePlan, type ForgeReport } from '../simulated-forge/simulated-forge-process.ts';

/**
 * The image, and the rendered chart's own containers run in Docker: their arguments, environment, mounts, user, root
 * and memory limit are what the manifests say. The stores are the chart's bundled ones.
 */

const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
const NAME = `gatehouse-test-${randomBytes(4).toString('hex')}`;
const IMAGE = `${NAME}:built`;
const BASE_IMAGES = ['node:24-trixie-slim', 'postgres:17-alpine', 'redis:8-alpine'];
const REVISION = '0123456789abcdef';
const NEW_KEY = 'the-new-key-of-this-forge';
/** With an empty cache, the dependencies are downloaded. */
const TIMEOUT_MS = 300_000;

const POSTGRES: Origin = { kind: 'StatefulSet', name: 'gh-gatehouse-postgresql', container: 'postgresql' };
const REDIS: Origin = { kind: 'Deployment', name: 'gh-gatehouse-redis', container: 'redis' };
const MIGRATE: Origin = { kind: 'Deployment', name: 'gh-gatehouse-door', container: 'migrate' };
const DOOR: Origin = { kind: 'Deployment', name: 'gh-gatehouse-door', container: 'door' };
const WORKER: Origin = { kind: 'Deployment', name: 'gh-gatehouse-worker', container: 'worker' };
const HELM_TEST: Origin = { kind: 'Pod', name: 'gh-gatehouse-test-webhook', container: 'webhook' };

const VALUES = {
  image: { repository: NAME, tag: 'built' },
  // Docker has no Services: the name leads to the container itself, so the port has to be the container's.
  service: { port: 8080 },
  config: { drainSeconds: 1, forgeUrl: `http://forge:${FORGE_PORT}`, policy: policyOf('of-the-operator', '^[A-Z]') },
  forgeToken: { value: 'the-token-of-this-test' },
};

function policyOf(id: string, title: string): string {
  return `version: 1\nrules:\n  - id: ${id}\n    require: { title: '${title}' }\n`;
}

/** An owner whose repositories only the App may write to: the worker with the token must not review them first. */
const APP_OWNER = 'globex';

/** What the forge has: pull requests in repositories with a policy, without one, and with one that is broken. */
const PULL_REQUESTS = [
  {
    repository: 'acme/widgets',
    files: { '.gatehouse.yml': policyOf('of-the-repository', '^feat: ') },
    title: 'widgets',
  },
  { repository: 'acme/gadgets', files: {}, title: 'gadgets' },
  { repository: `${APP_OWNER}/gizmos`, files: { '.gatehouse.yml': policyOf('of-gizmos', '^feat: ') }, title: 'gizmos' },
  { repository: `${APP_OWNER}/gears`, files: { '.gatehouse.yml': 'version: none' }, title: 'gears' },
] as const;

let stage: Stage | undefined;

interface Stage extends Playground {
  /** The release as it was installed. */
  readonly release: readonly Manifest[];
  database?: Running;
  door?: Running;
  worker?: Running;
  forge?: Running;
  told?: ForgeReport;
}

test.before(async (t) => {
  t.timeout(TIMEOUT_MS);
  const missing = await unavailable(BASE_IMAGES, { pulls: true });
  if (missing !== undefined) {
    throw new Error(missing);
  }
  const args = ['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${REVISION}`];
  await docker(['build', '--quiet', '--network', 'host', ...args, '--tag', IMAGE, PROJECT], TIMEOUT_MS);
  stage = { ...(await makePlayground(NAME)), release: await render({ values: VALUES }) };
});

test.after.always(async () => {
  await stage?.close();
  if (stage !== undefined) {
    await docker(['rmi', '--force', IMAGE]);
  }
});

function onStage(title: string, body: (t: ExecutionContext, stage: Stage) => Promise<void>): void {
  test.serial(title, async (t) => {
    t.timeout(TIMEOUT_MS);
    if (stage === undefined) {
      throw new Error('there is no image');
    }
    return body(t, stage);
  });
}

function inImage(command: string, ...args: string[]): Promise<string> {
  return docker(['run', '--rm', '--user', '0', '--entrypoint', command, IMAGE, ...args]);
}

onStage('the image runs node by itself, as a user by number, and says what it is', async (t) => {
  const [image] = JSON.parse(await docker(['image', 'inspect', IMAGE])) as { Config: ImageConfig }[];
  t.like(image?.Config, {
    User: '65532:65532',
    WorkingDir: '/app',
    Entrypoint: ['node', '/app/src/main.js'],
    Cmd: ['serve'],
    Labels: {
      'org.opencontainers.image.title': 'Gatehouse',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': REVISION,
    },
  });
  t.falsy(image?.Config.Healthcheck);
  const names = image?.Config.Env.map((variable) => variable.replace(/=.*/s, '')) ?? [];
  // The official image brings PATH and its own versions.
  const own = names.filter((name) => name !== 'PATH' && !name.endsWith('_VERSION'));
  t.deepEqual(own, ['NODE_ENV', 'GATEHOUSE_REVISION']);
});

interface ImageConfig {
  readonly Env: readonly string[];
  readonly Healthcheck?: unknown;
}

onStage('the image has the service and its dependencies, and none that is for development', async (t) => {
  t.deepEqual((await inImage('ls', '-A', '/app')).split('\n').sort(), [
    'LICENSE',
    'docs',
    'node_modules',
    'package.json',
    'src',
  ]);
  const lock = JSON.parse(await readFile(`${PROJECT}package-lock.json`, 'utf8')) as {
    packages: Readonly<Record<string, { readonly dev?: boolean }>>;
  };
  const manifests = (await inImage('find', '/app/node_modules', '-name', 'package.json')).split('\n');
  const packages = manifests
    .map((path) => path.replace(/^\/app\//, '').replace(/\/package\.json$/, ''))
    .filter((path) => path in lock.packages);
  t.true(packages.includes('node_modules/koa'));
  t.deepEqual(
    packages.filter((path) => lock.packages[path]?.dev),
    [],
  );
});

onStage('the image has no package manager, no cache of one, and no secret', async (t) => {
  const unwanted = ['npm', 'npx', 'yarn', 'corepack', '_cacache', '.npmrc', '.git', '.env', '*.pem', '*.key'];
  const names = unwanted.flatMap((name) => ['-o', '-name', name]).slice(1);
  const folders = ['/app', '/usr/local', '/opt', '/root', '/home', '/tmp'];
  t.is(await inImage('find', ...folders, '(', ...names, ')', '-print'), '');
});

onStage('the command line answers in a container that may do nothing', async (t) => {
  const hardened = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--user', '65532'];
  const run = (...args: string[]) => docker(['run', '--rm', ...hardened, '--network', 'none', ...args]);
  t.is(await run(IMAGE, '--version'), version);
  t.is(await run('--entrypoint', 'gatehouse', IMAGE, '--version'), version);
});

onStage('a rendered release comes up: stores, migrations, door, each as its manifest says', async (t, there) => {
  const { start, release } = there;
  // The init container is first, and waits for a database that is not there yet.
  const migrating = await start(release, MIGRATE);
  await until(async () => (await migrating.output()).includes('waiting for the database'));
  there.database = await start(release, POSTGRES);
  const { code, output } = await migrating.ended();
  t.is(code, 0, output);
  // The command of helm test waits, too: for the Service to lead to the new pod, and for the pod to have found Redis.
  const testing = await start(release, HELM_TEST);
  const hasSaid = (words: RegExp) => until(async () => words.test(await testing.output()));
  await hasSaid(/No answer: /);
  there.door = await startDoor(there, release);
  await hasSaid(/^503 .*"redis"/m);
  await start(release, REDIS);
  const { code: testCode, output: testOutput } = await testing.ended();
  t.is(testCode, 0, testOutput);
  t.regex(testOutput, /No answer: .*\{"received":true\}.*^503 .*"redis".*^200 /ms);
  const health = await fetch(`http://${await there.door.address(8080)}/health`);
  t.deepEqual(await health.json(), { status: 'ok', info: { database: { status: 'up' }, redis: { status: 'up' } } });
  t.true((await metricsOf(there.door)).includes(`revision="${REVISION}"`));
});

onStage('helm test’s own command passes there, and its delivery is stored', async (t, there) => {
  const before = await stored(there);
  const { code, output } = await there.finish(there.release, HELM_TEST);
  t.is(code, 0, output);
  t.true(output.includes('{"received":true}'), output);
  t.is(await stored(there), before + 1);
});

onStage('helm test’s command fails where the door has another key', async (t, there) => {
  const { code, output } = await there.finish(await withKeys(there, { value: NEW_KEY }), HELM_TEST);
  t.not(code, 0);
  t.regex(output, /^401/m);
});

onStage('from a signed delivery to a status on the forge, by the rendered worker', async (t, there) => {
  there.forge = await startForgeBeside(there);
  there.told = JSON.parse(await there.forge.output()) as ForgeReport;
  t.is((await there.finish(there.release, { ...WORKER, container: 'migrate' })).code, 0);
  there.worker = await startWorker(there, there.release);
  await deliver(there, 0);
  await deliver(there, 1);
  t.like(await statusOf(there, 0), {
    context: 'gatehouse/main',
    state: 'failure',
    description: '1 of 1 rule failed: of-the-repository',
  });
  t.deepEqual(await commentersOf(there, 0), ['gatehouse']);
  t.like(await statusOf(there, 1), { state: 'failure', description: '1 of 1 rule failed: of-the-operator' });
  t.regex(await metricsOf(there.worker), /^gatehouse_reviews_total\{verdict="failure"\} [1-9]/m);
});

onStage('as a GitHub App the worker reads its key from the mounted file', async (t, there) => {
  const { appId, privateKey } = there.told ?? {};
  const manifests = await upgraded(there, { forgeToken: { value: '' }, githubApp: { appId, privateKey } });
  t.is(await there.worker?.stop(), 0);
  there.worker = await startWorker(there, manifests);
  await deliver(there, 2);
  t.like(await statusOf(there, 2), { state: 'failure' });
  t.deepEqual(await commentersOf(there, 2), ['gatehouse-app[bot]']);
  await deliver(there, 3);
  t.like(await statusOf(there, 3), { state: 'error' });
});

onStage(
  'everything that the dashboard and the alerts ask for is on the running door’s or worker’s metrics page',
  async (t, there) => {
    const pages = [await metricsOf(doorOf(there)), await metricsOf(workerOf(there))];
    const page = pages.join('');
    const types = new Map([...page.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
    const uses = await askedFor();
    t.true(uses.length > 20);
    for (const { series, matchers } of uses) {
      const histogram = series.replace(/_(bucket|sum|count)$/, '');
      t.true(types.has(series) || types.get(histogram) === 'histogram', series);
      // By now there has been a delivery, and one with a wrong signature.
      for (const { label, value } of matchers.filter(
        ({ label, operator }) => operator === '=' && !ADDED.includes(label),
      )) {
        t.regex(page, new RegExp(`^${series}\\{[^}]*\\b${label}="${value}"`, 'm'), `${series} ${label}="${value}"`);
      }
    }
  },
);

/** What Prometheus adds by itself. */
const ADDED = ['namespace', 'job'];

async function askedFor() {
  const { panels } = JSON.parse(await readFile(`${CHART}files/dashboard.json`, 'utf8')) as {
    panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  const alerts = await Promise.all(
    ['alerts-door.yaml', 'alerts-worker.yaml'].map((name) => readFile(`${CHART}files/${name}`, 'utf8')),
  );
  const rules = alerts.flatMap(
    (text) =>
      parse(text.replaceAll('$matchers,', '').replaceAll('$matchers', '')) as readonly { readonly expr: string }[],
  );
  return [...panels.flatMap(({ targets = [] }) => targets), ...rules].flatMap(({ expr }) => seriesIn(expr));
}

onStage('a signed delivery can be sent from inside a pod', async (t, there) => {
  const send = 'gatehouse send - --url http://localhost:8080/webhook --event ping';
  const answer = await there.door?.exec(['sh', '-c', `printf '{"zen":"from inside"}' | ${send}`]);
  t.true(answer?.includes('{"received":true}'), answer);
});

onStage('changing the signing key loses no delivery, and every old pod ends with 0', async (t, there) => {
  const oldKey = keyOf(there);
  const first = doorOf(there);
  const before = await stored(there);
  const forge = startForge(await webhookOf(first), oldKey);
  try {
    await answered(forge);
    // Both keys at the door, the old one at the forge. An old pod goes once a new one is ready.
    const second = await startDoor(there, await withKeys(there, { value: NEW_KEY, previous: oldKey }));
    forge.sendTo(await webhookOf(second));
    t.is(await first.stop(), 0);
    await answered(forge);
    forge.signWith(NEW_KEY);
    await answered(forge);
    const matches = await metricsOf(second);
    t.regex(matches, /^gatehouse_secret_matches_total\{secret="previous"\} [1-9]/m);
    t.regex(matches, /^gatehouse_secret_matches_total\{secret="current"\} [1-9]/m);
    // Every webhook uses the new key: the old one may go.
    const third = await startDoor(there, await withKeys(there, { value: NEW_KEY }));
    forge.sendTo(await webhookOf(third));
    t.is(await second.stop(), 0);
    await answered(forge);
    there.door = third;
  } finally {
    await forge.stop();
  }
  t.deepEqual(forge.answers(), { 200: forge.sent() });
  t.is(await stored(there), before + forge.sent());
  t.true(forge.sent() > 100);
  t.log(`${forge.sent()} deliveries sent and stored`);
});

onStage('a door that drains in the middle of deliveries answers each of them', async (t, there) => {
  const before = await stored(there);
  // A drain that outlasts the test, on any machine.
  const config = { ...VALUES.config, drainSeconds: 3_000 };
  const door = await startDoor(there, await upgraded(there, { webhookSecret: { value: NEW_KEY }, config }));
  const forge = startForge(await webhookOf(door), NEW_KEY);
  await answered(forge);
  await docker(['kill', '--signal', 'TERM', door.id]);
  await until(async () => (await fetch(`http://${await door.address(8080)}/health/ready`)).status === 503);
  await answered(forge);
  await forge.stop();
  t.deepEqual(forge.answers(), { 200: forge.sent() });
  t.is(await stored(there), before + forge.sent());
});

/** Waits for so many more answers that each of the forge's senders has had some. */
async function answered(forge: SteadyForge): Promise<void> {
  const before = forge.sent();
  await until(() => forge.sent() >= before + 100);
}

const withKeys = (there: Stage, webhookSecret: unknown) => upgraded(there, { webhookSecret });

/** The release as an upgrade to other values renders it. The generated passwords stay. */
async function upgraded({ release }: Stage, changed: object): Promise<readonly Manifest[]> {
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    cluster.put(release.filter(({ kind }) => kind === 'Secret'));
    const values = { ...VALUES, ...changed };
    return await render({ values, cluster, arguments: ['--is-upgrade'] });
  } finally {
    await cluster.close();
  }
}

const startDoor = (there: Stage, manifests: readonly Manifest[]) => startReady(there, manifests, DOOR);
const startWorker = (there: Stage, manifests: readonly Manifest[]) => startReady(there, manifests, WORKER);

async function startReady({ start }: Stage, manifests: readonly Manifest[], origin: Origin): Promise<Running> {
  const running = await start(manifests, origin);
  const url = `http://${await running.address(8080)}/health/ready`;
  await until(() =>
    fetch(url).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return running;
}

/** The simulated forge in its own container, which the worker reaches by name. */
async function startForgeBeside(there: Stage): Promise<Running> {
  const plan: ForgePlan = {
    host: 'forge',
    token: VALUES.forgeToken.value,
    login: 'gatehouse',
    outsiderOf: [APP_OWNER],
    secret: keyOf(there),
    pullRequests: PULL_REQUESTS,
  };
  const forge = await there.startBeside('forge', [
    ...[
      '--read-only',
      '--user',
      '65532',
      '--volume',
      `${PROJECT}:/project:ro`,
      '--env',
      `PLAN=${JSON.stringify(plan)}`,
    ],
    ...['--publish', `127.0.0.1::${FORGE_PORT}`, '--entrypoint', 'node', BASE_IMAGES[0] ?? ''],
    '/project/test/simulated-forge/simulated-forge-process.ts',
  ]);
  await until(async () => (await forge.output()).endsWith('}'));
  return forge;
}

/** What the forge sends of one of its pull requests, as it signed it. */
async function deliver(there: Stage, index: number): Promise<void> {
  const { headers = {}, body = '' } = there.told?.pullRequests[index]?.webhook ?? {};
  const response = await fetch(await webhookOf(doorOf(there)), { method: 'POST', headers, body });
  if (response.status !== 200) {
    throw new Error(`the door answered ${response.status}`);
  }
}

type Json = Readonly<Record<string, unknown>>;

/** Asks the forge's own API about the repository of a pull request. */
async function ask(there: Stage, index: number, path: string): Promise<unknown> {
  const origin = `http://${await there.forge?.address(FORGE_PORT)}`;
  const url = `${origin}/api/v3/repos/${PULL_REQUESTS[index]?.repository}/${path}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${VALUES.forgeToken.value}` } });
  return response.json();
}

/** The final status of a pull request's head. */
async function statusOf(there: Stage, index: number): Promise<Json> {
  let latest: Json = {};
  await until(async () => {
    const path = `commits/${there.told?.pullRequests[index]?.headSha}/status`;
    const { statuses } = (await ask(there, index, path)) as { statuses: readonly Json[] };
    latest = statuses[0] ?? {};
    return latest['state'] !== undefined && latest['state'] !== 'pending';
  });
  return latest;
}

async function commentersOf(there: Stage, index: number): Promise<readonly string[]> {
  const comments = (await ask(there, index, 'issues/1/comments')) as readonly { user: { login: string } }[];
  return comments.map(({ user }) => user.login);
}

const keyOf = ({ release }: Stage) => secretData(find(release, 'Secret', 'gh-gatehouse'))['webhook-secret'] ?? '';

function workerOf({ worker }: Stage): Running {
  if (worker === undefined) {
    throw new Error('no worker came up');
  }
  return worker;
}

function doorOf({ door }: Stage): Running {
  if (door === undefined) {
    throw new Error('no door came up');
  }
  return door;
}

const webhookOf = async (door: Running) => `http://${await door.address(8080)}/webhook`;
const metricsOf = async (door: Running) => (await fetch(`http://${await door.address(9090)}/metrics`)).text();

/** The number of deliveries in the database. */
async function stored({ database }: Stage): Promise<number> {
  const query = 'SELECT count(*) FROM gatehouse.deliveries';
  return Number(await database?.exec(['psql', '-U', 'gatehouse', '-d', 'gatehouse', '-tAc', query]));
}
