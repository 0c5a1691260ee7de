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

export interface Change {
  /** As Artifact Hub names it: `added`, `changed`, `deprecated`, `removed`, `fixed` or `security`. */
  readonly kind: string;
  readonly description: string;
}

/** The section of a version without its heading, or that of "Unreleased" when the version is not released yet. */
export function sectionOf(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const section =
    sections.find((text) => text.startsWith(`${version} - `)) ??
    sections.find((text) => text.startsWith('Unreleased\n'));
  return (section ?? '').replace(/^.*\n/, '');
}

/** The changes in the section of a version. */
export function changesOf(changelog: string, version: string): readonly Change[] {
  return sectionOf(changelog, version)
    .split(/^### /m)
    .slice(1)
    .flatMap((group) => {
      const [kind = '', ...bullets] = group.split(/^(?:- |\s*$)/m);
      return bullets
        .map((bullet) => bullet.replace(/\s+/g, ' ').trim())
        .filter((description) => description !== '')
        .map((description) => ({ kind: kind.trim().toLowerCase(), description }));
    });
}
