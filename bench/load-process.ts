/**
 * The load generator, in a separate process. Raw keep-alive sockets, one request at a time on each:
 * an HTTP client would cost more than some of the servers that it measures.
 */
import { connect, type Socket } from 'node:net';
import type { LoadOrder, LoadResult } from './load.ts';
import { makeRequests, type WireRequest } from './requests.ts';
import { percentile } from './stats.ts';

process.on('message', (order: LoadOrder) => {
  run(order).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ failure: error.message }),
  );
});
process.on('disconnect', () => process.exit());

async function run(order: LoadOrder): Promise<LoadResult> {
  const { port, path, connections, seconds, rate, secret, perPullRequest } = order;
  const next = makeRequests({ secret, path, perPullRequest });

  const begin = performance.now();
  const cpuAtBegin = process.cpuUsage();
  const end = begin + seconds * 1_000;
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};

  const note = (status: string, from: number, now: number) => {
    if (now >= end) {
      return;
    }
    statuses[status] = (statuses[status] ?? 0) + 1;
    if (status === '200') {
      latencies.push(now - from);
    }
  };

  const clients = await Promise.all(Array.from({ length: connections }, () => open(port)));
  if (rate === undefined) {
    await Promise.all(
      clients.map(async (client) => {
        for (let now = performance.now(); now < end; now = performance.now()) {
          const status = await client.send(next());
          note(status, now, performance.now());
        }
      }),
    );
  } else {
    // Open loop: requests are due at fixed times, and waiting for a free connection counts.
    const idle = [...clients];
    const due: number[] = [];
    const work = async (client: Client) => {
      for (let at = due.shift(); at !== undefined; at = due.shift()) {
        const status = await client.send(next());
        note(status, at, performance.now());
      }
      idle.push(client);
    };
    let at = begin;
    while (at < end) {
      const now = performance.now();
      for (; at <= now && at < end; at += 1_000 / rate) {
        due.push(at);
        const client = idle.pop();
        if (client !== undefined) {
          void work(client);
        }
      }
      // A timer would be late by a millisecond or more.
      await new Promise((resolve) => (at - performance.now() > 2 ? setTimeout(resolve, 1) : setImmediate(resolve)));
    }
    while (idle.length < clients.length && performance.now() < end + 10_000) {
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
  const cpu = process.cpuUsage(cpuAtBegin);
  for (const client of clients) {
    client.close();
  }

  const sorted = Float64Array.from(latencies).sort();
  return {
    acknowledged: latencies.length,
    perSecond: latencies.length / seconds,
    statuses,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    longest: sorted.at(-1) ?? 0,
    cpuSeconds: (cpu.user + cpu.system) / 1_000_000,
  };
}

interface Client {
  /** Resolves with the status, or with what happened to the connection. */
  send(request: WireRequest): Promise<string>;
  close(): void;
}

const ANSWER_TIMEOUT_MS = 20_000;

async function open(port: number): Promise<Client> {
  let waiting: ((status: string) => void) | undefined;
  let received = '';
  let socket: Socket;

  const answer = (status: string) => {
    const resolve = waiting;
    waiting = undefined;
    received = '';
    resolve?.(status);
  };
  const dial = async () => {
    socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => socket.destroy());
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (isWhole(received)) {
        answer(received.slice(9, 12));
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => answer('cut'));
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
  };
  await dial();

  return {
    async send({ head, middle, tail }) {
      if (socket.destroyed) {
        await dial();
      }
      const answered = new Promise<string>((resolve) => {
        waiting = resolve;
      });
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(middle);
      socket.write(tail, 'latin1');
      socket.uncork();
      return answered;
    },
    close: () => socket.destroy(),
  };
}

/** All servers here give the length, or an empty chunk at the end. */
function isWhole(text: string): boolean {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) {
    return false;
  }
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  return length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= head + 4 + Number(length);
}
