import { createHash } from 'node:crypto';
import { printDescription, type Schema } from '../api/description.ts';
import { follow, mapSchemas, toJsonSchema } from '../api/openapi.ts';
import type { Payloads } from './payloads.ts';
import type { Version } from './versions.ts';

interface Document {
  readonly webhooks: Readonly<
    Record<string, { readonly post: { readonly requestBody: { readonly content: object } } }>
  >;
}

/** A shorter part is written where it is used. */
const SHARED_LENGTH = 100;

export function sliceWebhooks(documents: ReadonlyMap<Version, Document>, source: string): string {
  const schemas: Record<string, Schema> = {};
  const payloads: Record<string, Record<string, string>> = {};
  for (const [version, document] of documents) {
    const share = makeShare(schemas, document);
    payloads[version] = Object.fromEntries(
      Object.entries(document.webhooks).map(([name, { post }]) => {
        const { schema } = Object(post.requestBody.content)['application/json'];
        return [name, share(toJsonSchema(schema, same), true)['$ref'] as string];
      }),
    );
  }
  return printDescription({ source, payloads, schemas } satisfies Payloads);
}

function same(reference: string): string {
  return reference;
}

/** Moves what is long into `schemas`, under a digest of its content. */
function makeShare(schemas: Record<string, Schema>, document: Document) {
  const known = new Map<string, Schema>();
  return function share(schema: Schema, always = false): Schema {
    const reference = schema['$ref'];
    if (typeof reference === 'string') {
      const found = known.get(reference) ?? share(toJsonSchema(follow(document, reference), same), true);
      known.set(reference, found);
      return found;
    }
    const content = JSON.stringify(mapSchemas(schema, share));
    if (!always && content.length < SHARED_LENGTH) {
      return JSON.parse(content);
    }
    const name = createHash('sha256').update(content).digest('hex').slice(0, 10);
    schemas[name] = JSON.parse(content);
    return { $ref: `#/schemas/${name}` };
  };
}
