import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import * as z from 'zod';
import { schemaPage } from '../../../site/schema-page.ts';
import { OUTCOME_WORDS } from '../../../src/review/cases/schema.ts';
import { casesJsonSchema, policyJsonSchema } from '../../../src/review/json-schema.ts';
import { CASES_PATH, POLICY_PATHS } from '../../../src/review/policy/paths.ts';
import { predicates } from '../../../src/review/predicates/index.ts';
import test from '../../helpers/test.ts';

test('the JSON Schema that is checked in is the one that is made (npm run schema)', async (t) => {
  const text = await readFile(new URL('../../../docs/gatehouse.schema.json', import.meta.url), 'utf8');
  t.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(policyJsonSchema())));
});

test('the JSON Schema of cases that is checked in is the one that is made', async (t) => {
  const text = await readFile(new URL('../../../docs/gatehouse.test.schema.json', import.meta.url), 'utf8');
  t.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(casesJsonSchema())));
});

test('the page of the JSON Schema that is checked in is the one that is made', async (t) => {
  t.is(await readDocument('schema.md'), schemaPage(JSON.parse(await readDocument('gatehouse.schema.json'))));
});

test('SchemaStore’s entries name each schema by its $id, and the files that it is for', async (t) => {
  const entries = JSON.parse(await readDocument('schemastore.json'));
  t.deepEqual(
    entries.map(({ url, fileMatch }: { url: string; fileMatch: readonly string[] }) => [url, fileMatch]),
    [
      [policyJsonSchema()['$id'], POLICY_PATHS],
      [casesJsonSchema()['$id'], [CASES_PATH]],
    ],
  );
  for (const entry of entries) {
    t.deepEqual(Object.keys(entry), ['name', 'description', 'fileMatch', 'url']);
  }
});

test('a validator finds each JSON Schema by its $id, and judges by it', (t) => {
  const ajv = new Ajv({ schemas: [policyJsonSchema(), casesJsonSchema()] });
  const validator = (id: unknown) => ajv.getSchema(String(id));
  const policy = validator(policyJsonSchema()['$id']);
  t.true(policy?.({ version: 1, rules: [{ id: 'titled', require: { title: '^x' } }] }));
  t.false(policy?.({ version: 1, rules: [{ id: 'titled', requires: { title: '^x' } }] }));
  const cases = validator(casesJsonSchema()['$id']);
  t.true(cases?.({ cases: [{ given: { title: 'x' }, expect: { titled: 'holds' } }] }));
  t.false(cases?.({ cases: [{ given: { title: 'x' }, expect: { titled: 'hold' } }] }));
});

const CASE_ROW = new RegExp(String.raw`^\| \`(\{.*\})\` \| (${OUTCOME_WORDS.join('|')}) \|$`, 'gm');
const readDocument = (name: string) => readFile(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');

test('the JSON Schemas accept every case of the documents, and mark what is wrong', async (t) => {
  const [cases, policy] = await Promise.all(
    ['gatehouse.test.schema.json', 'gatehouse.schema.json'].map(async (name) =>
      z.fromJSONSchema(JSON.parse(await readDocument(name))),
    ),
  );
  const accepted = (all: unknown) => [
    cases?.safeParse({ cases: all }).success,
    policy?.safeParse({ version: 1, rules: [], cases: all }).success,
  ];
  const rows = [...(await readDocument('rules.md')).matchAll(CASE_ROW)];
  t.true(rows.length > 100);
  for (const [row, given = '', outcome = ''] of rows) {
    const one = { given: parse(given.replaceAll('\\|', '|')), expect: { it: outcome } };
    t.deepEqual(accepted([one]), [true, true], row);
    t.deepEqual(accepted([{ ...one, given: { ...one.given, titel: 'a' } }]), [false, false], row);
    t.deepEqual(accepted([{ ...one, expect: { it: 'hold' } }]), [false, false], row);
  }
  const inProse = parse(
    /^```yaml\n(# yaml-language-server: [\s\S]*?)^```$/m.exec(await readDocument('prove.md'))?.[1] ?? '',
  );
  t.deepEqual(accepted(inProse.cases), [true, true]);
  t.is(new Set(rows.map(([, , outcome]) => outcome)).size, OUTCOME_WORDS.length, 'with every outcome');
});

test('every key of a policy has a description for editors', (t) => {
  const lacking: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) {
      return;
    }
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'properties' && typeof inner === 'object' && inner !== null) {
        for (const [name, schema] of Object.entries(inner)) {
          if (!Object.hasOwn(Object(schema), 'description')) {
            lacking.push(`${path}/${name}`);
          }
        }
      }
      visit(inner, `${path}/${key}`);
    }
  };
  visit(policyJsonSchema(), '');
  t.deepEqual(lacking, []);
});

test('every predicate is in the JSON Schema', (t) => {
  const text = JSON.stringify(policyJsonSchema());
  for (const [name, { description }] of predicates) {
    t.true(text.includes(`"${name}":`), name);
    t.true(text.includes(JSON.stringify(description)), name);
  }
});

test('options are only allowed beside the predicates that they refine', (t) => {
  const { dependencies } = Object(policyJsonSchema()['definitions'])['condition'];
  t.deepEqual(dependencies, {
    status: { anyOf: [{ required: ['files'] }] },
    binary: { anyOf: ['changed_lines', 'additions', 'deletions', 'added_lines'].map((name) => ({ required: [name] })) },
    except: {
      anyOf: ['changed_lines', 'additions', 'deletions', 'changed_files'].map((name) => ({ required: [name] })),
    },
    in: { anyOf: [{ required: ['added_lines'] }] },
  });
});
