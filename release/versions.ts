import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Files in which the version stands as text, and how. A document says it where a reader copies a command. */
const TEXT_FILES: readonly string[] = [
  'README.md',
  'Dockerfile',
  'docs/operations.md',
  'docs/prove.md',
  'charts/gatehouse/Chart.yaml',
  'charts/gatehouse/README.md',
  'charts/gatehouse/ci/production-values.yaml',
];

/** What stands before the version: the name of an image or a package, a tag of git, a build argument, or a key of YAML. */
const BEFORE =
  'gatehouse(?::|-(?:npm-)?)|gatehouse@v|rev: v|tags/v|--branch v|VERSION=|^version: |^appVersion: "|^ *tag: "';

const RELEASE = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;

export function isVersion(text: string): boolean {
  return RELEASE.test(text);
}

/** Negative when `one` is older than `other`, 0 when they are the same. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number));
  const differences = (left ?? []).map((part, index) => part - (right?.[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

export async function readVersion(root: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** Puts a new version in every place where the old one stands. Returns the files that it wrote. */
export async function writeVersion(root: string, from: string, to: string): Promise<readonly string[]> {
  await writeJson(join(root, 'package.json'), (json) => ({ ...json, version: to }));
  await writeJson(join(root, 'package-lock.json'), (json) => {
    const packages = json['packages'] as Record<string, object>;
    return { ...json, version: to, packages: { ...packages, '': { ...packages[''], version: to } } };
  });
  const old = new RegExp(`(${BEFORE})${from.replaceAll('.', '\\.')}(?!\\w|\\.\\d)`, 'gm');
  for (const file of TEXT_FILES) {
    const path = join(root, file);
    const before = await readFile(path, 'utf8');
    const after = before.replace(old, `$1${to}`);
    if (after === before && from !== to) {
      throw new Error(`${file} does not name version ${from}: put it right, or remove it from release/versions.ts`);
    }
    await writeFile(path, after);
  }
  return ['package.json', 'package-lock.json', ...TEXT_FILES];
}

async function writeJson(path: string, change: (json: Record<string, unknown>) => object): Promise<void> {
  const json = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  await writeFile(path, `${JSON.stringify(change(json), null, 2)}\n`);
}
