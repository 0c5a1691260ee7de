/**
 * What `npm version 1.2.3` runs: writes the version wherever else it stands, and dates the changelog, for npm to commit and
 * tag. With `--check` it writes nothing. npm runs that first, so that a version that is refused leaves nothing changed.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Files in which the version stands as text. A document says it where a reader copies a command. */
const FILES: readonly string[] = [
  'README.md',
  'Dockerfile',
  'docs/operations.md',
  'docs/prove.md',
  'charts/gatehouse/Chart.yaml',
  'charts/gatehouse/README.md',
  'charts/gatehouse/ci/production-values.yaml',
];

/** What stands before the version: the name of an image or a package, a tag of git, a build argument, or a key of YAML. */
const BEFORE = 'gatehouse(?::|-(?:npm-)?)|gatehouse@v|rev: v|tags/v|VERSION=|^version: |^appVersion: "|^ *tag: "';

const UNRELEASED = '## Unreleased\n';

interface Versions {
  readonly from: string;
  readonly to: string;
}

async function withVersion(file: string, { from, to }: Versions): Promise<string> {
  const text = await readFile(file, 'utf8');
  const old = new RegExp(`(${BEFORE})${from.replaceAll('.', '\\.')}(?!\\w|\\.\\d)`, 'gm');
  if (!old.test(text)) {
    throw new Error(`${file} does not name version ${from}: put it right, or remove it from release/version.ts`);
  }
  return text.replace(old, `$1${to}`);
}

/** Puts what is under "Unreleased" under a version and its day. Throws when there is nothing. */
export function releaseChangelog(changelog: string, version: string, day: string): string {
  const start = changelog.indexOf(UNRELEASED);
  if (start < 0) {
    throw new Error('CHANGELOG.md has no "## Unreleased" section');
  }
  if (changelog.includes(`\n## ${version} `)) {
    throw new Error(`CHANGELOG.md has a section for ${version} already`);
  }
  const rest = changelog.slice(start + UNRELEASED.length);
  const [changes = ''] = rest.split(/^## /m);
  if (!/^- /m.test(changes)) {
    throw new Error('CHANGELOG.md lists no change under "## Unreleased"');
  }
  return `${changelog.slice(0, start)}${UNRELEASED}\n## ${version} - ${day}\n${rest}`;
}

/** The new text of each file. Throws when the version cannot be released. */
async function newTexts(versions: Versions): Promise<ReadonlyMap<string, string>> {
  if (!/^\d+\.\d+\.\d+$/.test(versions.to)) {
    throw new Error(`${versions.to} is not three numbers, such as 1.2.3: there are no pre-releases`);
  }
  // npm would commit first, and with --allow-same-version move the tag.
  const { stdout: tags } = await promisify(execFile)('git', ['tag', '--list', `v${versions.to}`]);
  if (tags !== '') {
    throw new Error(`the tag v${versions.to} exists already`);
  }
  const day = new Date().toISOString().slice(0, 10);
  const texts = new Map([['CHANGELOG.md', releaseChangelog(await readFile('CHANGELOG.md', 'utf8'), versions.to, day)]]);
  for (const file of FILES) {
    texts.set(file, await withVersion(file, versions));
  }
  return texts;
}

if (import.meta.main) {
  const { npm_old_version: from = '', npm_new_version: to = '' } = process.env;
  try {
    const texts = await newTexts({ from, to });
    if (!process.argv.includes('--check')) {
      await Promise.all([...texts].map(([file, text]) => writeFile(file, text)));
    }
  } catch (error) {
    process.stderr.write(`No version was made: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
