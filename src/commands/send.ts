import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

export interface SendOptions {
  /** A payload file, or `-` for standard input. */
  readonly file: string;
  readonly url: string;
  readonly event: string;
  /** A new id when absent. */
  readonly delivery: string | undefined;
  readonly secret: string;
}

const TIMEOUT_MS = 10_000;

/**
 * Signs a payload as a forge would and posts it, to try out settings. Prints the answer.
 * Returns the exit code: 0 when the delivery was acknowledged with 200, else 1.
 */
export async function send(options: SendOptions, print: (line: string) => void): Promise<number> {
  let body: Buffer;
  try {
    body = options.file === '-' ? await buffer(process.stdin) : await readFile(options.file);
  } catch (error) {
    print(`Cannot read ${options.file}: ${reason(error)}`);
    return 1;
  }
  const delivery = options.delivery ?? randomUUID();
  const signature = createHmac('sha256', options.secret).update(body).digest('hex');
  print(`POST ${options.url}`);
  print(`X-Forge-Event: ${options.event}`);
  print(`X-Forge-Delivery: ${delivery}`);
  print(`${body.length} bytes, signed`);
  print('');

  let response: Response;
  try {
    response = await fetch(options.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Forge-Event': options.event,
        'X-Forge-Delivery': delivery,
        'X-Hub-Signature-256': `sha256=${signature}`,
      },
      body: new Uint8Array(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (error) {
    print(`No answer: ${reason(error)}`);
    return 1;
  }
  print(`${response.status} ${response.statusText}`);
  print(await response.text());
  return response.status === 200 ? 0 : 1;
}

/** `fetch` says only "fetch failed"; why is in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
