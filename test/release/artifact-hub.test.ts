import { access, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ava, { type ExecutionContext } from 'ava';
import MarkdownIt from 'markdown-it';
import { z } from 'zod';
import { repositoryFile } from '../../release/artifact-hub.ts';
import { packageChart } from '../../release/package.ts';
import type { Publisher } from '../../release/publisher.ts';
import { helm } from '../helpers/helm.ts';
import { parseYaml } from '../helpers/manifests.ts';
import { test } from '../helpers/test-with-helm.ts';

/** What Artifact Hub and `helm show` print of a packaged chart. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DIGEST = `sha256:${'1'.repeat(64)}`;

const PUBLISHER: Publisher = {
  name: 'Example Publisher',
  contact: 'security@example.test',
  repository: 'https://code.example.test/platform/gatehouse',
  image: 'images.example.test:5000/platform/gatehouse',
  npm: null,
  signKey: 'https://code.example.test/cosign.pub',
  artifactHub: '0b55ca8d-8ae2-4a1e-9d4b-5a0f1f6e1d10',
};
const CHART = 'images.example.test:5000/platform/charts/gatehouse';

const url = z.url({ protocol: /^https$/ });
/** YAML in the text of an annotation. */
const yaml = <T>(schema: z.ZodType<T>) => z.string().transform(parseYaml).pipe(schema);
const flag = z.enum(['true', 'false']);

/** Their format, as https://artifacthub.io/docs/topics/annotations/helm describes it. It publishes no schema. */
const annotations = z.strictObject({
  'artifacthub.io/category': z.enum([
    'ai-machine-learning',
    'database',
    'integration-delivery',
    'monitoring-logging',
    'networking',
    'security',
    'storage',
    'streaming-messaging',
    'skip-prediction',
  ]),
  'artifacthub.io/changes': yaml(
    z
      .array(
        z.strictObject({
          kind: z.enum(['added', 'changed', 'deprecated', 'removed', 'fixed', 'security']),
          description: z.string().regex(/^[^-\s].*\S$/),
        }),
      )
      .min(1),
  ),
  'artifacthub.io/containsSecurityUpdates': flag,
  'artifacthub.io/images': yaml(
    z.array(
      z.strictObject({
        name: z.string().min(1),
        image: z.string().regex(/^\S+(:(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})$/),
        platforms: z.array(z.string().regex(/^linux\/[a-z0-9]+$/)).optional(),
      }),
    ),
  ),
  'artifacthub.io/license': z.literal('Apache-2.0'),
  'artifacthub.io/links': yaml(z.array(z.strictObject({ name: z.string().min(1), url })).min(1)),
  'artifacthub.io/operator': flag,
  'artifacthub.io/prerelease': flag,
  'artifacthub.io/screenshots': yaml(z.array(z.strictObject({ title: z.string().min(1), url })).min(1)),
  'artifacthub.io/signKey': yaml(z.strictObject({ fingerprint: z.string().regex(/^[0-9a-f]{64}$/), url })).optional(),
});

/** As https://github.com/artifacthub/hub/blob/master/docs/metadata/artifacthub-repo.yml describes it. */
const repository = z.strictObject({
  repositoryID: z.uuid().optional(),
  owners: z.array(z.strictObject({ name: z.string().min(1), email: z.email() })).optional(),
});

async function packaged(t: ExecutionContext, publisher: Publisher, released: object = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-artifact-hub-'));
  t.teardown(() => rm(root, { recursive: true }));
  for (const path of ['charts', 'package.json', 'CHANGELOG.md']) {
    await cp(join(ROOT, path), join(root, path), { recursive: true });
  }
  await writeFile(join(root, 'publisher.json'), JSON.stringify(publisher));
  return packageChart({ root, destination: join(root, 'dist'), time: new Date(1_700_000_000_000), ...released });
}

async function annotationsOf(chart: string) {
  const { stdout } = await helm(['show', 'chart', chart]);
  return annotations.parse((parseYaml(stdout) as { annotations: unknown }).annotations);
}

test('the annotations of a released chart have the format that Artifact Hub reads', async (t) => {
  const fingerprint = 'a'.repeat(64);
  const chart = await packaged(t, PUBLISHER, { imageDigest: DIGEST, platforms: ['linux/amd64'], fingerprint });
  const found = await annotationsOf(chart);
  t.deepEqual(found['artifacthub.io/images'], [
    { name: 'gatehouse', image: `${PUBLISHER.image}@${DIGEST}`, platforms: ['linux/amd64'] },
    { name: 'postgresql', image: 'postgres:17-alpine' },
    { name: 'redis', image: 'redis:8-alpine' },
  ]);
  t.deepEqual(found['artifacthub.io/signKey'], { fingerprint, url: PUBLISHER.signKey ?? '' });
  t.deepEqual(found['artifacthub.io/links'][0], { name: 'support', url: `${PUBLISHER.repository}/issues` });
});

test('no key is named where none signs, or where nobody says where it is', async (t) => {
  const fingerprint = 'a'.repeat(64);
  for (const chart of [
    await packaged(t, PUBLISHER),
    await packaged(t, { ...PUBLISHER, signKey: null }, { fingerprint }),
  ]) {
    t.is((await annotationsOf(chart))['artifacthub.io/signKey'], undefined);
  }
});

test('the links of a chart lead to files that exist', async (t) => {
  const found = await annotationsOf(await packaged(t, PUBLISHER));
  const urls = [...found['artifacthub.io/links'], ...found['artifacthub.io/screenshots']].map(({ url }) => url);
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const link of urls.filter((link) => !link.endsWith('/issues'))) {
    const [, path = ''] = link.split(new RegExp(`^${PUBLISHER.repository}/(?:tree|raw)/v${version}/|#`));
    await t.notThrowsAsync(access(join(ROOT, path)), link);
    t.not(path, '', link);
  }
});

