import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a collector gets it, by OTLP over HTTP in JSON. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  /** 2 server, 3 client, 5 consumer. */
  readonly kind: number;
  readonly failed: boolean;
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

interface Pair {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Pair[];
}

interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

/** How a collector answers. `hang`: not at all, until it is told otherwise. */
export type CollectorMood = 'ok' | 'hang' | 'failing';

export type Collector = Awaited<ReturnType<typeof startCollector>>;

export async function startCollector(first: CollectorMood = 'ok') {
  let mood = first;
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const hanging = new Set<ServerResponse>();

  function answer(response: ServerResponse): void {
    if (mood === 'hang') {
      hanging.add(response);
    } else {
      response.writeHead(mood === 'ok' ? 200 : 500, { 'content-type': 'application/json' }).end('{}');
    }
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks).toString();
    bodies.push(body);
    headers.push(request.headers);
    if (request.url === '/v1/traces') {
      spans.push(...spansOf(JSON.parse(body)));
    }
    answer(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    headers,
    text: () => bodies.join('\n'),
    /** Answers what hangs, when the mood is another one. */
    become(next: CollectorMood) {
      mood = next;
      for (const response of hanging) {
        hanging.delete(response);
        answer(response);
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function spansOf({ resourceSpans }: Exported): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parent: span.parentSpanId,
        kind: span.kind,
        failed: span.status.code === 2,
        start: Number(BigInt(span.startTimeUnixNano) / 1_000n) / 1_000,
        end: Number(BigInt(span.endTimeUnixNano) / 1_000n) / 1_000,
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(pairs: readonly Pair[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}
