import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../src/version.ts';
import { CHART, find, parseYaml, podOf, render, tryRender } from '../helpers/manifests.ts';
import { test } from '../helpers/test-with-helm.ts';

const KEY = 'a-signing-key-of-the-tests';
const PEM = '-----BEGIN PRIVATE KEY-----\n';
const NO_STORES = { bundled: { postgresql: { enabled: false }, redis: { enabled: false } } };

const CONTRADICTIONS: readonly (readonly [title: string, values: unknown, says: RegExp])[] = [
  [
    'a bundled database and a database of one’s own',
    { database: { url: 'postgres://db.example.com/g' } },
    /bundled\.postgresql\.enabled to false/,
  ],
  [
    'a bundled Redis and a Redis of one’s own',
    { redis: { existingSecret: 'mine' } },
    /bundled\.redis\.enabled to false/,
  ],
  [
    'a bundled database and a URL in extraEnv',
    { extraEnv: [{ name: 'DATABASE_URL_FILE', value: '/run/url' }] },
    /bundled\.postgresql\.enabled to false/,
  ],
  ['no database at all', { bundled: { postgresql: { enabled: false } } }, /no database: set database\.url/],
  ['no Redis at all', { bundled: { redis: { enabled: false } } }, /no redis: set redis\.url/],
  [
    'a URL and a Secret for one store',
    {
      ...NO_STORES,
      database: { url: 'postgres://db.example.com/g', existingSecret: 'mine' },
      redis: { existingSecret: 'm' },
    },
    /database\.url and database\.existingSecret/,
  ],
  [
    'a key and a Secret for the key',
    { webhookSecret: { value: KEY, existingSecret: 'mine' } },
    /webhookSecret\.existingSecret and a key/,
  ],
  [
    'a previous key beside a Secret for the keys',
    { webhookSecret: { previous: KEY, existingSecret: 'mine' } },
    /under webhook-secret and webhook-secret-previous/,
  ],
  ['a key that is too short', { webhookSecret: { value: 'short' } }, /webhookSecret\.value is shorter than 16/],
  [
    'a key that is long by white space',
    { webhookSecret: { value: `short${' '.repeat(16)}` } },
    /value is shorter than 16/,
  ],
  ['a previous key that is too short', { webhookSecret: { previous: 'short' } }, /webhookSecret\.previous is shorter/],
  ['one key with a line end as both', { webhookSecret: { value: KEY, previous: `${KEY}\n` } }, /same as webhookSecret/],
  ['one key as both', { webhookSecret: { value: KEY, previous: KEY } }, /same as webhookSecret\.value/],
  [
    'a variable given twice in extraEnv',
    {
      extraEnv: [
        { name: 'A', value: '1' },
        { name: 'A', value: '2' },
      ],
    },
    /extraEnv names A twice/,
  ],
  [
    'a minimum above the maximum',
    { door: { autoscaling: { enabled: true, minReplicas: 9, maxReplicas: 3 } } },
    /minReplicas is more than maxReplicas/,
  ],
  [
    'alerts that would find no series',
    { metrics: { prometheusRule: { enabled: true } } },
    /metrics\.prometheusRule\.matchers/,
  ],
  ['a token by value and in a Secret', { forgeToken: { value: 't', existingSecret: 'mine' } }, /forgeToken\.value and/],
  [
    'an App’s key by value and in a Secret',
    { githubApp: { appId: '1', privateKey: PEM, existingSecret: 'mine' } },
    /githubApp\.privateKey and/,
  ],
  [
    'a token beside an App',
    { forgeToken: { value: 't' }, githubApp: { appId: '1', privateKey: PEM } },
    /forgeToken and githubApp are both set/,
  ],
  [
    'an App in values beside a token in extraEnv',
    { githubApp: { appId: '1', privateKey: PEM }, extraEnv: [{ name: 'FORGE_TOKEN_FILE', value: '/run/token' }] },
    /forgeToken and githubApp are both set/,
  ],
  [
    'an App for Gitea',
    { config: { forge: 'gitea' }, githubApp: { appId: '1', existingSecret: 'mine' } },
    /config\.forge is gitea, which has no Apps/,
  ],
  ['an App without an id', { githubApp: { existingSecret: 'mine' } }, /set githubApp\.appId/],
  ['an App without a key', { githubApp: { appId: 7 } }, /no private key: set githubApp\.existingSecret/],
  [
    'a worker without credentials',
    { worker: { enabled: true } },
    /no forge credentials.*: set forgeToken or githubApp/,
  ],
  [
    'a forge of one’s own without its address',
    { config: { forge: 'forgejo' }, forgeToken: { value: 't' } },
    /config\.forgeUrl is empty: set the URL of your forgejo/,
  ],
  [
    'more workers at the least than at the most',
    { worker: { autoscaling: { enabled: true, minReplicas: 9 } } },
    /worker\.autoscaling\.minReplicas is more than maxReplicas/,
  ],
  ['an Ingress without a host', { ingress: { enabled: true } }, /ingress\.hosts is empty/],
  ['an HTTPRoute without a Gateway', { httpRoute: { enabled: true } }, /httpRoute\.parentRefs is empty/],
];