ava('the file of the repository says what publisher.json says, and nothing else', (t) => {
  const parsed = (changes: Partial<Publisher>) => {
    const text = repositoryFile({ ...PUBLISHER, ...changes });
    return text === undefined ? undefined : repository.parse(parseYaml(text));
  };
  const owners = [{ name: PUBLISHER.name, email: PUBLISHER.contact }];
  t.deepEqual(parsed({}), { repositoryID: PUBLISHER.artifactHub ?? '', owners });
  t.deepEqual(parsed({ artifactHub: null }), { owners });
  t.is(parsed({ artifactHub: null, contact: 'https://code.example.test/contact' }), undefined);
});

test('the README of a packaged chart has no relative link and no local path', async (t) => {
  const chart = await packaged(t, { ...PUBLISHER, repository: `${PUBLISHER.repository}.git` });
  const { stdout } = await helm(['show', 'readme', chart]);
  const tokens = new MarkdownIt().parse(stdout, {}).flatMap((token) => [token, ...(token.children ?? [])]);
  const targets = tokens.flatMap((token) => token.attrGet('href') ?? token.attrGet('src') ?? []);
  t.true(targets.length > 5);
  for (const target of targets) {
    t.regex(target, /^https:\/\//);
    t.false(target.includes('.git/'), target);
  }
  for (const { type, content } of tokens.filter(({ type }) => /^(fence|code_inline)$/.test(type))) {
    t.notRegex(content, /docker build|\bcharts\/gatehouse(?! --version )|registry\.example\.com/, type);
  }
  const text = stdout.replaceAll(/\[[^\]]*\]\([^)]*\)/g, '');
  t.notRegex(text, /\bdocs\/\w+\.md|<!-- \/?install -->/);
  t.true(stdout.includes(`helm install gatehouse oci://${CHART} --version `));
  t.true(stdout.includes(`helm upgrade gatehouse oci://${CHART} --version `));
});

test('the README says that a chart is signed only where a release signs it', async (t) => {
  const readme = async (released: object) =>
    (await helm(['show', 'readme', await packaged(t, PUBLISHER, released)])).stdout;
  t.notRegex(await readme({}), /are signed/);
  t.regex(await readme({ imageDigest: DIGEST }), /are signed/);
});

test('the tables of the chart’s README have as many cells in every row', async (t) => {
  const { stdout } = await helm(['show', 'readme', await packaged(t, PUBLISHER)]);
  const tables = stdout.split('\n\n').filter((block) => /^\|.*\n\|[-|]+\n/.test(block.trimStart()));
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
