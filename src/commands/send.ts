import { createHmac, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { parseSecret } from '../config.ts';
import { configured, reasonOf, UsageError } from './failures.ts';
import type { Terminal } from './terminal.ts';

const HELP = `Usage: gatehouse send <file | -> [options]

Signs a payload with WEBHOOK_SECRET as a forge would, posts it and prints the response, to test the settings.
"-" reads standard input.

Options:
  --url <url>         where to, by default http://localhost:8080/webhook
  --event <type>      by default pull_request
  --delivery <id>     by default a new one
  --help              print this

Exit codes: 0 acknowledged with 200, 1 anything else, 64 wrong usage, 78 wrong configuration.
`;

const TIMEOUT_MS = 10_000;

export async function send(args: readonly string[], { env, stdin, stdout }: Terminal): Promise<number> {
  const { values: options, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://localhost:8080/webhook' },
      event: { type: 'string', default: 'pull_request' },
      delivery: { type: 'string' },
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
    print(`No answer: ${reasonOf(error)}`);
    return 1;
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
