import * as z from 'zod';
import { casesFileSchema, casesSchema } from './cases/schema.ts';
import { optionOwners, policySchema } from './policy/schema.ts';

type JsonSchema = Parameters<
  NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>
>[0]['jsonSchema'];

const policyWithCases = policySchema.extend({ cases: casesSchema.optional() }).meta({
  id: 'policy',
  title: 'Gatehouse policy',
  description: 'What Gatehouse asks of pull requests: .gatehouse.yml',
});

/**
 * The JSON Schema of a policy, made from the schemas that Gatehouse itself reads it with: for completion in editors.
 */
export function policyJsonSchema(): Readonly<Record<string, unknown>> {
  return jsonSchemaOf('gatehouse', policyWithCases);
}

/** The JSON Schema of `.gatehouse.test.yml`. */
export function casesJsonSchema(): Readonly<Record<string, unknown>> {
  return jsonSchemaOf('gatehouse-test', casesFileSchema);
}

/** `name`: that of its file in SchemaStore, whose addresses all begin alike. */
function jsonSchemaOf(name: string, schema: z.ZodType): Readonly<Record<string, unknown>> {
  const { $schema, $ref, definitions } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      Object.assign(jsonSchema, beyondZod(z.globalRegistry.get(zodSchema)?.id));
    },
  });
  // In draft 7, what stands beside a $ref does not count: it would take the $id away.
  return { $schema, $id: `https://www.schemastore.org/${name}.json`, allOf: [{ $ref }], definitions };
}

/** What policy-rules.ts checks beside the schema, as far as JSON Schema can say it. */
function beyondZod(id: string | undefined): JsonSchema {
  if (id === 'policy') {
    return { anyOf: [{ required: ['rules'] }, { required: ['extends'] }] };
  }
  if (id === 'rule') {
    return { anyOf: [{ required: ['require'] }, { required: ['forbid'] }] };
  }
  if (id === 'checks') {
    const ofAll = { anyOf: [{ required: ['all'] }] };
    return {
      oneOf: [{ required: ['name'] }, { required: ['all'] }],
      dependencies: { but: ofAll, at_least: ofAll, empty_suites: ofAll },
    };
  }
  if (id !== 'condition') {
    return {};
  }
  const dependencies: Record<string, JsonSchema> = {};
  for (const [option, owners] of optionOwners) {
    dependencies[option] = { anyOf: owners.map((owner) => ({ required: [owner] })) };
  }
  return { minProperties: 1, dependencies };
}
