/**
 * `npm run github:api`: takes the operations that the simulated GitHub has out of GitHub's published descriptions, and all
 * payloads of webhooks. The packages are read from the npm registry, and are no dependency: one unpacks to 385 MB.
 */
import { writeFile } from 'node:fs/promises';
import { filesOf, type PinnedPackage } from '../../helpers/npm-package.ts';
import { printDescription } from '../api/description.ts';
import { sliceOperations } from '../api/slice.ts';
import { makeGitHubDialect } from '../github-dialect.ts';
import { makeWorld } from '../world.ts';
import { sliceWebhooks } from './slice-webhooks.ts';
import { fileOf, VERSIONS, WEBHOOKS_FILE } from './versions.ts';

const REST: PinnedPackage = {
  spec: '@octokit/openapi@23.0.2',
  integrity: 'sha512-pV8M7L9GY23AybNvTmo2nyjmpmnt6+2sRE/tqr0ZLQcPS4lnw7u5eZGNmwRNkBC3D7gZXbFx5AHzLUVRBXGDhg==',
};
const WEBHOOKS: PinnedPackage = {
  spec: '@octokit/openapi-webhooks@12.1.0',
  integrity: 'sha512-Z5eDsLCUNbx1zHpZb1LNQirADqdMTvWJQ/deahi0ws+tWWnwHXB+Pr4jfmM9OrETS9Y5iW8ZRu1fdbudObhLrg==',
};

/** What the simulator serves beside its routes: see `manifestFlow`. */
const BESIDE_ROUTES = ['POST /app-manifests/:code/conversions'];

if (import.meta.main) {
  const names = VERSIONS.map((version) => `generated/${version}.json`);
  const wanted = (path: string) => names.includes(path) || path === 'LICENSE';
  const [rest, webhooks] = await Promise.all([filesOf(REST, wanted), filesOf(WEBHOOKS, wanted)]);
  const routes = routesInUse();
  for (const version of VERSIONS) {
    const document = JSON.parse(textOf(rest, `generated/${version}.json`));
    await writeFile(fileOf(version), printDescription({ ...sliceOperations(document, routes, REST.spec) }));
  }
  const documents = VERSIONS.map(
    (version) => [version, JSON.parse(textOf(webhooks, `generated/${version}.json`))] as const,
  );
  await writeFile(WEBHOOKS_FILE, sliceWebhooks(new Map(documents), WEBHOOKS.spec));
  await writeFile(new URL('LICENSE', import.meta.url), textOf(rest, 'LICENSE'));
}

function textOf(files: ReadonlyMap<string, Buffer>, name: string): string {
  const content = files.get(name);
  if (content === undefined) {
    throw new Error(`the package has no ${name}`);
  }
  return content.toString('utf8');
}

/** The routes of the simulator are what Gatehouse calls. GraphQL has a schema of its own. */
function routesInUse(): readonly string[] {
  const dialect = makeGitHubDialect(makeWorld());
  return [...Object.keys(dialect.routes), ...BESIDE_ROUTES].filter((route) => !route.includes(' /graphql'));
}
