import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

/** A webhook as it came in. */
export interface Received {
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
    readonly pull_request?: { readonly head: { readonly sha: string } };
  };
}

/** Answers 200 to every webhook and keeps it. Ends with the test. */
export async function receive(t: ExecutionContext, address: string) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    received.push({ headers: request.headers, body, payload: JSON.parse(body) });
    response.end();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, address, resolve);
  });
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  /** `event/action` of each, in order; of a push its branch. */
  const names = () =>
    received.map(({ headers, payload }) => `${headers['x-gitea-event']}/${payload.action ?? payload.ref}`);
  return { port, received, names };
}
