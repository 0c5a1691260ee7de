import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { filesOf, writeFiles } from '../../src/commands/setup/files.ts';
import { type Container, find, parseManifests, podOf, render } from '../helpers/manifests.ts';
import { makeFolder } from '../helpers/setup.ts';
import { test } from '../helpers/test-with-helm.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const common = { WEBHOOK_SECRET: '0123456789abcdef0123456789abcdef' };
const CASES = {
  'a token and bundled stores': {
    ...common,
    ...{ FORGE: 'gitea', FORGE_URL: 'https://git.example.com', FORGE_TOKEN: 'a-token', STATUS_CONTEXT: 'gh/{base}' },
  },
  'an App and stores of its own': {
    ...common,
    ...{ FORGE: 'github', GITHUB_APP_ID: '4711', GITHUB_APP_PRIVATE_KEY: privateKey },
    ...{ DATABASE_URL: 'postgres://g:p@db/g', REDIS_URL: 'redis://r:6379' },
  },
};

/** The value that a container gets for a variable, from the Secret if it says so. */
function valueIn({ env = [] }: Container, name: string, secret: Readonly<Record<string, string>>): string | undefined {
  const found = env.find((entry) => entry.name === name);
  const reference = found?.valueFrom?.secretKeyRef;
  return reference === undefined ? found?.value : secret[reference.key];
}

for (const [name, settings] of Object.entries(CASES)) {
  test(`the chart takes what setup writes: ${name}`, async (t) => {
    const folder = await makeFolder(t);
    const webhookUrl = 'https://gatehouse.example.com/webhook';
    await writeFiles(filesOf({ folder, kubernetes: true, namespace: 'review', webhookUrl }, settings));
    const [secret] = parseManifests(await readFile(join(folder, 'gatehouse-secret.yaml'), 'utf8'));
    t.like(secret, { kind: 'Secret', metadata: { namespace: 'review' } });
    const manifests = await render({ release: 'gatehouse', valuesFile: join(folder, 'gatehouse-values.yaml') });
    const worker = podOf(find(manifests, 'Deployment', 'gatehouse-worker'))?.spec;
    const door = podOf(find(manifests, 'Deployment', 'gatehouse-door'))?.spec;
    const ingress = find(manifests, 'Ingress', 'gatehouse')['spec'];
    t.like(ingress, { rules: [{ host: 'gatehouse.example.com' }] });
    const [works, takes] = [worker?.containers[0] ?? t.fail(), door?.containers[0] ?? t.fail()];
    const data = secret?.['stringData'] as Readonly<Record<string, string>>;

    t.is(valueIn(takes, 'WEBHOOK_SECRET', data), common.WEBHOOK_SECRET);
    const {
      GITHUB_APP_PRIVATE_KEY: key,
      WEBHOOK_SECRET: _,
      ...others
    } = { GITHUB_APP_PRIVATE_KEY: undefined, ...settings };
    for (const [variable, value] of Object.entries(others)) {
      t.is(valueIn(works, variable, data), value, variable);
    }
    const references = [...(works.env ?? []), ...(takes.env ?? [])].flatMap(({ valueFrom }) =>
      valueFrom?.secretKeyRef && valueFrom.secretKeyRef.optional !== true ? [valueFrom.secretKeyRef] : [],
    );
    const own = references.filter((reference) => reference.name === secret?.metadata.name);
    t.true(own.length > 0 && own.every(({ key: entry }) => data[entry] !== undefined), 'every entry exists');
    t.is(data['github-app-private-key'], key);
    const volume = worker?.volumes?.find(({ name: called }) => called === 'github-app')?.secret;
    t.is(volume?.secretName, key === undefined ? undefined : secret?.metadata.name);
    t.is(volume?.items?.[0]?.key, key === undefined ? undefined : 'github-app-private-key');
  });
}
