import { withTimeout } from '../../common/timeout.ts';
import { visible } from '../../review/text.ts';
import type { ReviewWorkers } from '../../review/workers/review-workers.ts';
import { defineCommand } from '../command.ts';
import { UsageError } from '../failures.ts';
import { hasColours, type Terminal } from '../terminal.ts';
import { readConfiguration } from './configuration.ts';
import { examine, type Question } from './examine.ts';
import type { Finding } from './finding.ts';

export const doctor = defineCommand({
  name: 'doctor',
  usage: ['[owner/repository] [--url <webhook URL>] [--json]'],
  text: `Checks an installation: configuration, database, Redis, forge and credentials. With a repository it also checks
the policy, the teams, the status that the default branch requires, the webhook and its last answers. It changes
nothing, and prints no secret.

Each line is one check: ✔ right; ✘ wrong, with what to do; ? unknown or skipped, with the reason. A check ends after
15 seconds at most, and the others continue.`,
  options: {
    url: {
      type: 'string',
      value: 'webhook URL',
      help: "the URL that webhooks should have; without it, one that ends in /webhook counts as Gatehouse's",
    },
    json: {
      type: 'boolean',
      default: false,
      help: 'print one JSON object: ok, and the checks, each with check, result (ok, wrong, unknown, skipped), message, action',
    },
  },
  positionals: { most: 1, expected: 'at most one repository' },
  settings: 'those of the service. Run it where the worker runs: only a worker has the credentials for the forge.',
  exitCodes: { 0: 'nothing is wrong, but something may be unknown', 1: 'something is wrong' },
  mayHang: true,
  async run({ values, positionals: [repository] }, terminal) {
    const question = { repository: repositoryName(repository), webhookUrl: webhookUrl(values.url) };
    return (await printChecks(question, values.json, terminal, terminal.startWorkers())) ? 0 : 1;
  },
});

/** Resolves with whether nothing is wrong. */
async function printChecks(
  question: Question,
  json: boolean,
  terminal: Terminal,
  workers: ReviewWorkers,
): Promise<boolean> {
  const { groups, close } = examine(readConfiguration(terminal.env), question, workers);
  const findings: Finding[] = [];
  for (const group of groups) {
    const found = await group;
    findings.push(...found);
    if (!json) {
      terminal.stdout.write(found.map((finding) => line(finding, hasColours(terminal))).join(''));
    }
  }
  const isWell = findings.every(({ result }) => result !== 'wrong');
  if (json) {
    terminal.stdout.write(`${JSON.stringify({ ok: isWell, checks: findings }, null, 2)}\n`);
  }
  await withTimeout(CLOSE_LIMIT_MS, close(), () => {});
  return isWell;
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
