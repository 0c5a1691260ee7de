import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Run } from './run.ts';
import type { Source } from './source.ts';

/** The name of the list in buildah's own storage. */
const LIST = 'gatehouse-release';

export interface Build {
  /** As `name@sha256:…`. */
  readonly nodeImage: string;
  /** As `linux/amd64,linux/arm64`. */
  readonly platforms: string;
  readonly plainHttp: boolean;
}

/** Builds the image for every platform, as a list in buildah's storage. Two builds of one commit are the same, byte by byte. */
export async function buildImage(
  run: Run,
  { publisher, version, revision, time }: Source,
  build: Build,
): Promise<void> {
  await removeImage(run);
  const { name, contact, repository } = publisher;
  const labels = { source: repository, url: repository, vendor: name, authors: contact };
  await run(
    'buildah',
    ...['build', '--format', 'oci', '--network', 'host', '--timestamp', String(time.getTime() / 1_000)],
    ...['--platform', build.platforms, '--manifest', LIST, `--tls-verify=${!build.plainHttp}`],
    ...['--build-arg', `NODE_IMAGE=${build.nodeImage}`],
    ...['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`],
    ...Object.entries(labels).flatMap(([label, value]) => ['--label', `org.opencontainers.image.${label}=${value}`]),
    '.',
  );
}

/** Returns the digest. */
export async function pushImage(run: Run, to: string, plainHttp: boolean): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-image-'));
  try {
    const file = join(folder, 'digest');
    const tls = `--tls-verify=${!plainHttp}`;
    await run('buildah', 'manifest', 'push', '--all', tls, '--digestfile', file, LIST, `docker://${to}`);
    return (await readFile(file, 'utf8')).trim();
  } finally {
    await rm(folder, { recursive: true });
  }
}

export interface Contents {
  /** The status file of Debian's package manager. */
  readonly dpkg: string;
  /** What `node --version` prints. */
  readonly node: string;
  /** The lockfile that npm writes of what it has installed. */
  readonly npm: string;
}

/** What is in the built image, for this machine's platform. */
export async function inspectImage(run: Run): Promise<Contents> {
  const container = await run('buildah', 'from', '--pull-never', LIST);
  try {
    const folder = await run('buildah', 'mount', container);
    const dpkg = await readFile(join(folder, 'var/lib/dpkg/status'), 'utf8');
    const npm = await readFile(join(folder, 'app/node_modules/.package-lock.json'), 'utf8');
    return { dpkg, npm, node: await run('buildah', 'run', '--network', 'host', container, '--', 'node', '--version') };
  } finally {
    await run('buildah', 'rm', container);
  }
}

export async function removeImage(run: Run): Promise<void> {
  await run('buildah', 'manifest', 'rm', LIST).catch(() => undefined);
  await run('buildah', 'rmi', '--prune').catch(() => undefined);
}
