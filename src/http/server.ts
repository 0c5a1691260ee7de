import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type Koa from 'koa';
import { PROBLEM_JSON, problemDetails } from './problem.ts';

/** Node would wait 60 s for headers and 300 s for a request. Forges send at once and give up after 5 to 10 s. */
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
/** How often Node looks for requests that are over their time. */
const TIMEOUT_CHECK_MS = 1_000;
/** Longer than the idle time of common ingresses (60 s; Google's load balancers 600 s), so that it is they who close. */
const KEEP_ALIVE_TIMEOUT_MS = 620_000;

export function makeServer(app: Koa): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      // The application says it, as a problem.
      requireHostHeader: false,
    },
    app.callback(),
  );
  server.on('clientError', answerClientError);
  // A client that sends Expect: 100-continue gets the 100 only when its body is about to be read: see body.ts.
  server.on('checkContinue', (request, response) => server.emit('request', request, response));
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { body, headers } = lastAnswer(417, 'Only the expectation 100-continue is supported.');
    response.writeHead(417, headers).end(body);
  });
  return server;
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are larger than 16 KiB.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

/** What is not HTTP never reaches the application. It gets its answer here, and the connection ends. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = CLIENT_ERRORS[error.code ?? ''] ?? [400, 'The request is not valid HTTP.'];
  const { body, headers } = lastAnswer(status, detail);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // Both halves: a client that never closes its own would keep the socket, and with it what its request holds.
  socket.destroySoon();
}

/** A problem after which the connection ends. */
function lastAnswer(status: number, detail: string) {
  const body = JSON.stringify(problemDetails(status, detail));
  const headers = { 'Content-Type': PROBLEM_JSON, 'Content-Length': Buffer.byteLength(body), Connection: 'close' };
  return { body, headers };
}

/** Resolves with the port that was bound. A port of 0 takes any that is free. */
export async function listen(server: Server, port: number, host: string | undefined): Promise<number> {
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen({ port, ...(host !== undefined && { host }) }, listening.resolve);
  await listening.promise;
  server.off('error', listening.reject);
  return boundPort(server.address());
}

function boundPort(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') {
    throw new Error('the listener has no port number');
  }
  return address.port;
}

/** How long a connection that was made just before the listener closed has to send its request. */
export const LINGER_MS = 250;

/** Takes no more connections. Whoever is connected may still send a request for a moment, and is answered. */
export async function stopListening(server: Server, lingerMs: number): Promise<void> {
  // Right after the event loop has accepted what was waiting: a connection that the kernel still holds is reset.
  await setImmediate();
  // Not http.Server's own close, which also ends connections that have yet to send their first byte.
  NetServer.prototype.close.call(server);
  await sleep(lingerMs);
}

/** Lets requests finish for `graceMs`, then cuts what is left. */
export async function closeConnections(server: Server, graceMs: number): Promise<void> {
  const deadline = performance.now() + graceMs;
  server.closeIdleConnections();
  while ((await connectionCount(server)) > 0 && performance.now() < deadline) {
    await sleep(CLOSE_POLL_MS);
    server.closeIdleConnections();
  }
  server.closeAllConnections();
  server.close();
}

const CLOSE_POLL_MS = 20;

function connectionCount(server: Server): Promise<number> {
  return promisify(server.getConnections.bind(server))();
}
