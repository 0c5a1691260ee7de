const UNRELEASED = '## Unreleased\n';

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
