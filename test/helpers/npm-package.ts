import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { Parser } from 'tar';
import { execute } from './execute.ts';

/** Where tests keep what they fetch once. `npm ci` empties it. */
export const CACHE = fileURLToPath(new URL('../../node_modules/.cache/gatehouse/', import.meta.url));

/** A package of the npm registry that tests read but that nothing imports, so it is no dependency. */
export interface PinnedPackage {
  readonly spec: string;
  readonly integrity: string;
}

/** The registry does not answer, or what is wanted is not there. */
export class CannotFetch extends Error {}

/** The files of a package by their paths inside it. It is fetched with `npm pack` once and then read from the cache. */
export async function filesOf(pinned: PinnedPackage, wanted: (path: string) => boolean): Promise<Map<string, Buffer>> {
  const tarball = await readFile(await fetched(pinned));
  const found = createHash('sha512').update(tarball).digest('base64');
  if (`sha512-${found}` !== pinned.integrity) {
    throw new Error(`${pinned.spec}: expected ${pinned.integrity}, found sha512-${found}`);
  }
  return tarFiles(tarball, wanted);
}

/** Where the registry does not answer, its silence is known in seconds. */
const QUICKLY = ['--silent', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=3000'];

async function fetched({ spec }: PinnedPackage): Promise<string> {
  const tarball = join(CACHE, `${spec.replaceAll(/[^\w.-]/g, '_')}.tgz`);
  if (existsSync(tarball)) {
    return tarball;
  }
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'pack-'));
  try {
    const pack = ['pack', spec, ...QUICKLY, '--pack-destination', folder];
    const { stdout } = await execute('npm', pack, { cwd: folder }).catch((cause: unknown) => {
      throw new CannotFetch(`${spec} cannot be fetched`, { cause });
    });
    const name = stdout.trim().split('\n').at(-1) ?? '';
    // Whole or not at all: another test file may be fetching the same.
    await rename(join(folder, name), tarball);
  } finally {
    await rm(folder, { recursive: true });
  }
  return tarball;
}

async function tarFiles(tarball: Buffer, wanted: (path: string) => boolean): Promise<Map<string, Buffer>> {
  const files: Promise<readonly [string, Buffer]>[] = [];
  // npm puts everything into one folder.
  const inside = (path: string) => path.replace(/^[^/]+\//, '');
  const parser = new Parser({
    strict: true,
    filter: (path) => wanted(inside(path)),
    onReadEntry: (entry) => files.push(entry.concat().then((content) => [inside(entry.path), content])),
  });
  await pipeline(Readable.from([tarball]), parser);
  return new Map(await Promise.all(files));
}
