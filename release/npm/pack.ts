/**
 * `npm run release:npm`: compiles the commands that need no store, with all that they import, and packs them into dist/ as
 * an npm package without dependencies. It publishes nothing.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { OLDEST_NODE } from '../../src/oldest-node.cjs';
import type { Packaging } from '../package.ts';
import { readNpmName } from '../publisher.ts';
import { readVersion } from '../versions.ts';

const run = promisify(execFile);

/** What people run, by the name of its file. */
const PROGRAMS = { gatehouse: 'release/npm/gatehouse.ts' };
/** A worker thread is a program of its own: src/review/workers/worker-pool.ts. */
const THREADS = { worker: 'src/review/workers/worker.ts' };

/** CommonJS packages call `require`, which a module has not. */
const REQUIRE = "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);";

/** The name of the file that {@link packNpm} writes, whatever the package is named: npm's own may be that of the chart. */
export const npmFile = (version: string) => `gatehouse-npm-${version}.tgz`;

export interface Packed {
  /** Path of the tarball. */
  readonly tarball: string;
  /** The packages that were compiled in. */
  readonly packages: readonly CompiledPackage[];
}

export interface CompiledPackage {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

export async function packNpm({ root, destination }: Packaging): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-npm-'));
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: { ...PROGRAMS, ...THREADS },
      outdir: folder,
      bundle: true,
      // A command loads what it needs, and Node's compile cache is open before that is compiled.
      splitting: true,
      minify: true,
      platform: 'node',
      format: 'esm',
      target: `node${OLDEST_NODE}`,
      banner: { js: REQUIRE },
      legalComments: 'none',
      metafile: true,
      logLevel: 'error',
    });
    await writeFile(join(folder, 'package.json'), `${JSON.stringify(await manifestOf(root), null, 2)}\n`);
    const folders = packageFolders(Object.keys(metafile.inputs));
    await writeFile(join(folder, 'THIRD-PARTY.txt'), await licencesOf(root, folders));
    await copyFile(join(root, 'release/npm/README.md'), join(folder, 'README.md'));
    await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    await mkdir(destination, { recursive: true });
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination], { cwd: folder });
    const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[];
    const tarball = join(destination, npmFile(await readVersion(root)));
    await rename(join(destination, packed?.filename ?? ''), tarball);
    return { tarball, packages: await Promise.all(folders.map((path) => manifestIn(join(root, path)))) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Without a name of the publisher's own, npm refuses to publish it: `gatehouse` is somebody else's package there. */
async function manifestOf(root: string): Promise<object> {
  const name = await readNpmName(root);
  const { version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<string, string>;
  return {
    ...(name === null ? { name: 'gatehouse', private: true } : { name }),
    version,
    description: 'Check and test a Gatehouse policy',
    license,
    type: 'module',
    bin: Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, `${name}.js`])),
    engines: { node: `>=${OLDEST_NODE}` },
    files: ['*.js', 'THIRD-PARTY.txt'],
  };
}

/** Those of the packages among what was compiled, without twice the same. */
function packageFolders(inputs: readonly string[]): readonly string[] {
  return [...new Set(inputs.flatMap((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []))].sort();
}

async function manifestIn(folder: string): Promise<CompiledPackage> {
  const { name, version, license } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  ) as CompiledPackage;
  return { name, version, ...(license === undefined ? {} : { license }) };
}

/** The licences of packages. Throws when one has none. */
async function licencesOf(root: string, folders: readonly string[]): Promise<string> {
  const texts: string[] = [];
  for (const folder of folders) {
    const { name, version, license } = await manifestIn(join(root, folder));
    const file = (await readdir(join(root, folder))).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    if (file === undefined && license === undefined) {
      throw new Error(`${folder} has no licence`);
    }
    const text = file === undefined ? '' : `\n\n${(await readFile(join(root, folder, file), 'utf8')).trim()}`;
    texts.push(`${name} ${version}: ${license}${text}\n`);
  }
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { tarball } = await packNpm({ root, destination: join(root, 'dist') });
  process.stdout.write(`Packed ${tarball}\n`);
}
