import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseSecret } from '../config/config.ts';
import { defineCommand, WRONG_CONFIGURATION } from './command.ts';
import { configured, reasonOf, UsageError } from './failures.ts';
import { parseWait } from './options.ts';
import type { Terminal } from './terminal.ts';

const TIMEOUT_MS = 10_000;
const PAUSE_MS = 1_000;

export const send = defineCommand({
  name: 'send',
  usage: ['<file | -> [options]'],
  text: `Signs a payload with WEBHOOK_SECRET as a forge would, posts it and prints the response, to test the settings.
"-" reads standard input.`,
  options: {
    url: {
      type: 'string',
      default: 'http://localhost:8080/webhook',
      value: 'url',
      help: 'where to post it; http://localhost:8080/webhook by default',
    },
    event: { type: 'string', default: 'pull_request', value: 'type', help: 'the event; pull_request by default' },
    delivery: { type: 'string', value: 'id', help: 'the delivery id; a new one by default' },
    wait: {
      type: 'string',
      default: '0',
      value: 'seconds',
      help: 'how long to retry while nothing answers; 0 by default',
    },
  },
  positionals: { least: 1, most: 1, expected: 'exactly one payload file' },
  settings: 'WEBHOOK_SECRET',
  exitCodes: { 0: 'acknowledged with 200', 1: 'anything else', ...WRONG_CONFIGURATION },
  run: ({ values, positionals: [file = ''] }, terminal) => signAndPost(file, values, terminal),
});

interface SendOptions {
  readonly url: string;
  readonly event: string;
  readonly delivery?: string | undefined;
  readonly wait: string;
}

async function signAndPost(file: string, options: SendOptions, { env, stdin, stdout }: Terminal): Promise<0 | 1> {
  if (!isWebUrl(options.url)) {
    throw new UsageError(`--url is "${options.url}"; it must start with http:// or https://`);
  }
  const waitSeconds = parseWait(options.wait);
  const secret = configured(parseSecret(env));
  const print = (line: string) => stdout.write(`${line}\n`);

  let body: Buffer;
  try {
    body = file === '-' ? await readAll(stdin) : await readFile(file);
  } catch (error) {
    print(`Cannot read ${file}: ${reasonOf(error)}`);
    return 1;
  }
  const delivery = options.delivery ?? randomUUID();
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  print(`POST ${options.url}`);
  print(`X-Forge-Event: ${options.event}`);
  print(`X-Forge-Delivery: ${delivery}`);
  print(`${body.length} bytes, signed`);
  print('');

  const post = () =>
    fetch(options.url, {
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
  const deadline = performance.now() + waitSeconds * 1_000;
  let response: Response | undefined;
  while (response === undefined) {
    try {
      response = await post();
    } catch (error) {
      print(`No answer: ${reasonOf(error)}`);
      if (performance.now() + PAUSE_MS > deadline) {
        return 1;
      }
      // With the same delivery id: a delivery that was stored without an answer is not stored twice.
      await sleep(PAUSE_MS);
    }
  }
  print(`${response.status} ${response.statusText}`);
  print(await response.text());
  return response.status === 200 ? 0 : 1;
}

function isWebUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

async function readAll(stream: Terminal['stdin']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) {
    chunks.push(Buffer.from(chunk));
  }
  return Buffer.concat(chunks);
}
