import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Files of the repository that pages show or link to. */
export const FILES: readonly string[] = [
  '.gatehouse.yml',
  'LICENSE',
  'charts/gatehouse/ci/production-values.yaml',
  'docs/gatehouse.schema.json',
  'docs/gatehouse.test.schema.json',
  'docs/schemastore.json',
  'docs/pull-request-dark.png',
  'docs/pull-request-light.png',
];

const SIMULATED_FORGE: readonly string[] = [
  'test/simulated-forge/README.md',
  'test/simulated-forge/gitea-api/README.md',
  'test/simulated-forge/github-api/README.md',
];

/** The pages by their paths in the repository. The site has the same paths, so that links between them stay as they are. */
export async function listPages(): Promise<readonly string[]> {
  const pages = await Promise.all(['', 'docs/'].map(markdownIn));
  return [...pages.flat(), 'charts/gatehouse/README.md', ...SIMULATED_FORGE];
}

async function markdownIn(folder: string): Promise<readonly string[]> {
  return (await readdir(ROOT + folder)).filter((name) => name.endsWith('.md')).map((name) => folder + name);
}

/** `docs/README.md#a` is `docs/index.html#a`. */
export function addressOf(path: string): string {
  return path.replace(/(?:README)?\.md(?=#|$)/, (end) => (end === '.md' ? '.html' : 'index.html'));
}
