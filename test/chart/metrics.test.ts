import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { REFUSAL_REASONS } from '../../src/http/refusal.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { parsePrometheusRule, parseScaledObject } from '../helpers/custom-resources.ts';
import { execute } from '../helpers/execute.ts';
import { CHART, find, parseYaml, render } from '../helpers/manifests.ts';
import { groupings, seriesIn } from '../helpers/promql.ts';
import ava from '../helpers/test.ts';
import { test } from '../helpers/test-with-helm.ts';

const MATCHERS = 'namespace="gatehouse-test",job="gh-gatehouse-metrics"';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const readDashboard = async () => JSON.parse(await readFile(`${CHART}files/dashboard.json`, 'utf8')) as Dashboard;

const SCRAPED = { serviceMonitor: { enabled: true } };
const WORKER = { forgeToken: { existingSecret: 'forge' } };

async function alertRules(prometheusRule: object = {}, values: object = { metrics: SCRAPED, ...WORKER }) {
  const metrics = { ...(values as { metrics?: object }).metrics, prometheusRule: { enabled: true, ...prometheusRule } };
  const manifests = await render({ values: { ...values, metrics } });
  return parsePrometheusRule(find(manifests, 'PrometheusRule', 'gh-gatehouse')).spec.groups.flatMap(
    ({ rules }) => rules,
  );
}

/** Every series of the service's metrics page by name, with the labels it may have. */
async function seriesOfPage(): Promise<ReadonlyMap<string, readonly string[]>> {
  const { registry } = makeMetrics();
  const series = new Map<string, string[]>();
  for (const metric of await registry.getMetricsAsJSON()) {
    const known = registry.getSingleMetric(metric.name) as unknown as { labelNames?: readonly string[] };
    const labels = [...(known.labelNames ?? [])];
    const names = metric.type.toString() === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    for (const suffix of names) {
      series.set(metric.name + suffix, suffix === '_bucket' ? [...labels, 'le'] : labels);
    }
  }
  return series;
}

/** What Prometheus and its operator add to every series. */
const TARGET_LABELS = ['namespace', 'job', 'pod', 'instance'];

async function unknownIn(expression: string): Promise<string[]> {
  const page = await seriesOfPage();
  const uses = seriesIn(expression);
  const groupable = uses.flatMap(({ series }) => page.get(series) ?? []).concat(TARGET_LABELS);
  return [
    ...(uses.length === 0 ? [`no series in ${expression}`] : []),
    ...uses.flatMap(({ series, matchers }) => {
      const known = page.get(series);
      if (known === undefined) {
        return [series];
      }
      const labels = matchers.map(({ label }) => label);
      return labels
        .filter((label) => !known.includes(label) && !TARGET_LABELS.includes(label))
        .map((l) => `${series}.${l}`);
    }),
    ...groupings(expression).filter((label) => !groupable.includes(label)),
  ];
}

ava('every series and label of the dashboard is on the metrics page', async (t) => {
  const { panels, templating } = await readDashboard();
  const targets = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  t.true(targets.length > 20);
  const offered = templating.list.flatMap(({ name, definition = '' }) => {
    const [, expr] = /^label_values\((.+), \w+\)$/.exec(definition) ?? [];
    return expr === undefined ? [] : [{ title: name, expr }];
  });
  t.deepEqual(
    offered.map(({ title }) => title),
    ['namespace', 'job'],
  );
  for (const { title, expr } of [...targets, ...offered]) {
    t.deepEqual(await unknownIn(expr), [], title);
  }
});

test('every series and label of the alerts is on the metrics page', async (t) => {
  for (const { alert, expr } of await alertRules()) {
    t.deepEqual(await unknownIn(expr), [], alert);
  }
});

ava('every metric of the service’s own is on the dashboard', async (t) => {
  const { panels } = await readDashboard();
  const shown = panels
    .flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => seriesIn(expr)))
    .map(({ series }) => series);
  const { registry } = makeMetrics();
  const own = (await registry.getMetricsAsJSON())
    .map(({ name }) => name)
    .filter((name) => name.startsWith('gatehouse_'));
  t.true(own.length > 8);
  t.deepEqual(
    own.filter((name) => !shown.some((series) => series.replace(/_(bucket|sum|count)$/, '') === name)),
    [],
  );
});