test('values that contradict each other are rejected with what to do about it', async (t) => {
  const said = await Promise.all(CONTRADICTIONS.map(([, values]) => tryRender({ values })));
  for (const [index, [title, , says]] of CONTRADICTIONS.entries()) {
    t.regex(said[index]?.error ?? 'not rejected', says, title);
  }
});

/** Helm reports all of them at once: Helm 3 writes a place as `config.forge`, Helm 4 as `/config/forge`. */
const MISTAKES = {
  webhookSecrets: {},
  worker: { concurency: 3, enabled: 'auto', concurrency: 65 },
  config: {
    forge: 'gitlab',
    forgeUrl: 'git.example.com',
    logLevel: 'verbose',
    bodyLimit: '25MB',
    drainSeconds: -1,
  },
  githubApp: { privateKey: '/run/key.pem' },
  door: { replicaCount: 3 },
  commonLabels: { team: 7 },
  service: { port: 70_000 },
  ingress: { enabled: 'yes' },
  image: { digest: 'sha256:abc' },
  database: { url: 'mysql://db.example.com' },
  extraEnv: [{ value: 'x' }],
};

const SAID: Readonly<Record<string, RegExp>> = {
  'a misspelt key': /additional propert\w+ '?webhookSecrets/i,
  'a misspelt key of the worker': /worker\b.*additional propert\w+ '?concurency/i,
  'a worker that is neither on nor off': /worker[./]enabled\b/,
  'more reviews at once than can be': /worker[./]concurrency\b/,
  'an unknown forge': /config[./]forge\b/,
  'a forge that is no URL': /config[./]forgeUrl\b/,
  'an unknown log level': /config[./]logLevel\b/,
  'a body limit in a unit that is not known': /config[./]bodyLimit\b/,
  'a negative drain': /config[./]drainSeconds\b/,
  'a private key that is none': /githubApp[./]privateKey\b/,
  'a misspelt key further in': /door\b.*additional propert\w+ '?replicaCount/i,
  'a number as a label': /commonLabels[./]team\b/,
  'a port that is none': /service[./]port\b/,
  'a string for a switch': /ingress[./]enabled\b/,
  'a digest that is none': /image[./]digest\b/,
  'a database that is not PostgreSQL': /database[./]url\b/,
  'a variable without a name': /extraEnv[./]0\b/,
};

test('the schema rejects every mistake', async (t) => {
  const { error = 'not rejected' } = await tryRender({ values: MISTAKES });
  for (const [title, says] of Object.entries(SAID)) {
    t.regex(error, says, title);
  }
});

test('the schema and values.yaml know the same keys', async (t) => {
  const values = parseYaml(await readFile(`${CHART}values.yaml`, 'utf8'));
  const schema: unknown = JSON.parse(await readFile(`${CHART}values.schema.json`, 'utf8'));
  const inSchema = schemaKeys(schema as Schema).filter((key) => key !== 'global' && key !== 'enabled');
  t.deepEqual(inSchema.sort(), valueKeys(values, schema as Schema).sort());
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** The paths of what a closed object may have; what is open is one path. */
function schemaKeys({ properties }: Schema, path = ''): string[] {
  return Object.entries(properties ?? {}).flatMap(([key, schema]) => {
    return schema.properties === undefined ? [path + key] : schemaKeys(schema, `${path}${key}.`);
  });
}

function valueKeys(values: unknown, { properties }: Schema, path = ''): string[] {
  return Object.entries(values as object).flatMap(([key, value]) => {
    const schema = properties?.[key];
    return schema?.properties === undefined ? [path + key] : valueKeys(value, schema, `${path}${key}.`);
  });
}

test('an umbrella chart may set globals and values, and disable Gatehouse', async (t) => {
  const umbrella = await mkdtemp(join(tmpdir(), 'gatehouse-umbrella-'));
  try {
    const dependency = `{ name: gatehouse, version: "*", condition: gatehouse.enabled }`;
    await writeFile(
      join(umbrella, 'Chart.yaml'),
      `apiVersion: v2\nname: umbrella\nversion: 1.0.0\ndependencies: [${dependency}]\n`,
    );
    await mkdir(join(umbrella, 'charts'));
    await symlink(CHART, join(umbrella, 'charts', 'gatehouse'));
    const values = (gatehouse: object) => ({
      global: { imageRegistry: 'r.example.com', anything: { at: ['all'] } },
      gatehouse: { ...gatehouse, generateWithoutCluster: true },
    });
    const on = await render({ chart: umbrella, values: values({ enabled: true, door: { replicas: 4 } }) });
    const door = find(on, 'Deployment', 'gh-gatehouse-door');
    t.is(door.spec?.['replicas'], 4);
    t.is(podOf(door)?.spec.containers[0]?.image, `gatehouse:${version}`);
    t.deepEqual(await render({ chart: umbrella, values: values({ enabled: false }) }), []);
  } finally {
    await rm(umbrella, { recursive: true });
  }
});
