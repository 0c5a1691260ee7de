/** What GitHub publishes a description of: github.com, Enterprise Cloud, and the versions of Enterprise Server. */
export const VERSIONS = ['api.github.com', 'ghec', 'ghes-3.17', 'ghes-3.18', 'ghes-3.19'] as const;
export type Version = (typeof VERSIONS)[number];

export function fileOf(version: Version): URL {
  return new URL(`${version}.json`, import.meta.url);
}

export const WEBHOOKS_FILE = new URL('webhooks.json', import.meta.url);
