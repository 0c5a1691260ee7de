import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { policy, SLOW_TO_PARSE } from '../helpers/hostile-policies.ts';
import { selectorsIn, withDuration } from '../helpers/promql.ts';
import type { ForgePlan, ForgeReport } from '../simulated-forge/simulated-forge-process.ts';
import type { Case } from './case.ts';
import { eventually } from './eventually.ts';
import { expect } from './expect.ts';
import { CHART, type Namespace, RELEASE } from './namespace.ts';
import { type Prometheus, SCRAPE_JOB, startPrometheus } from './prometheus.ts';
import { FORGE_URL, startForge } from './simulated-forge.ts';

const TOKEN = 'a-forge-token-of-the-cluster-tests';
/** Far longer than the four seconds in which a delivery has to be stored. It ends sooner. */
const LOCK_SECONDS = 120;

/** Together they give every series of the worker: verdicts, a task that was ended, a status of somebody else. */
const PULL_REQUESTS: ForgePlan['pullRequests'] = [
  {
    repository: 'acme/widgets',
    files: { '.gatehouse.yml': policy("    require: { title: '^(feat|fix): ' }") },
    title: 'no prefix',
    statusBy: 'mallory',
  },
  { repository: 'acme/invalid', files: { '.gatehouse.yml': 'rules: none\n' }, title: 'feat: things' },
  { repository: 'acme/hostile', files: { '.gatehouse.yml': SLOW_TO_PARSE }, title: 'feat: things' },
];

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const readDashboard = async () => JSON.parse(await readFile(`${CHART}/files/dashboard.json`, 'utf8')) as Dashboard;

interface AlertGroup {
  readonly rules: readonly { readonly alert: string; readonly expr: string }[];
}

/** The chart's alerts for pods that are scraped at their annotations. A cluster need not know PrometheusRules for it. */
async function alertGroups(at: Namespace): Promise<readonly AlertGroup[]> {
  const matchers = `namespace="${at.name}",job="${SCRAPE_JOB}"`;
  const show = ['--show-only', 'templates/prometheusrule.yaml', '--values', '-'];
  const { stdout } = await at.helm(['template', RELEASE, CHART, ...show], {
    forgeToken: { value: TOKEN },
    generateWithoutCluster: true,
    metrics: { prometheusRule: { enabled: true, matchers } },
  });
  const { spec } = parse(stdout) as { spec: { groups: readonly AlertGroup[] } };
  return spec.groups;
}

