/**
 * Sends signed deliveries steadily, each over a connection of its own, and remembers which were acknowledged. It runs in the
 * test's process, and as a program in a pod.
 */
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { signatureOf } from '../helpers/signature.ts';

export interface Sent {
  /** Delivery ids that were answered 200. */
  readonly acknowledged: readonly string[];
  /** How often something else came back: a status, or the error's code. */
  readonly refused: Readonly<Record<string, number>>;
}

export interface Target {
  readonly url: string;
  /** The Host header, where the address in the URL is not the name that an ingress knows. */
  readonly host?: string | undefined;
  readonly secret: string;
}

const LANES = 4;
const PAUSE_MS = 20;
/** GitHub waits 10 s for an answer. */
const ANSWER_TIMEOUT_MS = 10_000;

/** Sends until `stop()`, which resolves with the outcome of every delivery. */
export function startSender(target: Target): { stop(): Promise<Sent> } {
  const acknowledged: string[] = [];
  const refused: Record<string, number> = {};
  let stopping = false;

  async function lane(): Promise<void> {
    while (!stopping) {
      const id = randomUUID();
      const outcome = await post(target, id);
      if (outcome === '200') {
        acknowledged.push(id);
      } else {
        refused[outcome] = (refused[outcome] ?? 0) + 1;
      }
      await sleep(PAUSE_MS);
    }
  }

  const lanes = Array.from({ length: LANES }, lane);
  return {
    async stop() {
      stopping = true;
      await Promise.all(lanes);
      return { acknowledged, refused };
    },
  };
}

function post({ url, host, secret }: Target, id: string): Promise<string> {
  const body = JSON.stringify({ zen: 'Steady as she goes.', id });
  const { promise, resolve } = Promise.withResolvers<string>();
  const outgoing = request(
    url,
    {
      agent: false,
      method: 'POST',
      timeout: ANSWER_TIMEOUT_MS,
      headers: {
        ...(host !== undefined && { host }),
        connection: 'close',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'x-forge-event': 'ping',
        'x-forge-delivery': id,
        'x-hub-signature-256': signatureOf(body, secret),
      },
    },
    (response) => {
      response.resume();
      // Only a whole answer acknowledges anything.
      response.on('end', () => resolve(response.complete ? String(response.statusCode) : 'cut'));
      response.on('error', () => resolve('cut'));
    },
  );
  outgoing.on('timeout', () => outgoing.destroy(Object.assign(new Error('no answer'), { code: 'no answer' })));
  outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  outgoing.end(body);
  return promise;
}

if (import.meta.main) {
  const { URL: url = '', SECRET: secret = '' } = process.env;
  const sender = startSender({ url, secret });
  process.once('SIGTERM', () => {
    sender.stop().then((sent) => process.stdout.write(`${JSON.stringify(sent)}\n`));
  });
  process.stdout.write('sending\n');
}
