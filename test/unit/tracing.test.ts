import { setTimeout as sleep } from 'node:timers/promises';
import { makeLog } from '../../src/log.ts';
import { startTracing } from '../../src/tracing/opentelemetry.ts';
import { NO_TRACING, type Tracing } from '../../src/tracing/tracing.ts';
import { type Collector, startCollector } from '../helpers/collector.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function open(endpoint: string) {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const log = makeLog('info', { write: (line) => lines.push(JSON.parse(line)) });
  return { lines, tracing: startTracing({ endpoint, log }) };
}

function addSpan(tracing: Tracing, parent?: string): Promise<string | undefined> {
  const span = { name: 'process review', kind: 'consumer', parent, attributes: { a: 'x', none: undefined } } as const;
  return tracing.run(span, ({ traceparent }) => Promise.resolve(traceparent));
}

/** On a slow machine the spans arrive after `close()` has stopped waiting for the collector. */
async function closeAndReceive(tracing: Tracing, collector: Collector, spans: number): Promise<void> {
  await tracing.close();
  await until(() => collector.spans.length === spans);
}

test('spans that a hung collector does not take are dropped beyond a limit', async (t) => {
  await using collector = await startCollector('hang');
  const { tracing } = open(collector.url);
  for (let span = 0; span < 10_000; span++) {
    await addSpan(tracing);
  }
  await until(async () => collector.spans.length > 0);
  collector.become('ok');
  await tracing.close();
  t.true(collector.spans.length < 4_000, `${collector.spans.length} spans were kept`);
});

test('a lost batch is logged without its spans, and not each one', async (t) => {
  await using collector = await startCollector('failing');
  const { tracing, lines } = open(`${collector.url}/`);
  // Whole batches, which are sent at once: nothing is left for the end, which waits for the collector only so long.
  for (let span = 0; span < 3 * 512; span++) {
    await addSpan(tracing);
  }
  await until(() => collector.spans.length === 3 * 512);
  await tracing.close();
  t.deepEqual(
    lines.map(({ level, msg, spans, reason }) => [level, msg, spans, reason]),
    [['warn', 'traces were lost: the collector did not take them', 512, 'Internal Server Error']],
  );
});

test('a span is below its parent, sampled as that is, and an invalid parent begins a trace', async (t) => {
  await using collector = await startCollector();
  const { tracing } = open(collector.url);
  const hostile = [
    '',
    'x',
    `${PARENT}-more`,
    PARENT.replace('b7ad', 'zzzz'),
    PARENT.replace(/^00/, 'ff'),
    '\0'.repeat(9),
  ];
  for (const parent of [PARENT, ...hostile]) {
    t.regex((await addSpan(tracing, parent)) ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  }
  t.true((await addSpan(tracing))?.endsWith('-01'));
  t.true((await addSpan(tracing, PARENT.replace(/01$/, '00')))?.endsWith('-00'), 'one that is not sampled elsewhere');
  await closeAndReceive(tracing, collector, hostile.length + 2);
  const [below, ...roots] = collector.spans;
  t.is(below?.parent, 'b7ad6b7169203331');
  t.is(below?.traceId, '0af7651916cd43dd8448eb211c80319c');
  t.deepEqual(below?.attributes, { a: 'x' });
  t.is(roots.length, hostile.length + 1);
  t.true(roots.every(({ parent }) => parent === undefined));
});

test('requests belong to the span whose work made them, also when two run at once', async (t) => {
  await using collector = await startCollector();
  const { tracing } = open(collector.url);
  const request = (name: string) => tracing.addRequest({ name, durationMs: 5, attributes: {} });
  request('of nobody');
  const work = (name: string) =>
    tracing.run({ name, kind: 'consumer', attributes: {} }, async () => {
      await sleep(1);
      request(`of ${name}`);
    });
  await Promise.all([work('one'), work('two')]);
  await closeAndReceive(tracing, collector, 4);
  const idOf = (name: string) => collector.spans.find((span) => span.name === name)?.spanId;
  const requests = collector.spans.filter(({ name }) => name.startsWith('of '));
  t.deepEqual(requests.map(({ name, parent }) => [name, parent]).sort(), [
    ['of one', idOf('one')],
    ['of two', idOf('two')],
  ]);
});

test('an error of the work is thrown on, and its message is not sent', async (t) => {
  await using collector = await startCollector();
  for (const tracing of [NO_TRACING, open(collector.url).tracing]) {
    const error = new TypeError('a message that quotes others');
    const thrown = await t.throwsAsync(
      tracing.run({ name: 'x', kind: 'server', attributes: {} }, () => Promise.reject(error)),
    );
    t.is(thrown, error);
    await closeAndReceive(tracing, collector, tracing === NO_TRACING ? 0 : 1);
  }
  t.is(collector.spans[0]?.failed, true);
  t.is(collector.spans[0]?.attributes['error.type'], 'TypeError');
  t.false(collector.text().includes('quotes others'));
});
