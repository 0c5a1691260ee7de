import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/config/config.ts';
import { FORGES } from '../../src/forges/port/forges.ts';
import test from '../helpers/test.ts';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const page = await read('docs/settings.md');

const readChart = (path: string) => read(`charts/gatehouse/${path}`);

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const schema: Schema = JSON.parse(await readChart('values.schema.json'));
const values: unknown = parse(await readChart('values.yaml'));
const templates = await readChart('templates/_helpers.tpl');

/** The rows of the table below a heading: a variable, and what stands under Default. */
function rowsBelow(heading: string): readonly (readonly [variable: string, byDefault: string])[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| `([A-Z_]+)` \| (.*?) ?\| .* \|$/gm)].map(([, name = '', byDefault = '']) => [
    name,
    byDefault,
  ]);
}

const SECTIONS = {
  'Every process': SETTINGS.common,
  'The door': SETTINGS.door,
  'The worker': SETTINGS.worker,
  'The forge': SETTINGS.access,
} as const;

for (const [heading, shape] of Object.entries(SECTIONS)) {
  test(`docs/settings.md, ${heading}: the variables are those of the code, in its order`, (t) => {
    t.deepEqual(
      rowsBelow(heading).map(([name]) => name),
      Object.keys(shape),
    );
  });

  test(`docs/settings.md, ${heading}: the defaults are those of the code`, (t) => {
    for (const [name, byDefault] of rowsBelow(heading)) {
      const schema = Object.entries(shape).find(([key]) => key === name)?.[1];
      const absent = schema?.safeParse(undefined);
      const [, written] = /^`(.+)`$/.exec(byDefault) ?? [];
      if (byDefault === 'required') {
        t.false(absent?.success, name);
      } else if (byDefault === '') {
        t.deepEqual(absent, { success: true, data: undefined }, name);
      } else {
        t.truthy(written, `${name}: write a default as code, or nothing`);
        t.deepEqual(schema?.parse(written), absent?.data, name);
      }
    }
  });
}

test('docs/settings.md has no other variable, and no other table of variables', (t) => {
  const all = [...page.matchAll(/^\| `([^`]*)`/gm)].map(([, name]) => name);
  t.deepEqual(
    all,
    Object.values(SECTIONS).flatMap((shape) => Object.keys(shape)),
  );
});

test('docs/settings.md says when the forge’s variables are required', (t) => {
  const about = (name: string) => new RegExp(`^\\| \`${name}\` .*$`, 'm').exec(page)?.[0] ?? '';
  t.regex(about('FORGE_URL'), /required for Gitea and Forgejo/);
  t.true(about('FORGE_URL').includes(`is \`${FORGES.github.defaultUrl}\` if it is absent`));
  t.regex(about('FORGE_TOKEN'), /required without an App/);
  t.regex(about('GITHUB_APP_PRIVATE_KEY'), /required with `GITHUB_APP_ID`/);
});

/** Settings that the chart has under another name than `config.` and theirs. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  WEBHOOK_BODY_LIMIT: 'config.bodyLimit',
  WORKER_CONCURRENCY: 'worker.concurrency',
  POLICY_FILE: 'config.policy',
};
/** Settings that the chart makes of Secrets and of other values, or that are the same in every pod. */
const COMPUTED = [
  ...['PORT', 'METRICS_PORT', 'HOST', 'READY_WITHOUT_REDIS', 'DATABASE_URL', 'REDIS_URL'],
  ...['WEBHOOK_SECRET', 'WEBHOOK_SECRET_PREVIOUS', 'FORGE_TOKEN', 'GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY'],
];
/** Settings that a user of the chart gives in `extraEnv`. */
const IN_EXTRA_ENV = ['OTEL_EXPORTER_OTLP_ENDPOINT'];

const settings = Object.values(SETTINGS).flatMap((shape) => Object.entries(shape));
const camelCase = (name: string) => name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
const pathOf = (name: string) => (ELSEWHERE[name] ?? `config.${camelCase(name)}`).split('.');

const schemaOf = (name: string) => pathOf(name).reduce<Schema | undefined>((at, key) => at?.properties?.[key], schema);
const defaultOf = (name: string) => pathOf(name).reduce<unknown>((at, key) => Object(at)[key], values);

for (const [name, setting] of settings.filter(([key]) => ![...COMPUTED, ...IN_EXTRA_ENV].includes(key))) {
  test(`${name} of the chart has the limits and the default of the code`, (t) => {
    const limits = schemaOf(name);
    t.truthy(limits, `values.schema.json has no ${pathOf(name).join('.')}`);
    const byDefault = defaultOf(name);
    t.deepEqual(setting.safeParse(byDefault === '' ? undefined : String(byDefault)), setting.safeParse(undefined));
    const accepts = (value: unknown) => setting.safeParse(String(value)).success;
    if (limits?.type === 'integer') {
      const { minimum = Number.NaN, maximum = Number.NaN } = limits;
      t.deepEqual([minimum - 1, minimum, maximum, maximum + 1].map(accepts), [false, true, true, false]);
    }
    t.true((limits?.enum ?? []).every(accepts));
    t.true(templates.includes(`name: ${name},`) || Object.hasOwn(SETTINGS.worker, name), 'no template has it');
  });
}

test('the chart has every kind of forge and of log level that the code has', (t) => {
  t.deepEqual(schemaOf('FORGE')?.enum, SETTINGS.common.FORGE.unwrap().options);
  t.deepEqual(schemaOf('LOG_LEVEL')?.enum, SETTINGS.common.LOG_LEVEL.unwrap().options);
});
