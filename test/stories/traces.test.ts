import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ExecutionContext } from 'ava';
import { makeLog } from '../../src/log.ts';
import { type Collector, type ReceivedSpan, startCollector } from '../helpers/collector.ts';
import { DOOR, openDoor, SECRET } from '../helpers/door.ts';
import { drawTrace, namesIn } from '../helpers/draw-trace.ts';
import { CLIENTS } from '../helpers/forges.ts';
import { NOWHERE } from '../helpers/free-port.ts';
import { type Story, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const POLICY = `version: 1
rules:
  - { id: title, require: { title: '^feat' } }
  - { id: secret-plan, require: { files: ['secret-plans/**'] } }
`;
const FILES = { '.gatehouse.yml': POLICY };
const CHANGE = { 'secret-plans/a.txt': 'the content of a file\n' };
const TITLE = 'feat: a title that nobody else has to read';
const BODY = 'a description that nobody else has to read';

/** The trace in docs/operations.md. */
const DRAWN = (await readFile(new URL('../../docs/operations.md', import.meta.url), 'utf8'))
  .split('\n')
  .filter((line) => /^(?:POST \/webhook|└─| {3}[├└]─).* ms /.test(line));

/** What a review reads at once has no order: by name. */
function withoutOrder(names: readonly string[]): readonly string[] {
  const [from, to] = [5, -2];
  return [...names.slice(0, from), ...names.slice(from, to).toSorted(), ...names.slice(to)];
}

const traces = (collector: Collector) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });

/** The spans of a trace, each under the span that caused it. */
function below(collector: Collector, parent: ReceivedSpan): readonly ReceivedSpan[] {
  return collector.spans
    .filter((span) => span.parent === parent.spanId && span.traceId === parent.traceId)
    .sort((left, right) => left.start - right.start);
}

/** Ends door and worker, which sends the spans that wait. */
async function traced(story: Story, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    await story.settled();
  } finally {
    await story[Symbol.asyncDispose]();
  }
}

/** The span at the door that caused something. A delivery that was answered 503 is sent again, and has another span. */
function doorOf(t: ExecutionContext, collector: Collector, delivery: string): ReceivedSpan {
  const doors = collector.spans.filter(
    ({ attributes }) => attributes['http.route'] === '/webhook' && attributes['gatehouse.delivery'] === delivery,
  );
  t.true(doors.some(({ attributes }) => attributes['http.response.status_code'] === 200));
  const causes = doors.filter((door) => below(collector, door).length > 0);
  t.is(causes.length, 1, `${doors.length} spans of ${delivery}`);
  return causes[0] as ReceivedSpan;
}

for (const name of CLIENTS) {
  test(`${name}: a trace leads from the delivery over the job to the status`, async (t) => {
    await using collector = await startCollector();
    const story = await tellStory(name, FILES, traces(collector));
    const delivery = randomUUID();
    await traced(story, async () => {
      const number = story.openSilently(CHANGE, { title: TITLE, body: BODY });
      await story.tell({ kind: 'pull-request', number, action: 'opened' }, delivery);
      t.is(await story.verdict(number), 'success');
    });

    const subject = { 'vcs.owner.name': 'acme', 'vcs.repository.name': 'widgets', 'vcs.change.id': '1' };
    const door = doorOf(t, collector, delivery);
    t.is(door.name, 'POST /webhook');
    t.is(door.parent, undefined);
    t.like(door.attributes, { ...subject, 'gatehouse.event': 'pull_request' });
    t.like(door.resource, { 'service.name': 'gatehouse', 'telemetry.sdk.language': 'nodejs' });

    const [job, ...others] = below(collector, door);
    t.deepEqual(others, []);
    t.is(job?.name, 'process review');
    t.like(job?.attributes, { ...subject, 'messaging.destination.name': 'review', 'gatehouse.attempt': 1 });
    t.is(job?.attributes['gatehouse.delivery'], delivery);

    const requests = job === undefined ? [] : below(collector, job);
    const reading = name === 'github' ? 'POST /graphql' : 'GET /repos/{owner}/{repo}/pulls/{number}';
    const read = requests.find((request) => request.name === reading);
    t.like(read?.attributes, {
      'server.address': '127.0.0.1',
      'http.response.status_code': 200,
      'url.template': reading.split(' ')[1],
    });
    const status = requests.filter(({ name: request }) => request === 'POST /repos/{owner}/{repo}/statuses/{sha}');
    t.is(status.at(-1)?.attributes['http.response.status_code'], 201);
    t.true(requests.every(({ kind, failed }) => kind === 3 && !failed));
    t.false(
      collector.spans.some((span) => /\{other\}|\d{2,}|widgets/.test(span.name)),
      'the names are few',
    );

    if (name === 'gitea') {
      const drawing = drawTrace(collector.spans, door);
      t.deepEqual(
        withoutOrder(namesIn(DRAWN)),
        withoutOrder(namesIn(drawing)),
        `docs/operations.md must have:\n${drawing.join('\n')}`,
      );
    }

    const signed = /sha256=|[0-9a-f]{64}/;
    for (const hidden of [SECRET, story.forge.token, TITLE, BODY, 'secret-plan', 'topic-', 'the content', signed]) {
      t.false(
        hidden instanceof RegExp ? hidden.test(collector.text()) : collector.text().includes(hidden),
        `${hidden}`,
      );
    }
  });
}

