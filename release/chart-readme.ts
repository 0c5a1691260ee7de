import { posix } from 'node:path';
import { chartReference, type Publisher, pageUrl } from './publisher.ts';

const FOLDER = 'charts/gatehouse';
const INSTALL = /<!-- install -->[\s\S]*<!-- \/install -->\n/;

/**
 * The README of the published chart. It is read beside the chart, in a terminal or on a page about it: links lead to the
 * publisher's repository, and commands install what was published.
 */
export function publishedReadme(
  readme: string,
  publisher: Publisher,
  { version, signed }: { readonly version: string; readonly signed: boolean },
): string {
  const chart = `oci://${chartReference(publisher)} --version ${version}`;
  const page = (path: string) => pageUrl(publisher, version, path);
  const verify = page('docs/operations.md#verify-what-you-install');
  const install = `\`\`\`sh\nhelm install gatehouse ${chart}\nhelm test gatehouse --logs\n\`\`\`\n`;
  const signatures = `\nChart and image are signed, and the chart installs the image by its digest: [verify them](${verify}) before you install.\n`;
  return (
    readme
      .replace(INSTALL, () => (signed ? install + signatures : install))
      // The default is the published image.
      .replace(/^image: \{ repository: .*\n/m, '')
      .replaceAll(` ${FOLDER} `, ` ${chart} `)
      .replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, path: string) => `](${page(posix.join(FOLDER, path))})`)
      .replaceAll(/(?<![\w/[(`])docs\/[\w-]+\.md/g, (path) => `[${path}](${page(path)})`)
  );
}
