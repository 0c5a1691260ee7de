import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type DocumentNode,
  defaultFieldResolver,
  execute,
  type GraphQLError,
  type GraphQLSchema,
  parse,
  validate,
} from 'graphql';
import { makeOdd, type Oddity } from './graphql-oddities.ts';

/** GitHub's own schema. Read once a process, and only if asked for: it takes a moment in which nothing else happens. */
let schema: GraphQLSchema | undefined;
const documents = new Map<string, DocumentNode>();

/** Without its descriptions, which are two thirds of it, and without the places of its words: three times as fast. */
function githubSchema(): GraphQLSchema {
  // Not imported: the package would also parse 5 MB of JSON.
  const file = new URL('./schema.graphql', import.meta.resolve('@octokit/graphql-schema'));
  const text = () => readFileSync(file, 'utf8').replace(/"""[\s\S]*?"""/g, '');
  schema ??= buildSchema(text(), { assumeValid: true, noLocation: true });
  return schema;
}

/** Executes a query as GitHub does: 200 with the errors beside whatever could be answered. In `fields` are those that this server lacks, and those that may not be seen. */
export function runQuery(
  query: string,
  variables: object,
  root: object,
  { missing, forbidden }: { readonly missing: readonly string[]; readonly forbidden: readonly string[] },
  oddity?: Oddity,
): object {
  const lacks = missing.find((field) => new RegExp(`\\b${field}\\b`).test(query));
  const refused =
    lacks === undefined
      ? refusalOf(query)
      : [{ message: `Field '${lacks}' doesn't exist`, extensions: { code: 'undefinedField' } }];
  if (refused.length > 0) {
    return { errors: refused };
  }
  const document = documents.get(query) ?? parse(query);
  documents.set(query, document);
  const odd = oddity && makeOdd(oddity);
  const result = execute({
    fieldResolver(source, given, context, info) {
      if (forbidden.includes(info.fieldName)) {
        throw Object.assign(new Error('Resource not accessible by integration'), { type: 'FORBIDDEN' });
      }
      return (odd?.fieldResolver ?? defaultFieldResolver)(source, given, context, info);
    },
    schema: githubSchema(),
    document,
    rootValue: root,
    variableValues: Object.fromEntries(Object.entries(variables)),
  });
  if (result instanceof Promise) {
    throw new Error('the simulated forge answers at once');
  }
  const { errors } = result;
  const data = odd === undefined ? result.data : odd.finish(result.data);
  return { data, ...(errors === undefined ? {} : { errors: errors.map(said) }) };
}

function refusalOf(query: string): readonly object[] {
  if (documents.has(query)) {
    return [];
  }
  return validate(githubSchema(), parse(query)).map(({ message }) => ({
    message,
    extensions: { code: 'undefinedField' },
  }));
}

/** An error of a query that ran has a type. */
function said({ message, path, originalError }: GraphQLError): object {
  return { ...originalError, path, message };
}
