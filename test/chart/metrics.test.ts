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
  readonly templating: { readonly list: readonly { readonly name: string; readonly query: unknown }[] };
}

const readDashboard = async () => JSON.parse(await readFile(`${CHART}files/dashboard.json`, 'utf8')) as Dashboard;

async function alertRules() {
  const metrics = { prometheusRule: { enabled: true }, serviceMonitor: { enabled: true } };
  const manifests = await render({ values: { metrics, forgeToken: { existingSecret: 'forge' } } });
  return parsePrometheusRule(find(manifests, 'PrometheusRule', 'gh-gatehouse')).spec.groups;
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
  const { panels } = await readDashboard();
  const targets = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
  t.true(targets.length > 20);
  for (const { title, expr } of targets) {
    t.deepEqual(await unknownIn(expr), [], title);
  }
});

test('every series and label of the alerts is on the metrics page', async (t) => {
  for (const { rules } of await alertRules()) {
    for (const { alert, expr } of rules) {
      t.deepEqual(await unknownIn(expr), [], alert);
    }
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
    ...(await alertRules()).flatMap(({ rules }) => rules.map(({ expr }) => expr)),
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
  const prometheusRule = {
    enabled: true,
    alertLabels: { team: 'platform', severity: 'none' },
    runbookUrl: 'https://docs.example.com/alerts.html',
  };
  const manifests = await render({
    values: { metrics: { prometheusRule, serviceMonitor: { enabled: true } }, forgeToken: { existingSecret: 'forge' } },
  });
  const rules = parsePrometheusRule(find(manifests, 'PrometheusRule', 'gh-gatehouse')).spec.groups.flatMap(
    (g) => g.rules,
  );
  t.true(rules.length > 0);
  for (const { alert, expr, labels, annotations } of rules) {
    t.true(expr.includes(MATCHERS), alert);
    t.is(labels['team'], 'platform');
    t.is(annotations.runbook_url, `${prometheusRule.runbookUrl}#${alert.toLowerCase()}`);
  }
});

test('without a ServiceMonitor the alerts use the user’s matchers', async (t) => {
  const prometheusRule = { enabled: true, matchers: 'app="gatehouse"' };
  const manifests = await render({ values: { metrics: { prometheusRule }, forgeToken: { existingSecret: 'forge' } } });
  const { groups } = parsePrometheusRule(find(manifests, 'PrometheusRule', 'gh-gatehouse')).spec;
  for (const { alert, expr } of groups.flatMap(({ rules }) => rules)) {
    t.regex(expr, /\{app="gatehouse"[,}]/, alert);
  }
});

test('without a worker there are no alerts about reviews', async (t) => {
  const metrics = { prometheusRule: { enabled: true }, serviceMonitor: { enabled: true } };
  const manifests = await render({ values: { metrics } });
  const names = parsePrometheusRule(find(manifests, 'PrometheusRule', 'gh-gatehouse')).spec.groups.flatMap(
    ({ rules }) => rules.map(({ alert }) => alert),
  );
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
  for (const { rules } of await alertRules()) {
    for (const { alert, annotations } of rules) {
      // A relative path leads nowhere from a pager.
      t.is(annotations.runbook_url, undefined);
      t.true(
        headings.some((heading) => heading.replace(/^#+ /, '') === alert),
        alert,
      );
    }
  }
});

const DEAD_LETTERS = `gatehouse_jobs{${MATCHERS},queue="review-dead-letters",state="waiting"}`;

/** Each alert with a course of events that fires it and one that does not. Samples are a minute apart. */
const COURSES = [
  {
    alert: 'GatehouseDown',
    // A worker takes no webhooks.
    fires: { [`gatehouse_role{${MATCHERS},role="worker"}`]: '1x35' },
    silent: { [`gatehouse_role{${MATCHERS},role="door"}`]: '1x35' },
  },
  {
    alert: 'GatehouseDependencyDown',
    fires: {
      [`gatehouse_role{${MATCHERS},instance="a",role="door"}`]: '1x35',
      [`gatehouse_dependency_up{${MATCHERS},instance="a",dependency="redis"}`]: '0x35',
      // The worker reaches it, which is no help to the webhooks.
      [`gatehouse_role{${MATCHERS},instance="b",role="worker"}`]: '1x35',
      [`gatehouse_dependency_up{${MATCHERS},instance="b",dependency="redis"}`]: '1x35',
    },
    silent: {
      [`gatehouse_role{${MATCHERS},instance="a",role="door"}`]: '1x35',
      [`gatehouse_dependency_up{${MATCHERS},instance="a",dependency="redis"}`]: '0x35',
      [`gatehouse_role{${MATCHERS},instance="b",role="door"}`]: '1x35',
      [`gatehouse_dependency_up{${MATCHERS},instance="b",dependency="redis"}`]: '1x35',
    },
  },
  {
    alert: 'GatehouseLosingDeliveries',
    fires: { [`http_request_duration_seconds_count{${MATCHERS},route="/webhook",status="503"}`]: '0+6x40' },
    silent: {
      [`http_request_duration_seconds_count{${MATCHERS},route="/webhook",status="200"}`]: '0+60x40',
      [`http_request_duration_seconds_count{${MATCHERS},route="/webhook",status="401"}`]: '0+60x40',
      [`http_request_duration_seconds_count{${MATCHERS},route="/health",status="503"}`]: '0+60x40',
    },
  },
  {
    alert: 'GatehouseSignatureMismatch',
    fires: { [`gatehouse_rejections_total{${MATCHERS},reason="signature_mismatch"}`]: '0+6x60' },
    silent: {
      [`gatehouse_rejections_total{${MATCHERS},reason="signature_mismatch"}`]: '0+6x60',
      [`gatehouse_deliveries_total{${MATCHERS},event="push",outcome="accepted"}`]: '0+1x60',
    },
  },
  {
    alert: 'GatehouseReviewsLate',
    fires: { [`gatehouse_oldest_waiting_job_seconds{${MATCHERS}}`]: '0+60x40' },
    // A burst that is worked off.
    silent: { [`gatehouse_oldest_waiting_job_seconds{${MATCHERS}}`]: '0+60x14 800x30' },
  },
  {
    alert: 'GatehouseDeadLetters',
    fires: { [DEAD_LETTERS]: '2x20 3x20' },
    // Some are there, one is replayed, and none is added.
    silent: { [DEAD_LETTERS]: '9x20 8x20' },
  },
  {
    alert: 'GatehouseForgeRefuses',
    fires: {
      [`gatehouse_forge_requests_total{${MATCHERS},forge="github",status="401"}`]: '0+10x40',
      [`gatehouse_forge_requests_total{${MATCHERS},forge="github",status="200"}`]: '0+20x40',
    },
    silent: {
      [`gatehouse_forge_requests_total{${MATCHERS},forge="github",status="502"}`]: '0+1x40',
      [`gatehouse_forge_requests_total{${MATCHERS},forge="github",status="404"}`]: '0+50x40',
      [`gatehouse_forge_requests_total{${MATCHERS},forge="github",status="200"}`]: '0+20x40',
    },
  },
  {
    alert: 'GatehouseForgeAccess',
    fires: { [`gatehouse_forge_access_problem{${MATCHERS},problem="missing-scope"}`]: '1x40' },
    // A forge that was restarted.
    silent: { [`gatehouse_forge_access_problem{${MATCHERS},problem="unreachable"}`]: '0x10 1x5 0x25' },
  },
  {
    alert: 'GatehouseForgeLimit',
    fires: {
      [`gatehouse_forge_rate_remaining{${MATCHERS},forge="github"}`]: '100x40',
      [`gatehouse_jobs{${MATCHERS},queue="review",state="waiting"}`]: '7x40',
    },
    // An idle pod remembers the end of a window; nothing waits for it.
    silent: {
      [`gatehouse_forge_rate_remaining{${MATCHERS},forge="github"}`]: '3x40',
      [`gatehouse_jobs{${MATCHERS},queue="review",state="waiting"}`]: '0x40',
      [DEAD_LETTERS]: '7x40',
    },
  },
  {
    alert: 'GatehouseBaseline',
    fires: {
      [`gatehouse_baselines{${MATCHERS},state="replaced"}`]: '1x40',
      [`gatehouse_baselines{${MATCHERS},state="in-force"}`]: '3x40',
    },
    // Some owners have one, others do not.
    silent: {
      [`gatehouse_baselines{${MATCHERS},state="none"}`]: '7x40',
      [`gatehouse_baselines{${MATCHERS},state="in-force"}`]: '3x40',
    },
  },
  {
    alert: 'GatehouseNotEnforcing',
    fires: {
      [`gatehouse_enforcement_off{${MATCHERS},instance="a"}`]: '1x40',
      [`gatehouse_enforcement_off{${MATCHERS},instance="b"}`]: '0x40',
    },
    silent: { [`gatehouse_enforcement_off{${MATCHERS},instance="a"}`]: '1x5 0x35' },
  },
  {
    alert: 'GatehouseBypassed',
    fires: { [`gatehouse_merges_total{${MATCHERS},outcome="bypassed"}`]: '0x30 1x10' },
    silent: {
      [`gatehouse_merges_total{${MATCHERS},outcome="bypassed"}`]: '1x40',
      [`gatehouse_merges_total{${MATCHERS},outcome="passed"}`]: '0+1x40',
    },
  },
  {
    alert: 'GatehouseForeignStatus',
    // Its first value is all that there is of a series.
    fires: { [`gatehouse_foreign_statuses_total{${MATCHERS},by="mallory"}`]: '_x30 1x10' },
    silent: { [`gatehouse_foreign_statuses_total{${MATCHERS},by="mallory"}`]: '0x40' },
  },
  {
    alert: 'GatehouseFrozenSuccess',
    fires: { [`gatehouse_frozen_successes_total{${MATCHERS}}`]: '0x30 1x10' },
    silent: { [`gatehouse_frozen_successes_total{${MATCHERS}}`]: '1x40' },
  },
  {
    alert: 'GatehouseReviewsInError',
    fires: {
      [`gatehouse_reviews_total{${MATCHERS},verdict="error"}`]: '0+2x40',
      [`gatehouse_reviews_total{${MATCHERS},verdict="failure"}`]: '0+1x40',
      [`gatehouse_reviews_total{${MATCHERS},verdict="none"}`]: '0+90x40',
    },
    // One repository's broken policy among many that are well.
    silent: {
      [`gatehouse_reviews_total{${MATCHERS},verdict="error"}`]: '0+2x40',
      [`gatehouse_reviews_total{${MATCHERS},verdict="success"}`]: '0+3x40',
    },
  },
];

test('promtool accepts the alerts, and each fires exactly when it should', async (t) => {
  const found = await execute('promtool', ['--version']).then(
    () => true,
    () => false,
  );
  if (!found) {
    if (process.env['REQUIRE_PROMTOOL'] === '1') {
      return t.fail('REQUIRE_PROMTOOL=1, and promtool is not on PATH');
    }
    t.log('The alerts are not tried, because promtool is not on PATH.');
    return t.pass();
  }
  const groups = await alertRules();
  const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  t.deepEqual(COURSES.map(({ alert }) => alert).sort(), alerts.sort());
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-rules-'));
  try {
    await writeFile(join(folder, 'rules.yaml'), stringify({ groups }));
    await writeFile(join(folder, 'test.yaml'), stringify(ruleTests()));
    t.regex((await execute('promtool', ['check', 'rules', join(folder, 'rules.yaml')])).stdout, /SUCCESS/);
    const result = await execute('promtool', ['test', 'rules', join(folder, 'test.yaml')]).catch(
      (error: unknown) => error,
    );
    t.regex((result as { stdout: string }).stdout, /SUCCESS/, JSON.stringify(result));
  } finally {
    await rm(folder, { recursive: true });
  }
  return undefined;
});

function ruleTests() {
  const at = (alert: string, series: Readonly<Record<string, string>>, fires: boolean) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
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
    tests: COURSES.flatMap(({ alert, fires, silent }) => [at(alert, fires, true), at(alert, silent, false)]),
  };
}