test('alerts and dashboard use only rejection reasons that exist', async (t) => {
  const { panels } = await readDashboard();
  const expressions = [
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...(await alertRules()).map(({ expr }) => expr),
  ];
  const reasons = expressions
    .flatMap(seriesIn)
    .flatMap(({ matchers }) => matchers)
    .filter(({ label }) => label === 'reason')
    .flatMap(({ value }) => value.split('|'));
  t.true(reasons.length > 0);
  for (const reason of reasons) {
    t.true(REFUSAL_REASONS.includes(reason), reason);
  }
});

ava('the dashboard has seven rows, no overlaps, and a description for each panel', async (t) => {
  const { uid, panels, templating } = await readDashboard();
  t.is(uid, 'gatehouse');
  t.deepEqual(
    panels.filter(({ type }) => type === 'row').map(({ title }) => title),
    ['Is it healthy?', 'What comes in', 'How fast', 'Reviews', 'The forge', 'Queue', 'Runtime'],
  );
  t.deepEqual(
    templating.list.map(({ name }) => name),
    ['datasource', 'namespace', 'job'],
  );
  t.is(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { type, title, description = '' } of panels) {
    t.true(type === 'row' || description.length > 20, title);
  }
  for (const [index, { title, gridPos: a }] of panels.entries()) {
    t.true(a.x + a.w <= 24, title);
    for (const { title: other, gridPos: b } of panels.slice(index + 1)) {
      const apart = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y;
      t.true(apart, `${title} lies over ${other}`);
    }
  }
});

test('the dashboard is rendered unchanged', async (t) => {
  const manifests = await render({ values: { metrics: { dashboard: { enabled: true } } } });
  const map = find(manifests, 'ConfigMap', 'gh-gatehouse-dashboard');
  t.like(map.metadata.labels, { grafana_dashboard: '1' });
  t.deepEqual(JSON.parse(map.data?.['gatehouse.json'] ?? ''), await readDashboard());
});

test('the alerts select this release, and have the user’s labels and a runbook', async (t) => {
  const runbookUrl = 'https://docs.example.com/alerts.html';
  const rules = await alertRules({ alertLabels: { team: 'platform', severity: 'none' }, runbookUrl });
  t.true(rules.length > 0);
  for (const { alert, expr, labels, annotations } of rules) {
    t.true(expr.includes(MATCHERS), alert);
    t.is(labels['team'], 'platform');
    t.is(annotations.runbook_url, `${runbookUrl}#${alert.toLowerCase()}`);
  }
});

test('without a ServiceMonitor the alerts use the user’s matchers', async (t) => {
  for (const { alert, expr } of await alertRules({ matchers: 'app="gatehouse"' }, WORKER)) {
    t.regex(expr, /\{app="gatehouse"[,}]/, alert);
  }
});

test('without a worker there are no alerts about reviews', async (t) => {
  const names = (await alertRules({}, { metrics: SCRAPED })).map(({ alert }) => alert);
  t.true(names.includes('GatehouseDown'));
  t.deepEqual(
    names.filter((name) => /Review|Forge|DeadLetters/.test(name)),
    [],
  );
});

test('the ScaledObject of docs/sizing.md uses a series that exists', async (t) => {
  const text = await readFile(`${CHART}../../docs/sizing.md`, 'utf8');
  const [shown] = [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].filter(([, yaml]) =>
    yaml?.includes('ScaledObject'),
  );
  const { metadata, spec } = parseScaledObject(parseYaml(shown?.[1] ?? ''));
  const manifests = await render({ release: 'gatehouse', values: { forgeToken: { existingSecret: 'forge' } } });
  t.truthy(find(manifests, 'Deployment', spec.scaleTargetRef.name));
  t.true((spec.minReplicaCount ?? 0) <= (spec.maxReplicaCount ?? 0));
  for (const { query } of spec.triggers.map((trigger) => trigger.metadata)) {
    t.deepEqual(await unknownIn(query), []);
    const [{ matchers } = { matchers: [] }] = seriesIn(query);
    const values = Object.fromEntries(matchers.map(({ label, value }) => [label, value]));
    t.deepEqual(values, { namespace: metadata.namespace, queue: 'review', state: 'waiting' });
  }
});