test('a traceparent of the sender is not used, and a wrong signature makes no span', async (t) => {
  await using collector = await startCollector();
  const strangers = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
  const headers = { traceparent: `00-${strangers}-bbbbbbbbbbbbbbbb-01`, tracestate: 'x=1', baggage: 'a=b' };
  {
    await using door = await openDoor(traces(collector), DOOR);
    const signed = await door.post('{"a":1}', { ...headers, 'x-forge-delivery': 'signed' });
    t.is(signed.status, 200);
    t.is((await door.post('{"a":1}', { ...headers, 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` })).status, 401);
    t.is((await door.post('not JSON', { 'x-forge-delivery': 'no-json' })).status, 400);
  }
  t.deepEqual(
    collector.spans.map(({ attributes, parent, failed }) => [attributes['gatehouse.delivery'], parent, failed]),
    [
      ['signed', undefined, false],
      ['no-json', undefined, true],
    ],
  );
  t.false(collector.text().includes(strangers));
  t.is(collector.spans[1]?.attributes['error.type'], 'not_json');
});

test('each attempt of a job is a span in the trace of its delivery', async (t) => {
  await using collector = await startCollector();
  const story = await tellStory('gitea', FILES, traces(collector));
  const delivery = randomUUID();
  await traced(story, async () => {
    const number = story.openSilently(CHANGE, { title: TITLE });
    story.forge.fault({ method: 'GET', path: /\/pulls\/1$/, times: 2, fault: { kind: 'status', status: 502 } });
    await story.tell({ kind: 'pull-request', number, action: 'opened' }, delivery);
    t.is(await story.verdict(number), 'success');
  });
  const attempts = below(collector, doorOf(t, collector, delivery));
  t.deepEqual(
    attempts.map(({ failed, attributes }) => [attributes['gatehouse.attempt'], failed, attributes['error.type']]),
    [
      [1, true, 'unavailable'],
      [2, false, undefined],
    ],
  );
  const [requests] = attempts.map((attempt) => below(collector, attempt));
  t.deepEqual(
    requests?.map(({ failed, attributes }) => [failed, attributes['http.response.status_code']]),
    [
      [true, 502],
      [true, 502],
    ],
  );
});

test('a job that several deliveries request is in the trace of the first', async (t) => {
  await using collector = await startCollector();
  const story = await tellStory('gitea', FILES, traces(collector), DOOR);
  await traced(story, async () => {
    const number = story.openSilently(CHANGE, { title: TITLE });
    for (const delivery of ['first', 'second', 'third']) {
      await story.tell({ kind: 'pull-request', number, action: 'opened' }, delivery);
    }
    await workerComesBy(story);
  });
  const first = doorOf(t, collector, 'first');
  t.deepEqual(
    below(collector, first).map(({ name }) => name),
    ['process review'],
  );
  const others = collector.spans.filter(({ attributes }) => attributes['gatehouse.delivery'] === 'second');
  t.true(others.length > 0);
  t.deepEqual(
    others.flatMap((other) => below(collector, other)),
    [],
  );

  // The worker's first resync finds the repository, and has no delivery.
  const resyncs = collector.spans.filter(({ name }) => name === 'process resync');
  t.true(resyncs.every(({ parent }) => parent === undefined));
  const listing = resyncs.flatMap((resync) => below(collector, resync)).map(({ name }) => name);
  t.true(listing.includes('GET /repos/{owner}/{repo}/pulls'), listing.join());
});

test('a command and the review that it starts are one trace', async (t) => {
  await using collector = await startCollector();
  const story = await tellStory('gitea', FILES, traces(collector));
  const delivery = randomUUID();
  await traced(story, async () => {
    const number = await story.settled(story.open(CHANGE, { title: TITLE }));
    const comment = story.forge.comment(story.repository, number, 'alice', '/gatehouse recheck');
    await story.tell({ kind: 'comment', number, comment, action: 'created' }, delivery);
  });
  const [command] = below(collector, doorOf(t, collector, delivery));
  t.is(command?.name, 'process command');
  t.true(command !== undefined && below(collector, command).some(({ name }) => name === 'process review'));
});

// A collector that fails, or does not take a batch in time, is unit/tracing's.
for (const trouble of ['hangs', 'is absent']) {
  test(`a collector that ${trouble} delays no delivery, no review and no end`, async (t) => {
    await using collector = trouble === 'hangs' ? await startCollector('hang') : undefined;
    const lines: string[] = [];
    const log = makeLog('info', { write: (line) => lines.push(line) });
    const story = await tellStory(
      'gitea',
      FILES,
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector?.url ?? `http://${NOWHERE}` },
      { door: true, worker: true },
      { log },
    );
    await traced(story, async () => {
      t.is(await story.verdict(await story.open(CHANGE, { title: TITLE })), 'success');
    });
    const said = lines.join('');
    t.regex(said, /"msg":"drained"/);
    t.notRegex(said, /"closing":"traces"/);
    t.regex(said, /traces were (?:lost|not sent)/);
  });
}
