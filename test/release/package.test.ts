import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ava, { type ExecutionContext } from 'ava';
import { changesOf } from '../../release/changelog.ts';
import { imageCommand, packageChart } from '../../release/package.ts';
import { readPublisher } from '../../release/publisher.ts';
import { readVersion } from '../../release/versions.ts';
import { helm } from '../helpers/helm.ts';
import { parseYaml, podOf, render } from '../helpers/manifests.ts';
import { test } from '../helpers/test-with-helm.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const PUBLISHER = {
  name: 'Example Publisher',
  contact: 'security@example.test',
  repository: 'https://code.example.test/platform/gatehouse',
  image: 'images.example.test:5000/platform/gatehouse',
  npm: null,
  signKey: null,
  artifactHub: null,
};

async function project(t: ExecutionContext, publisher?: object) {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-package-'));
  t.teardown(() => rm(root, { recursive: true }));
  for (const path of ['charts', 'package.json', 'publisher.json', 'CHANGELOG.md']) {
    await cp(join(ROOT, path), join(root, path), { recursive: true });
  }
  if (publisher !== undefined) {
    await writeFile(join(root, 'publisher.json'), JSON.stringify(publisher));
  }
  return { root, destination: join(root, 'dist'), time: new Date(1_700_000_000_000) };
}

ava('packaging is refused while publisher.json is empty, and every field is named', async (t) => {
  const empty = { name: null, contact: null, repository: null, image: null };
  const { root, destination, time } = await project(t, empty);
  const error = await t.throwsAsync(packageChart({ root, destination, time }));
  for (const field of Object.keys(empty)) {
    t.regex(error?.message ?? '', new RegExp(`^  ${field}: expected `, 'm'));
  }
  t.false((await readdir(root)).includes('dist'));
});

ava('packaging is refused for a field that cannot be right', async (t) => {
  for (const [field, value] of [
    ['name', ' '],
    ['contact', 'somebody'],
    ['repository', 'http://code.example.test/gatehouse'],
    ['image', 'images.example.test/gatehouse:1.0.0'],
    ['image', 'gatehouse'],
    ['npm', 'gatehouse'],
  ] as const) {
    const { root, destination, time } = await project(t, { ...PUBLISHER, [field]: value });
    const error = await t.throwsAsync(packageChart({ root, destination, time }), undefined, `${field}: ${value}`);
    t.regex(error?.message ?? '', new RegExp(`Fill in:\n  ${field}: expected [^\n]+$`), `${field}: ${value}`);
  }
});

test('a packaged chart names its publisher and installs the published image', async (t) => {
  const { root, destination, time } = await project(t, PUBLISHER);
  const chart = await packageChart({ root, destination, time });
  const shown = await helm(['show', 'chart', chart]);
  t.like(parseYaml(shown.stdout), {
    home: PUBLISHER.repository,
    sources: [PUBLISHER.repository],
    maintainers: [{ name: PUBLISHER.name, email: PUBLISHER.contact }],
  });
  const door = (await render({ chart })).find(({ kind }) => kind === 'Deployment');
  const image = door === undefined ? undefined : podOf(door)?.spec.containers[0]?.image;
  t.is(image, `${PUBLISHER.image}:${await readVersion(root)}`);
  const readme = await helm(['show', 'readme', chart]);
  t.true(readme.stdout.includes(`| \`image.repository\` | \`"${PUBLISHER.image}"\` |`));
});

ava('the changes of a chart are those of its version, each on one line', (t) => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-01-02\n\n### Fixed\n\n- One\n  thing.\n- Another.\n\n## 1.1.0 - 2025-01-01\n\n### Added\n\n- Old.\n';
  t.deepEqual(changesOf(changelog, '1.2.0'), [
    { kind: 'fixed', description: 'One thing.' },
    { kind: 'fixed', description: 'Another.' },
  ]);
  t.deepEqual(changesOf(changelog, '1.3.0'), []);
});

ava('the image’s command has the chart’s tag and the publisher’s labels', async (t) => {
  const { root } = await project(t, { ...PUBLISHER, name: "O'Neil" });
  const command = imageCommand(await readPublisher(root), '1.2.3');
  t.regex(command, /^docker build --tag images\.example\.test:5000\/platform\/gatehouse:1\.2\.3 \\$/m);
  t.true(command.includes(`org.opencontainers.image.source='${PUBLISHER.repository}'`));
  t.true(command.includes(`org.opencontainers.image.vendor='O'\\''Neil'`));
});
