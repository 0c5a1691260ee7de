import { readFile } from 'node:fs/promises';
import { startCluster } from '../helpers/cluster.ts';
import { helm } from '../helpers/helm.ts';
import { CHART, NAMESPACE, parseYaml } from '../helpers/manifests.ts';
import ava from '../helpers/test.ts';
import { test } from '../helpers/test-with-helm.ts';
import { documentedValues, withValues } from './readme.ts';

const read = (name: string) => readFile(`${CHART}${name}`, 'utf8');

ava('the chart’s README has the values as they are: run `npm run chart:readme`', async (t) => {
  const readme = await read('README.md');
  t.is(readme, withValues(readme, await read('values.yaml')));
});

ava('every value is described, itself or as part of one that is', async (t) => {
  const text = await read('values.yaml');
  const described = documentedValues(text).map(({ path }) => path);
  const leaves = (value: unknown, path: string): string[] => {
    if (typeof value !== 'object' || value === null || described.includes(path)) {
      return [path];
    }
    return Object.entries(value).flatMap(([key, item]) => leaves(item, path === '' ? key : `${path}.${key}`));
  };
  t.true(described.length > 80);
  t.deepEqual(
    leaves(parseYaml(text), '').filter((path) => !described.includes(path)),
    [],
  );
});

ava('the versions of the chart and of its service are the package’s', async (t) => {
  const { version } = JSON.parse(await readFile(`${CHART}../../package.json`, 'utf8')) as { version: string };
  t.like(parseYaml(await read('Chart.yaml')), { version, appVersion: version });
});

ava('the tables of the chart’s README have as many cells in every row', async (t) => {
  const tables = (await read('README.md')).split('\n\n').filter((block) => /^\|.*\n\|[-|]+\n/.test(block.trimStart()));
  t.true(tables.length >= 2);
  for (const table of tables) {
    const rows = table.trim().split('\n');
    const cells = (row: string) => row.replaceAll('\\|', '').split('|').length;
    t.deepEqual(
      new Set(rows.map(cells)).size,
      1,
      rows.find((row) => cells(row) !== cells(rows[0] ?? '')),
    );
  }
});

/** By settings. */
const installed = new Map<string, Promise<string>>();

function notes(...set: string[]): Promise<string> {
  const key = set.join();
  const known = installed.get(key) ?? install(set);
  installed.set(key, known);
  return known;
}

async function install(set: readonly string[]): Promise<string> {
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    const settings = set.flatMap((setting) => ['--set', setting]);
    const release = ['gh', CHART, '--namespace', NAMESPACE, ...settings];
    const { ok, stdout, stderr } = await helm(['install', ...release, ...cluster.helmArguments]);
    if (!ok) {
      throw new Error(stderr);
    }
    return stdout.slice(stdout.indexOf('NOTES:'));
  } finally {
    await cluster.close();
  }
}

test('the notes list the next steps, and warn that bundled stores are for evaluation', async (t) => {
  const text = await notes();
  t.regex(text, /FOR EVALUATION ONLY/);
  t.regex(text, /1\. Webhook URL\n.*\n +http:\/\/gh-gatehouse\.gatehouse-test\.svc:80\/webhook\n/);
  t.regex(text, /2\. Signing key\n +kubectl -n gatehouse-test get secret gh-gatehouse /);
  t.true(text.includes(`-o go-template='{{index .data "webhook-secret" | base64decode}}'`));
  t.regex(text, /3\. The forge's settings\n.*Add webhook/);
  t.regex(text, /Content type +application\/json/);
});

test('the notes name the public host and the user’s Secret', async (t) => {
  const text = await notes(
    'ingress.enabled=true',
    'ingress.hosts={gatehouse.example.com}',
    'ingress.tls[0].secretName=tls',
    'webhookSecret.existingSecret=mine',
    'webhookSecret.existingSecretKey=key',
  );
  t.true(text.includes('https://gatehouse.example.com/webhook'));
  t.true(text.includes('get secret mine'));
  t.true(text.includes('{{index .data "key" | base64decode}}'));
});

test('the notes for Gitea and Forgejo show ALLOWED_HOST_LIST', async (t) => {
  for (const forge of ['gitea', 'forgejo']) {
    const text = await notes(`config.forge=${forge}`);
    t.regex(text, /ALLOWED_HOST_LIST = external, [\w-]+\.[\w-]+\.svc/);
    t.true(text.includes(`Add Webhook > ${forge === 'gitea' ? 'Gitea' : 'Forgejo'}`));
  }
});

test('without forge credentials the notes warn that nothing is reviewed', async (t) => {
  const github = await notes();
  t.regex(github, /NOTHING IS REVIEWED YET/);
  t.regex(github, /githubApp or forgeToken:/);
  t.regex(github, /helm upgrade gh .* --set forgeToken\.existingSecret=gatehouse-forge$/m);
  const gitea = await notes('config.forge=gitea');
  t.regex(gitea, /config\.forgeUrl and forgeToken:/);
  t.regex(gitea, /forgeToken\.existingSecret=gatehouse-forge,config\.forgeUrl=/);
  const left = await notes('worker.enabled=false', 'forgeToken.existingSecret=mine');
  t.regex(left, /NOTHING IS REVIEWED YET \*\*\*\n +worker\.enabled is false/);
});

test('the notes warn that rules are not enforced', async (t) => {
  t.regex(await notes('forgeToken.existingSecret=mine', 'config.enforce=false'), /RULES ARE NOT ENFORCED/);
  t.notRegex(await notes('forgeToken.existingSecret=mine'), /NOT ENFORCED/);
});

test('with a worker the notes say what a repository needs to be reviewed', async (t) => {
  const text = await notes('forgeToken.existingSecret=mine');
  t.notRegex(text, /NOTHING IS REVIEWED/);
  t.regex(
    text,
    /kubectl -n gatehouse-test exec deployment\/gh-gatehouse-worker -- gatehouse doctor owner\/repository\n/,
  );
  t.notRegex(await notes(), /gatehouse doctor/, 'only a worker has the credentials');
  const ingress = ['ingress.enabled=true', 'ingress.hosts={gatehouse.example.com}', 'ingress.tls[0].secretName=tls'];
  t.regex(
    await notes('forgeToken.existingSecret=mine', ...ingress),
    /gatehouse doctor owner\/repository \\\n +--url https:\/\/gatehouse\.example\.com\/webhook\n?$/,
  );
  t.regex(text, /4\. A policy\n.*\.gatehouse\.yml\.\n/);
  t.regex(await notes('forgeToken.existingSecret=mine', 'config.policy=x'), /by config\.policy until then/);
});

test('with external stores the notes have no warning', async (t) => {
  const text = await notes(
    'bundled.postgresql.enabled=false',
    'bundled.redis.enabled=false',
    'database.existingSecret=stores',
    'redis.existingSecret=stores',
  );
  t.notRegex(text, /EVALUATION/);
});
