/**
 * `npm run release:npm`: compiles the commands for policies, with all that they import, and packs them into dist/ as an npm
 * package without dependencies. It publishes nothing. With a name and the address of the repository, as
 * `-- @team/gatehouse https://github.com/team/gatehouse`, npm takes the package under that name.
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { OLDEST_NODE } from '../../src/oldest-node.cjs';

const run = promisify(execFile);

const PROGRAMS = {
  gatehouse: 'release/npm/gatehouse.ts',
  // A worker thread is a program of its own: src/review/workers/worker-pool.ts.
  worker: 'src/review/workers/worker.ts',
};

/** CommonJS packages call `require`, which a module has not. */
const REQUIRE = "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);";

interface Packing {
  readonly root: string;
  readonly destination: string;
  /** Absent: `gatehouse`, which npm refuses to publish, since it is somebody else's package there. */
  readonly publishedAs?: PublishedAs | undefined;
}

interface PublishedAs {
  readonly name: string;
  /** The address of the repository, which npm compares with where the package was built. */
  readonly repository: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Returns the tarball's path. */
export async function packNpm({ root, destination, publishedAs }: Packing): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-npm-'));
  try {
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints: PROGRAMS,
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
    const manifest = manifestOf(await manifestIn(root), publishedAs);
    await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    const licences = await licencesOf(root, packageFolders(Object.keys(metafile.inputs)));
    await writeFile(join(folder, 'THIRD-PARTY.txt'), licences);
    await copyFile(join(root, 'release/npm/README.md'), join(folder, 'README.md'));
    await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    // Which `gatehouse init` reads.
    await mkdir(join(folder, 'docs'));
    await copyFile(join(root, 'docs/cookbook.md'), join(folder, 'docs/cookbook.md'));
    await mkdir(destination, { recursive: true });
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination], { cwd: folder });
    const [packed] = JSON.parse(stdout) as readonly { readonly filename: string }[];
    // npm's own name may be that of the packaged chart.
    const tarball = join(destination, `gatehouse-npm-${manifest.version}.tgz`);
    await rename(join(destination, packed?.filename ?? ''), tarball);
    return tarball;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function manifestOf({ version, license }: Manifest, publishedAs: PublishedAs | undefined) {
  const named =
    publishedAs === undefined
      ? { name: 'gatehouse', private: true }
      : { name: publishedAs.name, repository: { type: 'git', url: `git+${publishedAs.repository}.git` } };
  return {
    ...named,
    version,
    description: 'Write, check and test a Gatehouse policy',
    license,
    type: 'module',
    bin: { gatehouse: 'gatehouse.js' },
    engines: { node: `>=${OLDEST_NODE}` },
    files: ['*.js', 'docs/cookbook.md', 'THIRD-PARTY.txt'],
  };
}

/** Those of the packages among what was compiled, without twice the same. */
function packageFolders(inputs: readonly string[]): readonly string[] {
  return [...new Set(inputs.flatMap((input) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []))].sort();
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
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
  const [name, repository] = process.argv.slice(2);
  if (name !== undefined && repository === undefined) {
    process.stderr.write('usage: npm run release:npm [-- <name> <address of the repository>]\n');
    process.exit(64);
  }
  const publishedAs = name === undefined || repository === undefined ? undefined : { name, repository };
  process.stdout.write(`Packed ${await packNpm({ root, destination: join(root, 'dist'), publishedAs })}\n`);
}
