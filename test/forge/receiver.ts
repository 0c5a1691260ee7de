import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

/** A webhook as it came in. */
export interface Received {
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly payload: {
    readonly action?: string;
    readonly number?: number;
    readonly ref?: string;
    readonly after?: string;
    readonly commits?: readonly {
      readonly id: string;
      readonly modified: readonly string[];
      readonly added: readonly string[];
    }[];
    readonly total_commits?: number;
    readonly sender: { readonly login: string };
    readonly repository: { readonly full_name: string };
    readonly pull_request?: { readonly head: { readonly sha: string } };
    /** Of a commit status. */
    readonly sha?: string;
    readonly context?: string;
    readonly state?: string;
    readonly description?: string;
  };
}

/** Answers 200 to every webhook and keeps it. */
async function startReceiver(address: string) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const at = Date.now();
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    received.push({ at, headers: request.headers, body, payload: JSON.parse(body) });
    response.end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, address, resolve);
  });
  const { port } = server.address() as AddressInfo;
  /** `event/action` of each, in order; of a push its branch, of a commit status its name. */
  const names = () =>
    received.map(
      ({ headers, payload }) => `${headers['x-gitea-event']}/${payload.action ?? payload.ref ?? payload.context}`,
    );
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { port, received, names, close };
}

/** One that ends with the test. */
export async function receive(t: ExecutionContext, address: string) {
  const receiver = await startReceiver(address);
  t.teardown(receiver.close);
  return receiver;
}
