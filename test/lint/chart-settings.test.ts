import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/config/config.ts';
import test from '../helpers/test.ts';

const CHART = new URL('../../charts/gatehouse/', import.meta.url);
const readChart = (path: string) => readFile(new URL(path, CHART), 'utf8');

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
