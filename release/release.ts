/**
 * `npm run release -- <version>`: writes the version wherever it stands, dates the changelog, commits, and makes the
 * tag `v<version>`. The first one also makes the policy require a line in the changelog. It pushes nothing.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { releaseChangelog } from './changelog.ts';
import { compareVersions, isVersion, readVersion, writeVersion } from './versions.ts';

const run = promisify(execFile);

export interface Release {
  readonly root: string;
  readonly version: string;
  /** As `2026-11-21`. */
  readonly day: string;
}

/** Throws, with nothing changed, when the release cannot be made. */
export async function release({ root, version, day }: Release): Promise<void> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim();
  const tag = `v${version}`;
  const current = await readVersion(root);
  if (!isVersion(version)) {
    throw new Error(`"${version}" is not a version: expected three numbers, such as 1.2.3`);
  }
  if (compareVersions(version, current) < 0) {
    throw new Error(`${version} is older than the present version, ${current}`);
  }
  if ((await git('status', '--porcelain')) !== '') {
    throw new Error('there are uncommitted changes: commit or remove them first');
  }
  if ((await git('tag', '--list', tag)) !== '') {
    throw new Error(`the tag ${tag} exists already`);
  }
  const changelog = join(root, 'CHANGELOG.md');
  const released = releaseChangelog(await readFile(changelog, 'utf8'), version, day);
  await writeVersion(root, current, version);
  await writeFile(changelog, released);
  await enforceChangelog(join(root, '.gatehouse.yml'));
  await git('commit', '--all', '--message', `Release ${version}`);
  await git('tag', '--annotate', tag, '--message', `Gatehouse ${version}`);
}

/** Before the first release there is no user for whom a pull request could add a line. */
async function enforceChangelog(policy: string): Promise<void> {
  await writeFile(policy, (await readFile(policy, 'utf8')).replace(/^ *level: observe # until .* is released\n/m, ''));
}

if (import.meta.main) {
  const [version = '', ...more] = process.argv.slice(2);
  if (version === '' || more.length > 0) {
    process.stderr.write('usage: npm run release -- <version>, such as 1.2.3\n');
    process.exit(64);
  }
  const root = fileURLToPath(new URL('..', import.meta.url));
  try {
    await release({ root, version, day: new Date().toISOString().slice(0, 10) });
    process.stdout.write(`Committed and tagged v${version}. Next: push the branch and the tag\n`);
  } catch (error) {
    process.stderr.write(`No release was made: ${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}
