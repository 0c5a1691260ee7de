/**
 * `npm run gitea:api`: takes the operations that the simulated Gitea has out of the description that the real one of the tests
 * serves. It needs a container engine with the image.
 */
import { writeFile } from 'node:fs/promises';
import { type OwnGitea, startGitea } from '../../helpers/gitea.ts';
import { type Description, printDescription, type Schema } from '../api/description.ts';
import { mapSchemas, orNull } from '../api/openapi.ts';
import { type Document, sliceOperations } from '../api/slice.ts';
import { makeGiteaDialect } from '../gitea-dialect.ts';
import { makeWorld } from '../world.ts';
import { FILE } from './checks.ts';

/** What Gitea decodes of requests. All other schemas are of answers. */
const SENT = /Options?(?:Config)?$|^CreatePullReviewComment$/;

if (import.meta.main) {
  const outcome = await startGitea();
  if (typeof outcome === 'string') {
    throw new Error(`there is no Gitea, because ${outcome}`);
  }
  try {
    await writeFile(FILE, printDescription({ ...(await sliceOf(outcome)) }));
  } finally {
    await outcome.close();
  }
}

type Served = Document & {
  readonly info: { readonly title: string; readonly version: string; readonly license: { readonly name: string } };
};

async function sliceOf({ gitea }: OwnGitea): Promise<Description> {
  const response = await fetch(`${gitea.url}/swagger.v1.json`);
  const document = (await response.json()) as Served;
  const { title, version, license } = document.info;
  const { routes } = makeGiteaDialect(makeWorld(), 'gitea', '', false, () => {});
  const slice = sliceOperations(document, Object.keys(routes), `${title} ${version} (${license.name})`);
  return withNulls(slice);
}

/** Swagger 2.0 has no word for null. Gitea writes it for whatever is a pointer or a slice in Go. */
function withNulls({ source, operations, schemas }: Description): Description {
  return {
    source,
    operations: Object.fromEntries(
      Object.entries(operations).map(([name, operation]) => {
        const answers = Object.entries(operation.answers).map(([status, schema]) => [
          status,
          schema?.['type'] === 'array' ? nullable(schema) : schema,
        ]);
        return [name, { ...operation, answers: Object.fromEntries(answers) }];
      }),
    ),
    schemas: Object.fromEntries(
      Object.entries(schemas).map(([name, schema]) => [name, SENT.test(name) ? schema : mapSchemas(schema, nullable)]),
    ),
  };
}

function nullable(schema: Schema): Schema {
  const { $ref, type, format } = schema;
  const isPointer = $ref !== undefined || type === 'array' || type === 'object' || format === 'date-time';
  const whole = mapSchemas(schema, nullable);
  return isPointer ? orNull(whole) : whole;
}
