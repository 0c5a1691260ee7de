/**
 * `npm run github:api`: takes the operations that the simulated GitHub has out of GitHub's published descriptions, and all
 * payloads of webhooks. The packages are read from the npm registry, and are no dependency: one unpacks to 385 MB.
 */
import { writeFile } from 'node:fs/promises';
import { filesOf, type PinnedPackage } from '../../helpers/npm-package.ts';
import { type Description, type Operation, printDescription, type Schema } from '../api/description.ts';
import { follow, toJsonSchema } from '../api/openapi.ts';
import { makeGitHubDialect, makeGraphqlSwitch, makeRateLimit } from '../github-dialect.ts';
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
  const dialect = makeGitHubDialect(makeWorld(), undefined, makeRateLimit(), makeGraphqlSwitch());
  return [...Object.keys(dialect.routes), ...BESIDE_ROUTES].filter((route) => !route.includes(' /graphql'));
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

interface Described {
  readonly parameters?: readonly unknown[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content?: Readonly<Record<string, { schema: unknown }>>;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

function sliceOperations(document: Document, routes: readonly string[], source: string): Description {
  const schemas: Record<string, Schema> = {};
  const rename = (reference: string): string => {
    const name = reference.split('/').at(-1) ?? '';
    if (schemas[name] === undefined) {
      // Known before it is read: schemas refer to themselves.
      schemas[name] = {};
      schemas[name] = toJsonSchema(follow(document, reference), rename);
    }
    return `#/schemas/${name}`;
  };
  const operations: Record<string, Operation> = {};
  for (const route of routes) {
    const [method = '', path = ''] = route.split(' ');
    const described = pathOf(document, path);
    const operation = document.paths[described]?.[method.toLowerCase()];
    if (operation === undefined) {
      throw new Error(`${route} is not in ${source}`);
    }
    operations[`${method} ${described}`] = toOperation(document, operation, rename);
  }
  return { source, operations, schemas };
}

/** `:owner` of a route is any `{name}` of a path, and what comes after `*` may begin within one. */
function pathOf(document: Document, path: string): string {
  const shape = (from: string) => from.replaceAll(/\{[^}]+\}|:\w+|\*\w+/g, '{}');
  const candidates = [shape(path), shape(path).replace(/\/(?:heads|tags)\/\{\}$/, '/{}')];
  const found = Object.keys(document.paths).find((described) => candidates.includes(shape(described)));
  if (found === undefined) {
    throw new Error(`no path like ${path} is described`);
  }
  return found;
}

function toOperation(document: Document, described: Described, rename: (reference: string) => string): Operation {
  const parameters = (described.parameters ?? []).map((given) => whole(document, given)) as readonly {
    readonly in: string;
    readonly name: string;
    readonly schema: unknown;
  }[];
  const inPlace = (place: string) =>
    Object.fromEntries(
      parameters.filter((one) => one.in === place).map(({ name, schema }) => [name, toJsonSchema(schema, rename)]),
    );
  const body = described.requestBody?.content?.['application/json']?.schema;
  return {
    query: inPlace('query'),
    path: inPlace('path'),
    ...(body === undefined
      ? {}
      : { body: { required: described.requestBody?.required === true, schema: toJsonSchema(body, rename) } }),
    answers: Object.fromEntries(
      Object.entries(described.responses).map(([status, given]) => {
        const content = Object(whole(document, given))['content'];
        const schema = content?.['application/json']?.schema;
        return [status, schema === undefined ? null : toJsonSchema(schema, rename)];
      }),
    ),
  };
}

/** Itself, or what it refers to. */
function whole(document: Document, given: unknown): unknown {
  const reference = Object(given)['$ref'];
  return typeof reference === 'string' ? follow(document, reference) : given;
}