test('docs/alerts.md has a section for every alert', async (t) => {
  const headings = (await readFile(`${CHART}../../docs/alerts.md`, 'utf8')).match(/^#+ .+$/gm) ?? [];
  for (const { alert, annotations } of await alertRules()) {
    // A relative path leads nowhere from a pager.
    t.is(annotations.runbook_url, undefined);
    t.true(
      headings.some((heading) => heading.replace(/^#+ /, '') === alert),
      alert,
    );
  }
});

const DOOR = 'gatehouse_role{instance="a",role="door"}';
const DOOR_WITHOUT_REDIS = { [DOOR]: '1x35', 'gatehouse_dependency_up{instance="a",dependency="redis"}': '0x35' };
const OTHER_WITH_REDIS = 'gatehouse_dependency_up{instance="b",dependency="redis"}';
const DEAD_LETTERS = 'gatehouse_jobs{queue="review-dead-letters",state="waiting"}';
const MISMATCHES = { 'gatehouse_rejections_total{reason="signature_mismatch"}': '0+6x60' };

interface Course {
  readonly fires: Readonly<Record<string, string>>;
  readonly silent: Readonly<Record<string, string>>;
}

/** Of each alert, a course of events that fires it and one that does not. Samples are a minute apart. */
const COURSES: Readonly<Record<string, Course>> = {
  GatehouseDown: {
    // A worker takes no webhooks.
    fires: { 'gatehouse_role{role="worker"}': '1x35' },
    silent: { 'gatehouse_role{role="door"}': '1x35' },
  },
  GatehouseDependencyDown: {
    // The worker reaches it, which is no help to the webhooks.
    fires: { ...DOOR_WITHOUT_REDIS, 'gatehouse_role{instance="b",role="worker"}': '1x35', [OTHER_WITH_REDIS]: '1x35' },
    silent: { ...DOOR_WITHOUT_REDIS, 'gatehouse_role{instance="b",role="door"}': '1x35', [OTHER_WITH_REDIS]: '1x35' },
  },
  GatehouseLosingDeliveries: {
    fires: { 'http_request_duration_seconds_count{route="/webhook",status="503"}': '0+6x40' },
    silent: {
      'http_request_duration_seconds_count{route="/webhook",status="200"}': '0+60x40',
      'http_request_duration_seconds_count{route="/webhook",status="401"}': '0+60x40',
      'http_request_duration_seconds_count{route="/health",status="503"}': '0+60x40',
    },
  },
  GatehouseSignatureMismatch: {
    fires: MISMATCHES,
    silent: { ...MISMATCHES, 'gatehouse_deliveries_total{event="push",outcome="accepted"}': '0+1x60' },
  },
  GatehouseReviewsLate: {
    fires: { 'gatehouse_oldest_waiting_job_seconds{}': '0+60x40' },
    // A burst that is worked off.
    silent: { 'gatehouse_oldest_waiting_job_seconds{}': '0+60x14 800x30' },
  },
  GatehouseDeadLetters: {
    fires: { [DEAD_LETTERS]: '2x20 3x20' },
    // Some are there, one is replayed, and none is added.
    silent: { [DEAD_LETTERS]: '9x20 8x20' },
  },
  GatehouseForgeRefuses: {
    fires: {
      'gatehouse_forge_requests_total{forge="github",status="401"}': '0+10x40',
      'gatehouse_forge_requests_total{forge="github",status="200"}': '0+20x40',
    },
    silent: {
      'gatehouse_forge_requests_total{forge="github",status="502"}': '0+1x40',
      'gatehouse_forge_requests_total{forge="github",status="404"}': '0+50x40',
      'gatehouse_forge_requests_total{forge="github",status="200"}': '0+20x40',
    },
  },
  GatehouseForgeAccess: {
    fires: { 'gatehouse_forge_access_problem{problem="missing-scope"}': '1x40' },
    // A forge that was restarted.
    silent: { 'gatehouse_forge_access_problem{problem="unreachable"}': '0x10 1x5 0x25' },
  },
  GatehouseForgeLimit: {
    fires: {
      'gatehouse_forge_rate_remaining{forge="github"}': '100x40',
      'gatehouse_jobs{queue="review",state="waiting"}': '7x40',
    },
    // An idle pod remembers the end of a window; nothing waits for it.
    silent: {
      'gatehouse_forge_rate_remaining{forge="github"}': '3x40',
      'gatehouse_jobs{queue="review",state="waiting"}': '0x40',
      [DEAD_LETTERS]: '7x40',
    },
  },
  GatehouseBaseline: {
    fires: { 'gatehouse_baselines{state="replaced"}': '1x40', 'gatehouse_baselines{state="in-force"}': '3x40' },
    // Some owners have one, others do not.
    silent: { 'gatehouse_baselines{state="none"}': '7x40', 'gatehouse_baselines{state="in-force"}': '3x40' },
  },
  GatehouseNotEnforcing: {
    fires: { 'gatehouse_enforcement_off{instance="a"}': '1x40', 'gatehouse_enforcement_off{instance="b"}': '0x40' },
    silent: { 'gatehouse_enforcement_off{instance="a"}': '1x5 0x35' },
  },
  GatehouseBypassed: {
    fires: { 'gatehouse_merges_total{outcome="bypassed"}': '0x30 1x10' },
    silent: {
      'gatehouse_merges_total{outcome="bypassed"}': '1x40',
      'gatehouse_merges_total{outcome="passed"}': '0+1x40',
    },
  },
  GatehouseForeignStatus: {
    // Its first value is all that there is of a series.
    fires: { 'gatehouse_foreign_statuses_total{by="mallory"}': '_x30 1x10' },
    silent: { 'gatehouse_foreign_statuses_total{by="mallory"}': '0x40' },
  },
  GatehouseSuccessesUnseen: {
    fires: { 'gatehouse_oldest_unseen_success_seconds{}': '172800+60x80' },
    silent: { 'gatehouse_oldest_unseen_success_seconds{}': '86400+60x80' },
  },
  GatehouseStaleSuccess: {
    fires: { 'gatehouse_stale_verdicts_total{why="success"}': '0x30 1x10' },
    silent: {
      'gatehouse_stale_verdicts_total{why="success"}': '1x40',
      'gatehouse_stale_verdicts_total{why="verdict"}': '0+1x40',
      'gatehouse_stale_verdicts_total{why="status"}': '0+1x40',
    },
  },
  GatehouseFrozenSuccess: {
    fires: { 'gatehouse_frozen_successes_total{}': '0x30 1x10' },
    silent: { 'gatehouse_frozen_successes_total{}': '1x40' },
  },
  GatehouseReviewsInError: {
    fires: {
      'gatehouse_reviews_total{verdict="error"}': '0+2x40',
      'gatehouse_reviews_total{verdict="failure"}': '0+1x40',
      'gatehouse_reviews_total{verdict="none"}': '0+90x40',
    },
    // One repository's broken policy among many that are well.
    silent: {
      'gatehouse_reviews_total{verdict="error"}': '0+2x40',
      'gatehouse_reviews_total{verdict="success"}': '0+3x40',
    },
  },
};

test('promtool accepts the panels and the alerts, and each alert fires exactly when it should', async (t) => {
  if (spawnSync('promtool', ['--version']).error !== undefined) {
    t.not(process.env['REQUIRE_PROMTOOL'], '1', 'promtool is required here and not installed');
    t.log('promtool is not installed: the alerts were not tried');
    return;
  }
  const rules = await alertRules();
  t.deepEqual(Object.keys(COURSES).sort(), rules.map(({ alert }) => alert).sort());
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-rules-'));
  try {
    await writeFile(join(folder, 'rules.yaml'), stringify({ groups: [{ name: 'gatehouse', rules }] }));
    await writeFile(join(folder, 'test.yaml'), stringify(ruleTests()));
    await writeFile(
      join(folder, 'panels.yaml'),
      stringify({ groups: [{ name: 'panels', rules: await panelRules() }] }),
    );
    for (const file of ['rules.yaml', 'panels.yaml']) {
      t.regex((await execute('promtool', ['check', 'rules', join(folder, file)])).stdout, /SUCCESS/);
    }
    const result = await execute('promtool', ['test', 'rules', join(folder, 'test.yaml')]).catch(
      (error: unknown) => error,
    );
    t.regex((result as { stdout: string }).stdout, /SUCCESS/, JSON.stringify(result));
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** The dashboard's expressions as promtool can check them: each as a rule that records it. */
async function panelRules() {
  const { panels } = await readDashboard();
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return expressions.map((expr, index) => ({
    record: `panel:${index}`,
    expr: expr.replaceAll(/\$__(?:rate_)?interval/g, '5m'),
  }));
}

function ruleTests() {
  const at = (alert: string, series: Readonly<Record<string, string>>, fires: boolean) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({
      series: name.replace('{', `{${MATCHERS},`),
      values,
    })),
    // Not when it fires but whether: labels and annotations are the template's matter.
    promql_expr_test: [
      {
        expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
        eval_time: '35m',
        exp_samples: [{ labels: '{}', value: fires ? 1 : 0 }],
      },
    ],
  });
  return {
    rule_files: ['rules.yaml'],
    evaluation_interval: '1m',
    tests: Object.entries(COURSES).flatMap(([alert, { fires, silent }]) => [
      at(alert, fires, true),
      at(alert, silent, false),
    ]),
  };
}
