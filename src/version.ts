import packageJson from '../package.json' with { type: 'json' };

export const version: string = packageJson.version;

/** The commit an image was built from. A fact of the build, not configuration. */
export const revision: string = process.env['GATEHOUSE_REVISION'] || 'unknown';

/** What was built, and of which commit. */
export const build = { version, revision } as const;