/** What a dashboard's variable offers: `label_values(<selector>, <label>)`. */
async function offered(prometheus: Prometheus, definition: string): Promise<readonly string[]> {
  const [, selector = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(definition) ?? [];
  return prometheus.labelValues(selector, label);
}

/** Sends each webhook again, as a new delivery, through the Service. */
async function sendWebhooks(at: Namespace, { pullRequests }: ForgeReport): Promise<void> {
  const script = `
    for (const { headers, body } of JSON.parse(process.argv[1])) {
      const response = await fetch('http://${RELEASE}/webhook', { method: 'POST', headers, body });
      if (response.status !== 200) throw new Error('the door answered ' + response.status);
    }`;
  const all = pullRequests.flatMap(({ webhook, statusWebhook }) => [
    webhook,
    ...(statusWebhook ? [statusWebhook] : []),
  ]);
  const webhooks = all.map(({ headers, body }) => ({
    headers: { ...headers, 'x-github-delivery': randomUUID() },
    body,
  }));
  const node = ['node', '--input-type=module', '-e', script, JSON.stringify(webhooks)];
  await at.kubectl(['exec', 'deployment/gatehouse-door', '-c', 'door', '--', ...node]);
}

/** A delivery that cannot be stored in time, because the table is locked. */
async function refuseOneDelivery(at: Namespace): Promise<void> {
  const lock = `BEGIN; LOCK TABLE gatehouse.deliveries IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${LOCK_SECONDS});`;
  const holder = `pg_locks WHERE relation = 'gatehouse.deliveries'::regclass AND mode = 'AccessExclusiveLock' AND granted`;
  const deliver = async () => {
    await eventually('the table is locked', async () => (await at.sql(`SELECT count(*) FROM ${holder}`)) === '1');
    const answer = await at.deliver();
    await at.sql(`SELECT pg_cancel_backend(pid) FROM ${holder}`);
    return answer;
  };
  const [answer] = await Promise.all([deliver(), at.sql(lock)]);
  expect(answer === '503', `503 while the table is locked, not ${answer}`);
}

/** Waits until every query gives a number, and names those that do not. */
async function expectData(
  prometheus: Prometheus,
  queries: readonly { readonly title: string; readonly query: string }[],
  between: () => Promise<void>,
): Promise<void> {
  let missing = queries;
  const names = () => `data for ${missing.map(({ title, query }) => `${title}: ${query}`).join('; ')}`;
  await eventually(names, async () => {
    await between();
    const results = await Promise.all(
      missing.map(async (asked) => ({ asked, values: await prometheus.query(asked.query) })),
    );
    missing = results.filter(({ values }) => values.every(Number.isNaN)).map(({ asked }) => asked);
    return missing.length === 0;
  });
}

export const METRICS_CASES: readonly Case[] = [
  {
    name: 'Prometheus scrapes door and worker: every alert and every panel has data',
    needs: 'prometheus',
    async play({ cluster, namespace }) {
      const at = await namespace('metrics');
      // Before the forge is there, so that requests without an answer are counted.
      await at.install({ config: { forgeUrl: FORGE_URL }, forgeToken: { value: TOKEN } });
      const groups = await alertGroups(at);
      const pods = [...(await at.pods('door')), ...(await at.pods('worker'))];
      const prometheus = await startPrometheus(at, pods, groups);
      try {
        await eventually(`${pods.length} targets are up`, async () => {
          const up = (await prometheus.targets()).filter((state) => state === 'up');
          return up.length === pods.length;
        });
        const forge = await startForge(cluster, at, {
          token: TOKEN,
          login: 'gatehouse',
          secret: await at.signingKey(),
          pullRequests: PULL_REQUESTS,
        });
        await refuseOneDelivery(at);

        const { panels, templating } = await readDashboard();
        const fill = (text: string) =>
          withDuration(text.replaceAll('$namespace', at.name).replaceAll('$job', SCRAPE_JOB));
        const selected = { namespace: at.name, job: SCRAPE_JOB };
        for (const [name, value] of Object.entries(selected)) {
          const { definition = '' } = templating.list.find((variable) => variable.name === name) ?? {};
          const values = await offered(prometheus, fill(definition));
          expect(
            values.includes(value),
            `the dashboard's variable ${name} to offer ${value}, not ${values.join(', ')}`,
          );
        }
        const ofPanels = panels.flatMap(({ title, targets = [] }) =>
          targets.map(({ expr }) => ({ title, query: fill(expr) })),
        );
        // An alert that does not fire gives nothing, so it is what it selects that has to be there.
        const alerts = groups.flatMap(({ rules }) => rules);
        const ofAlerts = alerts.flatMap(({ alert, expr }) =>
          selectorsIn(expr).map((query) => ({ title: alert, query })),
        );
        await expectData(prometheus, [...ofPanels, ...ofAlerts], () => sendWebhooks(at, forge));

        const rules = await prometheus.rules();
        expect(rules.length === alerts.length, `${alerts.length} alerts, not ${rules.length}`);
        const broken = rules.filter(({ health }) => health !== 'ok');
        expect(
          broken.length === 0,
          `every alert to be evaluated, not: ${broken.map((rule) => `${rule.name}: ${rule.lastError}`).join('; ')}`,
        );
        const down = rules.find(({ name }) => name === 'GatehouseDown')?.state;
        expect(down === 'inactive', `GatehouseDown to be inactive while the doors are up, not ${down}`);
        return `${pods.length} targets up; ${ofPanels.length} queries of the dashboard and ${alerts.length} alerts have data`;
      } finally {
        await prometheus.stop();
      }
    },
  },
];
