import { parseArgs } from 'node:util';
import { withTimeout } from '../../common/timeout.ts';
import { visible } from '../../review/text.ts';
import { UsageError } from '../failures.ts';
import { hasColours, type Terminal } from '../terminal.ts';
import { readConfiguration } from './configuration.ts';
import { examine } from './examine.ts';
import type { Finding } from './finding.ts';

const HELP = `Usage: gatehouse doctor [owner/repository] [--url <webhook URL>] [--json]

Checks an installation, and with a repository how it is set up: configuration, database, Redis, forge, credentials, policy, teams, the status that
the default branch requires, webhook and its last answers. It changes nothing, and prints no secret.

Each line is one check: ✔ right, ✘ wrong, with what to do, ? what cannot be known or was skipped, and why. Each is given up after 15 seconds at most;
the others go on.

Options:
  --url <webhook URL>   the URL that webhooks should have; without it, one that ends in /webhook is taken for Gatehouse's
  --json                print one JSON object: ok, and the checks, each with check, result (ok, wrong, unknown, skipped), message, action
  --help                print this

Settings: those of the service. Run it where the worker runs: only a worker has the forge's credentials.

Exit codes: 0 nothing is wrong, though something may not be known; 1 something is wrong; 64 wrong usage.
`;

export async function doctor(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    terminal.stdout.write(HELP);
    return 0;
  }
  const [repository, ...more] = positionals;
  if (more.length > 0) {
    throw new UsageError('expected at most one repository');
  }
  const question = { repository: repositoryName(repository), webhookUrl: webhookUrl(values.url) };
  const { groups, close } = examine(readConfiguration(terminal.env), question);
  const findings: Finding[] = [];
  for (const group of groups) {
    const found = await group;
    findings.push(...found);
    if (!values.json) {
      terminal.stdout.write(found.map((finding) => line(finding, hasColours(terminal))).join(''));
    }
  }
  const isWell = findings.every(({ result }) => result !== 'wrong');
  if (values.json) {
    terminal.stdout.write(`${JSON.stringify({ ok: isWell, checks: findings }, null, 2)}\n`);
  }
  await withTimeout(CLOSE_LIMIT_MS, close(), () => {});
  return isWell ? 0 : 1;
}

/** What hangs is left behind: the process ends anyway. */
const CLOSE_LIMIT_MS = 2_000;

function repositoryName(text: string | undefined): string | undefined {
  if (text !== undefined && !/^(?!\.{1,2}\/)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/.test(text)) {
    throw new UsageError('expected a repository as owner/repository');
  }
  return text;
}

function webhookUrl(text: string | undefined): string | undefined {
  if (text !== undefined && !/^https?:$/.test(URL.parse(text)?.protocol ?? '')) {
    throw new UsageError('--url takes the URL of the door, such as https://gatehouse.example.com/webhook');
  }
  return text;
}

const MARKS = { ok: '✔', wrong: '✘', unknown: '?', skipped: '?' } as const;
const COLOURS = { ok: 32, wrong: 31, unknown: 33, skipped: 33 } as const;
/** The longest name of a check. */
const NAME_WIDTH = 'repository scopes'.length;

/** Names of branches, teams and files are anybody's, and so are the forge's words. */
function line({ check, result, message, action }: Finding, colours: boolean): string {
  const mark = colours ? `\u001b[${COLOURS[result]}m${MARKS[result]}\u001b[0m` : MARKS[result];
  const todo = action === undefined ? '' : ` → ${action}`;
  return `${mark} ${check.padEnd(NAME_WIDTH)}  ${visible(`${message}${todo}`)}\n`;
}
