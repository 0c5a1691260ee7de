import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, type Schema } from 'ajv';
import test from 'ava';
import { parse } from 'yaml';
import { z } from 'zod';
import { filesOf, type PinnedPackage } from '../helpers/npm-package.ts';

/**
 * The files that forges and tools read of this repository. Workflows and the Action are checked by GitHub's own parsers,
 * in workflows.test.ts and ci-examples.test.ts.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), 'utf8');

/** Has renovate-schema.json, which https://docs.renovatebot.com/renovate-schema.json publishes. */
const RENOVATE: PinnedPackage = {
  spec: 'renovate@44.121.2',
  integrity: 'sha512-gNsY+POw2UN3B4e8x0B5UK3onH1qF7wMirKGaUnJcSx3+xEWH4n35RS4rvVEtTIIV/BoZoFbsIo7njTb9Mydxg==',
};

type RenovateSchema = Schema & {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly definitions: { readonly packageRules: unknown };
};

async function faultsOfRenovate(configuration: object): Promise<readonly string[]> {
  const file = 'renovate-schema.json';
  const files = await filesOf(RENOVATE, (path) => path === file);
  const schema = JSON.parse(files.get(file)?.toString() ?? '') as RenovateSchema;
  // It has keywords of its own, for editors.
  const ajv = new Ajv({ strict: false, allErrors: true, logger: false, validateFormats: false });
  ajv.validate(schema, configuration);
  const faults = (ajv.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  // It allows what it does not know: a misspelt option would do nothing.
  const unknown = Object.keys(configuration).filter((key) => !(key in schema.properties) && key !== '$schema');
  return [...faults, ...unknown.map((key) => `/${key} is unknown`)];
}

test('Renovate’s configuration is valid by the schema that Renovate publishes', async (t) => {
  const configuration = JSON.parse(await read('.github/renovate.json'));
  t.deepEqual(await faultsOfRenovate(configuration), []);
  t.deepEqual(await faultsOfRenovate({ ...configuration, minimumReleasAge: '7 days' }), [
    '/minimumReleasAge is unknown',
  ]);
  t.not((await faultsOfRenovate({ ...configuration, rangeStrategy: 'pinned' })).length, 0);
  t.not((await faultsOfRenovate({ ...configuration, packageRules: [{ enabled: 'no' }] })).length, 0);
});

const text = z.string().trim().min(1);
const id = z.string().regex(/^[\w-]+$/);
const validations = z.strictObject({ required: z.boolean() }).optional();
const labelled = { label: text, description: text.optional() };
const written = { ...labelled, placeholder: text.optional(), value: text.optional() };

/**
 * No package has their schemas, so this is what GitHub documents, and strict:
 * https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests/syntax-for-githubs-form-schema
 * Gitea and Forgejo read the same files.
 */
const element = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: text }) }),
  z.strictObject({ type: z.literal('input'), id, attributes: z.strictObject(written), validations }),
  z.strictObject({
    type: z.literal('textarea'),
    id,
    attributes: z.strictObject({ ...written, render: text.optional() }),
    validations,
  }),
  z.strictObject({
    type: z.literal('dropdown'),
    id,
    attributes: z.strictObject({
      ...labelled,
      multiple: z.boolean().optional(),
      default: z.int().optional(),
      options: z.array(text).min(1).refine(unique, 'the options differ'),
    }),
    validations,
  }),
  z.strictObject({
    type: z.literal('checkboxes'),
    id,
    attributes: z.strictObject({
      ...labelled,
      options: z.array(z.strictObject({ label: text, required: z.boolean().optional() })).min(1),
    }),
  }),
]);

const form = z.strictObject({
  name: text,
  description: text,
  title: text.optional(),
  labels: z.array(text).optional(),
  assignees: z.array(text).optional(),
  body: z
    .array(element)
    .min(1)
    .refine((body) => unique(body.flatMap((part) => ('id' in part ? part.id : []))), 'the ids differ')
    .refine(
      (body) => unique(body.flatMap((part) => ('label' in part.attributes ? part.attributes.label : []))),
      'the labels differ',
    )
    .refine((body) => body.some(({ type }) => type !== 'markdown'), 'one field is not Markdown'),
});

/** `config.yml`: https://docs.github.com/communities/using-templates-to-encourage-useful-issues-and-pull-requests/configuring-issue-templates-for-your-repository */
const chooser = z.strictObject({
  blank_issues_enabled: z.boolean(),
  contact_links: z.array(z.strictObject({ name: text, url: z.url({ protocol: /^https$/ }), about: text })).optional(),
});

function unique(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}

const FORMS = '.github/ISSUE_TEMPLATE';

test('issue forms have the shape that GitHub documents', async (t) => {
  const names = await readdir(join(ROOT, FORMS));
  t.true(names.length > 1);
  for (const name of names) {
    const schema = name === 'config.yml' ? chooser : form;
    t.deepEqual(schema.safeParse(parse(await read(`${FORMS}/${name}`))).error?.issues ?? [], [], name);
  }
});

test('an issue form that GitHub would refuse is found', async (t) => {
  const bug = await read(`${FORMS}/bug.yml`);
  for (const [part, wrong] of [
    ['id: version', 'id: forge'],
    ['type: dropdown', 'type: select'],
    ['required: true', "required: 'true'"],
    ['label: Version', 'label: Forge'],
    ['description: G', 'about: G'],
  ] as const) {
    t.true(bug.includes(part), part);
    t.false(form.safeParse(parse(bug.replace(part, wrong))).success, wrong);
  }
});

/** No package has its schema: https://pre-commit.com/#new-hooks. Those of the options that these hooks use. */
const hooks = z
  .array(
    z.strictObject({
      id: z.string().regex(/^[a-z-]+$/),
      name: text,
      description: text,
      entry: text,
      language: z.literal('system'),
      files: text.refine((pattern) => new RegExp(pattern) !== undefined),
      pass_filenames: z.boolean(),
    }),
  )
  .min(1);

test('the hooks of pre-commit have the shape that it documents', async (t) => {
  t.deepEqual(hooks.safeParse(parse(await read('.pre-commit-hooks.yaml'))).error?.issues ?? [], []);
});
