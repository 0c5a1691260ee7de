/** What is used of JSON Schema, draft 7. */
export interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly $ref?: string;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

const TITLES: Readonly<Record<string, string>> = {
  policy: 'The policy',
  rule: 'A rule',
  condition: 'A condition',
  case: 'A case',
  given: 'The pull request of a case',
};

/** The policy's schema as a page: every key, what it takes, and what it means. */
export function schemaPage({ definitions = {} }: Schema): string {
  const sections = Object.entries(definitions).map(([name, schema]) =>
    [
      `## ${TITLES[name] ?? name}`,
      schema.description ?? '',
      `| Key | Takes | Meaning |\n|---|---|---|\n${rowsOf(schema, '').join('\n')}`,
    ].join('\n\n'),
  );
  return `# Schema of the policy\n\nEvery key of \`.gatehouse.yml\`. [Rules](rules.md) explains them with examples; [the schema itself](gatehouse.schema.json) is for editors.\n\n${sections.join('\n\n')}\n`;
}

function rowsOf(schema: Schema, parent: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const path = parent + key;
    const required = schema.required?.includes(key) ? '; required' : '';
    const row = `| \`${path}\` | ${takes(value).replaceAll('|', '\\|')}${required} | ${(value.description ?? '').replaceAll('|', '\\|')} |`;
    return [row, ...[value, ...(value.anyOf ?? [])].flatMap((inner) => rowsOf(inner, `${path}.`))];
  });
}

function takes(schema: Schema): string {
  const { $ref, anyOf, items, type } = schema;
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
  return items === undefined ? (type ?? 'anything') : `list of ${takes(items)}`;
}
