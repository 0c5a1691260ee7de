/** `npm run schema` writes docs/schema.md from the policy's JSON Schema: every key, what it takes, and what it means. */
import { readFile, writeFile } from 'node:fs/promises';

const DOCS = new URL('../docs/', import.meta.url);

/** What is used of JSON Schema, draft 7. */
export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly $ref?: string;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

const TITLES: Readonly<Record<string, string>> = {
  policy: 'The policy',
  rule: 'A rule',
  condition: 'A condition',
  checks: 'Checks',
  case: 'A case',
  given: 'The pull request of a case',
};

export function schemaPage({ definitions = {} }: Schema): string {
  const sections = Object.entries(definitions).map(([name, schema]) =>
    [
      `## ${TITLES[name] ?? name}`,
      schema.description ?? '',
      `| Key | Takes | Meaning |\n|---|---|---|\n${rowsOf(schema, '').join('\n')}`,
    ].join('\n\n'),
  );
  return `# Schema of the policy\n\n<!-- Written by \`npm run schema\` -->\n\nEvery key of \`.gatehouse.yml\`. [Rules](rules.md) explains them with examples; [the schema itself](gatehouse.schema.json) is for editors.\n\n${sections.join('\n\n')}\n`;
}

function rowsOf(schema: Schema, parent: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const path = parent + key;
    const required = schema.required?.includes(key) ? '; required' : '';
    const row = `| \`${path}\` | ${takes(value).replaceAll('|', '\\|')}${required} | ${(value.description ?? '').replaceAll('|', '\\|')} |`;
    const inside = [value, ...(value.anyOf ?? [])].flatMap((inner) => rowsOf(inner, `${path}.`));
    return [row, ...inside, ...rowsOf(value.items ?? {}, `${path}[].`)];
  });
}

function takes(schema: Schema): string {
  const { allOf, anyOf, items, type } = schema;
  const $ref = schema.$ref ?? allOf?.[0]?.$ref;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1) ?? '';
    return `[${(TITLES[name] ?? name).toLowerCase()}](#${(TITLES[name] ?? name).toLowerCase().replaceAll(' ', '-')})`;
  }
  if (anyOf !== undefined && type === undefined) {
    return [...new Set(anyOf.map(takes))].join(', or ');
  }
  const values = schema.enum ?? ('const' in schema ? [schema.const] : []);
  if (values.length > 0) {
    return values.map((value) => `\`${JSON.stringify(value).replaceAll('"', '')}\``).join(', ');
  }
  return items === undefined ? [type ?? 'anything'].flat().join(', or ') : `list of ${takes(items)}`;
}

if (import.meta.main) {
  const schema = JSON.parse(await readFile(new URL('gatehouse.schema.json', DOCS), 'utf8'));
  await writeFile(new URL('schema.md', DOCS), schemaPage(schema));
}
