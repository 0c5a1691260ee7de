import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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
});

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
