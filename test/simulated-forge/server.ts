import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { makeExchanges } from './api/exchanges.ts';
import type { Dialect } from './dialect.ts';
import { type Fault, makeFaults } from './faults.ts';
import { type Answer, type Call, matchRoute } from './routes.ts';

const WORTH_COMPRESSING_BYTES = 1_024;
const LOOPBACK = '127.0.0.1';

export interface Seen {
  readonly method: string;
  /** The pattern it matched, such as `/repos/:owner/:repo/pulls/:number`; the path when it matched none. */
  readonly route: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** 0 when no answer was given. */
  readonly status: number;
}

export async function startServer(dialectFor: (url: string) => Dialect, port = 0, host = LOOPBACK) {
  const faults = makeFaults();
  /** By how much later a request arrives than it was sent. */
  const latency = { ms: 0 };
  const seen: Seen[] = [];
  const exchanges = makeExchanges();
  const late: (() => unknown)[] = [];
  let dialect: Dialect | undefined;

  const server = createServer((request, response) => {
    if (dialect !== undefined) {
      serve(dialect, { faults, latency, seen, exchanges, late }, request, response).catch((error: Error) => {
        response.destroy(error);
      });
    }
  });
  server.listen(port, host === LOOPBACK ? LOOPBACK : undefined);
  await once(server, 'listening');
  const { port: chosen } = server.address() as AddressInfo;
  const url = `http://${host}:${chosen}`;
  dialect = dialectFor(url);

  return {
    url,
    faults,
    latency,
    seen,
    exchanges,
    late,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

type ForgeServer = Awaited<ReturnType<typeof startServer>>;

async function serve(
  dialect: Dialect,
  { faults, latency, seen, exchanges, late }: Omit<ForgeServer, 'url' | 'stop'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const method = request.method ?? 'GET';
  const restPath = url.pathname.startsWith(`${dialect.prefix}/`) ? url.pathname.slice(dialect.prefix.length) : '';
  const body = await readBody(request);
  const path = url.pathname === dialect.graphqlPath ? `/graphql${dialect.graphqlTarget?.(body) ?? ''}` : restPath;
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
  if (latency.ms > 0) {
    await sleep(latency.ms);
  }
  await faults.asked(method, path);
  const fault = faults.take(method, path);
  const located = dialect.locate(method, path, url.search);
  const match = 'path' in located ? matchRoute(dialect.routes, method, located.path) : undefined;
  const call: Call = {
    method,
    body,
    headers,
    path: 'path' in located ? located.path : path,
    query: url.searchParams,
    parameters: match?.parameters ?? {},
    login: dialect.login(request.headers) ?? '',
    apiUrl: `${url.origin}${dialect.prefix}`,
  };

  if (fault?.fault.kind === 'late') {
    late.push(() => answerTo(dialect, call, located, match?.handler));
  }
  const untouched = fault !== undefined && !fault.afterwards && fault.fault.kind !== 'replace';
  const open = untouched ? undefined : dialect.open?.({ ...call, path: url.pathname });
  const answer = open ?? (untouched ? dialect.notFound : answerTo(dialect, call, located, match?.handler));
  const isDescribed = dialect.checks !== undefined && call.path !== '' && url.pathname !== dialect.graphqlPath;
  const whole = isDescribed ? exchanges.check(dialect.checks, call, answer, untouched) : answer;
  const finished = untouched ? answer : dialect.finish(call, whole);
  const sent = fault === undefined ? finished : spoil(fault, finished, call);
  const route = match?.route.split(' ')[1] ?? path;
  const { status } = sent === 'hang' ? { status: 0 } : sent;
  seen.push({ method, route, path, headers, status });
  if (sent !== 'hang') {
    send(response, sent, fault?.fault.kind === 'drop', call.headers['accept-encoding']);
  }
}

function answerTo(
  dialect: Dialect,
  call: Call,
  located: ReturnType<Dialect['locate']>,
  handler: ((call: Call) => Answer) | undefined,
): Answer {
  if (call.login === '') {
    return dialect.unauthorized;
  }
  return dialect.refuse(call) ?? ('redirect' in located ? located.redirect : (handler?.(call) ?? dialect.notFound));
}

function spoil({ fault }: Fault, answer: Answer, call: Call): Answer | 'hang' {
  switch (fault.kind) {
    case 'status':
      return {
        status: fault.status,
        body: { message: 'Something went wrong' },
        ...(fault.headers ? { headers: fault.headers } : {}),
      };
    case 'too-many':
      return {
        status: 429,
        body: { message: 'Too many requests' },
        headers: retryAfter(fault),
      };
    case 'secondary-limit':
      return {
        status: 403,
        body: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.' },
        headers: retryAfter(fault),
      };
    case 'late':
      return { status: 502, body: { message: 'Bad gateway' } };
    case 'hang':
      return 'hang';
    case 'drop':
      return answer;
    case 'html':
      return {
        status: 200,
        text: '<!doctype html><title>Down for maintenance</title>',
        headers: { 'content-type': 'text/html; charset=utf-8' },
      };
    case 'json':
      return { status: 200, body: fault.body };
    case 'replace':
      // Without a body it is 304: the text was replaced in what the client has kept.
      return answer.body === undefined ? answer : replaced(answer, fault.text, fault.by);
    case 'redirect':
      return { status: 302, text: '', headers: { location: fault.to } };
    case 'link':
      return { status: 200, body: [], headers: { link: `<${fault.to}>; rel="next"`, 'x-total-count': '100' } };
    case 'echo':
      return { status: 401, body: { message: `Bad credentials: ${call.headers['authorization']}` } };
  }
}

function retryAfter({ retryAfter: seconds }: { readonly retryAfter?: number }): Record<string, string> {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}

/** As text: a number of JSON may have more digits than one of JavaScript. */
function replaced({ status, headers, body }: Answer, text: string, by: string): Answer {
  return {
    status,
    text: JSON.stringify(body).replace(text, () => by),
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  };
}

/** Compressed where it pays, as the real ones do. */
function send(response: ServerResponse, answer: Answer, cut: boolean, accepted = ''): void {
  const json = answer.body === undefined ? undefined : JSON.stringify(answer.body);
  const empty = answer.status === 304 || answer.status === 204;
  const plain = Buffer.from(empty ? '' : (json ?? answer.text ?? ''));
  const compressed = plain.byteLength > WORTH_COMPRESSING_BYTES && accepted.includes('gzip');
  const bytes = compressed ? gzipSync(plain, { level: 1 }) : plain;
  response.writeHead(answer.status, {
    'content-type': json === undefined ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
    ...(empty ? {} : { 'content-length': bytes.byteLength }),
    ...(compressed ? { 'content-encoding': 'gzip' } : {}),
    ...answer.headers,
  });
  if (cut) {
    response.write(bytes.subarray(0, bytes.byteLength / 2), () => response.destroy());
  } else {
    response.end(bytes);
  }
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) {
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(text));
  }
  return text === '' ? {} : JSON.parse(text);
}
