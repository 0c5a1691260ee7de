import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import packageJson from '../../package.json' with { type: 'json' };
import test from '../helpers/test.ts';

/**
 * The files that forges and tools read of this repository. Workflows and the Action are checked by GitHub's own parsers,
 * in workflows.test.ts and ci-examples.test.ts.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), 'utf8');
const { scripts } = packageJson;

const text = z.string().trim().min(1);

/**
 * Of the options that https://docs.renovatebot.com/configuration-options/ describes, those in use. Renovate ignores one that it
 * does not know, so a misspelt one would do nothing.
 */
const renovate = z.strictObject({
  $schema: z.literal('https://docs.renovatebot.com/renovate-schema.json'),
  extends: z.array(text).min(1),
  rangeStrategy: z.enum(['auto', 'pin', 'bump', 'replace', 'widen', 'update-lockfile', 'in-range-only']),
  minimumReleaseAge: z.string().regex(/^\d+ days$/),
  packageRules: z.array(
    z.strictObject({
      description: text,
      matchPackageNames: z.array(text).min(1).optional(),
      matchDatasources: z.array(text).min(1).optional(),
      matchUpdateTypes: z.array(z.enum(['major', 'minor', 'patch', 'pin', 'pinDigest', 'digest'])).optional(),
      allowedVersions: text.optional(),
      enabled: z.boolean().optional(),
    }),
  ),
});

test('Renovate’s configuration has only options that Renovate documents', async (t) => {
  const configuration = JSON.parse(await read('.github/renovate.json'));
  t.deepEqual(renovate.safeParse(configuration).error?.issues ?? [], []);
  const [rule] = configuration.packageRules;
  for (const wrong of [
    { minimumReleasAge: '7 days' },
    { rangeStrategy: 'pinned' },
    { packageRules: [{ ...rule, enabled: 'no' }] },
  ]) {
    t.false(renovate.safeParse({ ...configuration, ...wrong }).success, JSON.stringify(wrong));
  }
});

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

test('every npm script that is one program hands its process over to it', (t) => {
  const handedOver = Object.values(scripts).filter((script) => script.startsWith('exec node '));
  t.true(handedOver.length > 10);
  t.deepEqual(
    Object.entries(scripts).filter(([, script]) => script.startsWith('node ') && !script.includes('&&')),
    [],
  );
});

test('no npm script starts a .ts before an older Node is refused', (t) => {
  const started = Object.values(scripts).flatMap((script) => script.match(/\bnode [^&]*?\.[jt]s\b/g) ?? []);
  t.true(started.length > 25);
  for (const command of started) {
    t.regex(command, /^node (?:-r \.\/src\/oldest-node\.cjs [\w/-]+\.ts|(?:--env-file\S+ )*src\/main\.js)$/);
  }
});
