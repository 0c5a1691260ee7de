import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { parseSecret } from '../config/config.ts';
import { configured, reasonOf, UsageError } from './failures.ts';
import type { Terminal } from './terminal.ts';
import { parseWait } from './wait.ts';

const HELP = `Usage: gatehouse send <file | -> [options]

Signs a payload with WEBHOOK_SECRET as a forge would, posts it and prints the response, to test the settings.
"-" reads standard input.

Options:
  --url <url>         where to, by default http://localhost:8080/webhook
  --event <type>      by default pull_request
  --delivery <id>     by default a new one
  --wait <seconds>    how long to try again while nothing answers; by default 0
  --help              print this

Exit codes: 0 acknowledged with 200, 1 anything else, 64 wrong usage, 78 wrong configuration.
`;

const TIMEOUT_MS = 10_000;
const PAUSE_MS = 1_000;

export async function send(args: readonly string[], { env, stdin, stdout }: Terminal): Promise<number> {
  const { values: options, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://localhost:8080/webhook' },
      event: { type: 'string', default: 'pull_request' },
      delivery: { type: 'string' },
      wait: { type: 'string', default: '0' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (options.help === true) {
    stdout.write(HELP);
    return 0;
  }
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) {
    throw new UsageError('expected exactly one payload file');
  }
  if (!isWebUrl(options.url)) {
    throw new UsageError(`--url is "${options.url}"; it must begin with http:// or https://`);
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
      // With the same delivery id, so that one which was stored without an answer is not stored twice.
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
