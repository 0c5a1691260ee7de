import * as z from 'zod';
import { optionOwners, policySchema } from './schema.ts';

type JsonSchema = Parameters<
  NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>
>[0]['jsonSchema'];

/** The JSON Schema of a policy, made from the schemas that Gatehouse itself reads it with: for completion in editors. */
export function policyJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(policySchema, {
    target: 'draft-7',
    io: 'input',
    override({ zodSchema, jsonSchema }) {
      Object.assign(jsonSchema, beyondZod(z.globalRegistry.get(zodSchema)?.id));
    },
  });
}

/** What policy-rules.ts checks beside the schema, as far as JSON Schema can say it. */
function beyondZod(id: string | undefined): JsonSchema {
  if (id === 'policy') {
    return { anyOf: [{ required: ['rules'] }, { required: ['extends'] }] };
  }
  if (id === 'rule') {
    return { anyOf: [{ required: ['require'] }, { required: ['forbid'] }] };
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
