import { stringify } from 'yaml';
import type { Change } from './changelog.ts';
import { issuesUrl, type Publisher, pageUrl, rawUrl } from './publisher.ts';

/** The name of the file that says whose a repository of charts is. */
export const REPOSITORY_FILE = 'artifacthub-repo.yml';
/** The tag under which Artifact Hub looks for that file in an OCI registry, and the type of its layer. */
export const REPOSITORY_TAG = 'artifacthub.io';
export const REPOSITORY_MEDIA_TYPE = 'application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml';

export interface Image {
  readonly name: string;
  /** With its tag or digest. */
  readonly image: string;
  /** As `linux/amd64`. */
  readonly platforms?: readonly string[];
}

export interface ChartFacts {
  readonly version: string;
  readonly changes: readonly Change[];
  readonly images: readonly Image[];
  /** SHA-256 of the public key that the chart is signed with, in hexadecimal; absent where it is not signed by a key. */
  readonly fingerprint?: string | undefined;
}

const SCREENSHOTS = {
  'A review on a pull request': 'docs/pull-request-light.png',
  'The same, in dark': 'docs/pull-request-dark.png',
};

const PAGES = {
  'Install and operate': 'docs/operations.md',
  'Verify image and chart': 'docs/operations.md#verify-what-you-install',
  'Write rules': 'docs/rules.md',
  Security: 'SECURITY.md',
};

/** What Artifact Hub shows of a chart: https://artifacthub.io/docs/topics/annotations/helm. It reads YAML from their texts. */
export function chartAnnotations(
  publisher: Publisher,
  { version, changes, images, fingerprint }: ChartFacts,
): Readonly<Record<string, string>> {
  const named = Object.entries(PAGES).map(([name, path]) => ({ name, url: pageUrl(publisher, version, path) }));
  // It shows the link of this name beside the title.
  const links = [{ name: 'support', url: issuesUrl(publisher) }, ...named];
  const screenshots = Object.entries(SCREENSHOTS).map(([title, path]) => ({
    title,
    url: rawUrl(publisher, version, path),
  }));
  const { signKey } = publisher;
  return {
    'artifacthub.io/changes': stringify(changes),
    'artifacthub.io/containsSecurityUpdates': String(changes.some(({ kind }) => kind === 'security')),
    'artifacthub.io/images': stringify(images),
    'artifacthub.io/links': stringify(links),
    'artifacthub.io/screenshots': stringify(screenshots),
    ...(signKey !== null && fingerprint !== undefined
      ? { 'artifacthub.io/signKey': stringify({ fingerprint, url: signKey }) }
      : {}),
  };
}

/**
 * What makes the publisher a verified one, and lets the owner claim the repository; undefined where publisher.json says
 * neither: https://github.com/artifacthub/hub/blob/master/docs/metadata/artifacthub-repo.yml.
 */
export function repositoryFile({ artifactHub, name, contact }: Publisher): string | undefined {
  const content = {
    ...(artifactHub === null ? {} : { repositoryID: artifactHub }),
    ...(contact.includes('://') ? {} : { owners: [{ name, email: contact }] }),
  };
  return Object.keys(content).length === 0 ? undefined : stringify(content);
}
