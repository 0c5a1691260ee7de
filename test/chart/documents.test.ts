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

async function notesOf(set: readonly string[]): Promise<string> {
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

const INGRESS = ['ingress.enabled=true', 'ingress.hosts={gatehouse.example.com}', 'ingress.tls[0].secretName=tls'];
const TOKEN = 'forgeToken.existingSecret=mine';
const NOTES: readonly (readonly [title: string, settings: readonly string[], say: readonly RegExp[], not?: RegExp])[] =
  [
    [
      'list the next steps, and warn that bundled stores are for evaluation and that nothing is reviewed',
      [],
      [
        /FOR EVALUATION ONLY/,
        /NOTHING IS REVIEWED YET/,
        /githubApp or forgeToken:/,
        /helm upgrade gh .* --set forgeToken\.existingSecret=gatehouse-forge$/m,
        /1\. Webhook URL\n.*\n +http:\/\/gh-gatehouse\.gatehouse-test\.svc:80\/webhook\n/,
        /2\. Signing key\n +kubectl -n gatehouse-test get secret gh-gatehouse /,
        /-o go-template='\{\{index \.data "webhook-secret" \| base64decode\}\}'/,
        /3\. The forge's settings\n.*Add webhook/,
        /Content type +application\/json/,
      ],
      // Only a worker has the credentials.
      /gatehouse doctor/,
    ],
    [
      'name the public host and the user’s Secret',
      [...INGRESS, 'webhookSecret.existingSecret=mine', 'webhookSecret.existingSecretKey=key'],
      [/https:\/\/gatehouse\.example\.com\/webhook/, /get secret mine/, /\{\{index \.data "key" \| base64decode\}\}/],
    ],
    ...['gitea', 'forgejo'].map(
      (forge) =>
        [
          `show ALLOWED_HOST_LIST and what is missing, for ${forge}`,
          [`config.forge=${forge}`],
          [
            /ALLOWED_HOST_LIST = external, [\w-]+\.[\w-]+\.svc/,
            new RegExp(`Add Webhook > ${forge === 'gitea' ? 'Gitea' : 'Forgejo'}`),
            /config\.forgeUrl and forgeToken:/,
            /forgeToken\.existingSecret=gatehouse-forge,config\.forgeUrl=/,
          ],
        ] as const,
    ),
    [
      'warn that without a worker nothing is reviewed',
      ['worker.enabled=false', TOKEN],
      [/NOTHING IS REVIEWED YET \*\*\*\n +worker\.enabled is false/],
    ],
    ['warn that rules are not enforced', [TOKEN, 'config.enforce=false'], [/RULES ARE NOT ENFORCED/]],
    [
      'say what a repository needs to be reviewed',
      [TOKEN],
      [
        /kubectl -n gatehouse-test exec deployment\/gh-gatehouse-worker -- gatehouse doctor owner\/repository\n/,
        /4\. A policy\n.*\.gatehouse\.yml\.\n/,
      ],
      /NOTHING IS REVIEWED|NOT ENFORCED/,
    ],
    [
      'have doctor ask at the public host',
      [TOKEN, ...INGRESS],
      [/gatehouse doctor owner\/repository \\\n +--url https:\/\/gatehouse\.example\.com\/webhook\n?$/],
    ],
    ['name the operator’s policy', [TOKEN, 'config.policy=x'], [/by config\.policy until then/]],
    [
      'have no warning with external stores',
      [
        ...['bundled.postgresql.enabled=false', 'bundled.redis.enabled=false'],
        ...['database.existingSecret=stores', 'redis.existingSecret=stores'],
      ],
      [],
      /EVALUATION/,
    ],
  ];

for (const [title, settings, say, not = /<no value>/] of NOTES) {
  test(`the notes ${title}`, async (t) => {
    const text = await notesOf(settings);
    for (const words of say) {
      t.regex(text, words);
    }
    t.notRegex(text, not);
  });
}
