import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { REFUSAL_REASONS } from '../../src/http/refusal.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { openDoor, PREVIOUS_SECRET, shareDoor, sign } from '../helpers/door.ts';
import { execute } from '../helpers/execute.ts';
import { pullRequestOpened } from '../helpers/payloads.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
const emptyDoor = shareDoor(ava);

async function scrape(url: string): Promise<string> {
  const response = await fetch(url);
  return response.text();
}

interface DocumentedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  /** Node reports it on this platform only. */
  readonly linux: boolean;
}

const readDocument = () => readFile(new URL('../../docs/metrics.md', import.meta.url), 'utf8');

function documentedMetrics(markdown: string): readonly DocumentedMetric[] {
  const rows = markdown.matchAll(/^\| `(\w+)` \| (counter|gauge|histogram) \| (.*?) ?\| .*?(\(Linux\))? \|$/gm);
  return [...rows].map(([, name = '', type = '', labels = '', linux]) => {
    return { name, type, labels: labels.match(/\w+/g) ?? [], linux: linux !== undefined };
  });
}

test('docs/metrics.md lists every metric of a live page with its type and labels', async (t) => {
  const door = await emptyDoor();
  const onPage = [...(await scrape(door.metricsUrl)).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  const documented = documentedMetrics(await readDocument()).filter(
    ({ linux }) => !linux || process.platform === 'linux',
  );
  t.deepEqual(
    onPage.map(([, name, type]) => `${name} ${type}`).sort(),
    documented.map(({ name, type }) => `${name} ${type}`).sort(),
    'the metrics of the page, and those of docs/metrics.md',
  );
  const { registry } = makeMetrics();
  for (const { name, labels } of documented) {
    const metric = registry.getSingleMetric(name) as unknown as { readonly labelNames?: readonly string[] } | undefined;
    t.deepEqual(metric?.labelNames, labels, name);
  }
});

test('docs/metrics.md lists every reason for a rejection', async (t) => {
  const rows = (await readDocument()).matchAll(/^\| `(\w+)` \| \d{3} \| /gm);
  t.deepEqual([...rows].map(([, reason]) => reason).sort(), [...REFUSAL_REASONS].sort());
});

test('what happens at the door is counted, under labels from fixed lists', async (t) => {
  await using door = await openDoor({ WEBHOOK_SECRET_PREVIOUS: PREVIOUS_SECRET });
  const { event, body } = pullRequestOpened();
  const headers = { 'x-forge-event': event, 'x-forge-delivery': 'one' };
  await door.post(body, headers);
  await door.post(body, headers);
  await door.post(body, { 'x-forge-event': event, 'x-hub-signature-256': sign(body, PREVIOUS_SECRET) });
  await door.post('{}', { 'x-forge-event': 'made_up_by_a_stranger' });
  await door.post('{}', { 'x-hub-signature-256': undefined });
  await door.post('{', {});
  await fetch(`${door.url}/made/up/path`);
  const page = await scrape(door.metricsUrl);
  for (const line of [
    'gatehouse_deliveries_total{event="pull_request",outcome="accepted"} 2',
    'gatehouse_deliveries_total{event="pull_request",outcome="duplicate"} 1',
    'gatehouse_deliveries_total{event="other",outcome="accepted"} 1',
    'gatehouse_repeated_bodies_total 1',
    'gatehouse_rejections_total{reason="signature_missing"} 1',
    'gatehouse_rejections_total{reason="not_json"} 1',
    'gatehouse_rejections_total{reason="database"} 0',
    'gatehouse_secret_matches_total{secret="current"} 4',
    'gatehouse_secret_matches_total{secret="previous"} 1',
    'gatehouse_inflight_bytes 0',
    'gatehouse_role{role="door"} 1',
    'http_request_duration_seconds_count{method="POST",route="/webhook",status="200"} 4',
    'http_request_duration_seconds_count{method="GET",route="other",status="404"} 1',
  ]) {
    t.true(page.includes(`${line}\n`), line);
  }
  t.notRegex(page, /made_up|\/made\/up|role="worker"/);
});

// The first sample is a second after the start, the next ten seconds later.
test('stores and queues are sampled in the background, and a dead letter is never one that could run', async (t) => {
  await using door = await openDoor();
  const { event, body } = pullRequestOpened();
  await door.database.query(
    "INSERT INTO gatehouse_jobs.job (name, start_after) VALUES ('review-dead-letters', now() - interval '1 hour')",
  );
  await door.post(body, { 'x-forge-event': event });
  for (const line of [
    'gatehouse_dependency_up{dependency="redis"} 1',
    'gatehouse_dependency_up{dependency="database"} 1',
    'gatehouse_jobs{queue="review",state="waiting"} 1',
    'gatehouse_jobs{queue="review-dead-letters",state="waiting"} 1',
  ]) {
    await until(async () => (await scrape(door.metricsUrl)).includes(`${line}\n`));
  }
  const [, oldest] = /^gatehouse_oldest_waiting_job_seconds (\S+)$/m.exec(await scrape(door.metricsUrl)) ?? [];
  t.true(Number(oldest) < 1_800, oldest);
});

test('the metrics port has only /metrics, and the public port has no metrics', async (t) => {
  const door = await emptyDoor();
  t.is((await fetch(door.metricsUrl, { method: 'HEAD' })).status, 200);
  const { origin } = new URL(door.metricsUrl);
  for (const path of ['/', '/webhook', '/health']) {
    t.is((await fetch(origin + path)).status, 404);
  }
  t.is((await fetch(`${door.url}/metrics`)).status, 404);
});

test('promtool accepts the metrics page', async (t) => {
  if (spawnSync('promtool', ['--version']).error !== undefined) {
    t.not(process.env['REQUIRE_PROMTOOL'], '1', 'promtool is required here and not installed');
    t.log('promtool is not installed: the metrics page was not checked with it');
    return;
  }
  const door = await emptyDoor();
  await door.post('{}');
  const input = await scrape(door.metricsUrl);
  const { stdout, stderr } = await execute('promtool', ['check', 'metrics'], { input });
  t.is(stdout + stderr, '');
});
