import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

/** Who publishes an image and a chart of Gatehouse. Filled in by them, in publisher.json. */
export type Publisher = z.infer<typeof publisher>;

const PUBLISHER_FILE = 'publisher.json';

const text = z.string().trim().min(1);

const publisher = z.strictObject({
  name: text.describe('the person or organisation that publishes'),
  contact: z.union([z.email(), z.url({ protocol: /^https$/ })]).describe('an e-mail address or an https:// URL'),
  repository: z.url({ protocol: /^https$/ }).describe('the https:// URL of the source repository'),
  image: text
    .regex(/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)+$/)
    .describe('the image without a tag, such as host/team/name'),
  npm: z
    .string()
    .regex(/^@[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*$/)
    .nullable()
    .describe('the npm package, such as @team/gatehouse, or null where it is not published'),
  signKey: z
    .url({ protocol: /^https$/ })
    .nullable()
    .describe('the https:// URL of the public key that releases are verified with, or null where there is none'),
  artifactHub: z
    .uuid()
    .nullable()
    .describe('the id that Artifact Hub has given the chart’s repository, or null where it is not listed'),
});

/** Where the chart is pushed to, without a tag: beside the image. */
export function chartReference({ image }: Publisher): string {
  return `${dirname(image)}/charts/gatehouse`;
}

/** Where people read a file of a version. GitHub, GitLab and Gitea (1.26 was tried) lead this address to their own. */
export function pageUrl({ repository }: Publisher, version: string, path: string): string {
  return `${withoutEnding(repository)}/tree/v${version}/${path}`;
}

/** Where the bytes of a file of a version are, at the same forges. */
export function rawUrl({ repository }: Publisher, version: string, path: string): string {
  return `${withoutEnding(repository)}/raw/v${version}/${path}`;
}

export function issuesUrl({ repository }: Publisher): string {
  return `${withoutEnding(repository)}/issues`;
}

const withoutEnding = (repository: string) => repository.replace(/(\.git)?\/?$/, '');

/** The name of the npm package; null where none is published. Throws where it cannot be one. */
export async function readNpmName(root: string): Promise<string | null> {
  return parse(publisher.pick({ npm: true }).strip(), await readFields(root)).npm;
}

/** Reads publisher.json. Throws where a field is missing or unusable, and names every one. */
export async function readPublisher(root: string): Promise<Publisher> {
  return parse(publisher, await readFields(root));
}

async function readFields(root: string): Promise<unknown> {
  return JSON.parse(await readFile(join(root, PUBLISHER_FILE), 'utf8'));
}

function parse<T>(schema: z.ZodType<T>, found: unknown): T {
  const result = schema.safeParse(found);
  if (result.success) {
    return result.data;
  }
  const fields = new Set(result.error.issues.map(({ path, message }) => String(path[0] ?? message)));
  const lines = [...fields].map((field) => {
    const expected = publisher.shape[field as keyof Publisher]?.description;
    return expected === undefined ? `  ${field}` : `  ${field}: expected ${expected}`;
  });
  throw new Error(`${PUBLISHER_FILE} is not complete. Fill in:\n${lines.join('\n')}`);
}
