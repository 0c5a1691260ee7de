import { withTimeout } from '../../common/timeout.ts';
import { connectForge } from '../../composition/forge.ts';
import { parseConfig, parseDatabaseConfig, parseForgeConfig, parseRedisUrl } from '../../config/config.ts';
import type { Environment } from '../../config/environment.ts';
import { makePool } from '../../db/pool.ts';
import { makeLog } from '../../log.ts';
import { visible } from '../../review/text.ts';
import { defineCommand } from '../command.ts';
import { UsageError } from '../failures.ts';
import { webhookUrlOf } from '../options.ts';
import { hasColours, type Terminal } from '../terminal.ts';
import { type Check, type Context, ok, type Result, runCheck, wrong } from './check.ts';
import { FORGE_CHECKS, REQUIRED_STATUS, SCOPES } from './forge.ts';
import { POLICY_CHECKS } from './policy.ts';
import { STORE_CHECKS } from './stores.ts';
import { WEBHOOK_CHECKS } from './webhook.ts';

export const doctor = defineCommand({
  name: 'doctor',
  usage: ['[owner/repository] [--url <webhook URL>] [--json]'],
  text: `Checks an installation: configuration, database, Redis, forge and credentials. With a repository, it also checks
the policy, its teams, the status required on the default branch, and the webhook. It changes nothing, and never prints
secrets.

Each line is one check: ✔ right; ✘ wrong, with what to do; ? unknown or skipped, with the reason. A check that takes
longer than 15 seconds is wrong, and the others continue.`,
  options: {
    url: {
      type: 'string',
      value: 'webhook URL',
      help: "the webhook's URL; without it, any URL that ends in /webhook counts as Gatehouse's",
    },
    json: {
      type: 'boolean',
      default: false,
      help: 'print one JSON object: ok, and the checks, each with check, result (ok, wrong, unknown, skipped), message, action',
    },
  },
  positionals: { most: 1, expected: 'at most one repository' },
  settings: "the same as the service. Run it where the worker runs: only the worker has the forge's credentials.",
  exitCodes: { 0: 'nothing is wrong, but something may be unknown', 1: 'something is wrong' },
  mayHang: true,
  async run({ values, positionals: [asked] }, terminal) {
    const question = { asked: repositoryName(asked), webhookUrl: webhookUrl(values.url) };
    const context = { ...question, ...readConfiguration(terminal.env), workers: terminal.startWorkers() };
    const isWell = await printChecks(context, values.json, terminal);
    const closing = Promise.all([context.site?.forge.close(), context.workers.close(), context.pool?.end()]);
    // What hangs is left behind: the process ends anyway.
    await withTimeout<unknown>(2_000, closing, () => {});
    return isWell ? 0 : 1;
  },
});

/** In the chart a door and a worker have different parts of the configuration, each without the other's secrets. */
function readConfiguration(env: Environment): Omit<Context, 'asked' | 'webhookUrl' | 'workers'> {
  const has = (name: string) => Boolean(env[name] || env[`${name}_FILE`]);
  const isDoor = has('WEBHOOK_SECRET');
  const isWorker = ['FORGE_TOKEN', 'GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY'].some(has);
  const is = { door: isDoor || !isWorker, worker: isWorker || !isDoor };
  const all = parseConfig(env, is);
  const database = parseDatabaseConfig({ ...env, LOG_LEVEL: undefined, LOG_LEVEL_FILE: undefined });
  const redis = parseRedisUrl(env);
  const forge = parseForgeConfig(env);
  const valid = `valid for ${isDoor === isWorker ? 'the door and the worker' : isDoor ? 'the door' : 'the worker'}`;
  return {
    configuration: all.ok ? [ok(valid)] : all.faults.map((fault) => wrong(fault, 'correct the variable')),
    databaseUrl: database.ok ? database.config.databaseUrl : undefined,
    pool: database.ok ? makePool(database.config.databaseUrl, makeLog('silent')) : undefined,
    redisUrl: redis.ok ? redis.config : undefined,
    site: is.worker && forge.ok ? { forge: connectForge(forge.config), settings: forge.config } : undefined,
    lacks: is.worker ? 'the configuration has faults' : 'no credentials here: run it where a worker runs',
    ...{ extras: [], eventsFor: [], hooks: [] },
  };
}

/** Each comes after those that it needs something of. */
const CHECKS: readonly Check[] = [
  { title: 'configuration', run: async ({ configuration }) => configuration },
  ...STORE_CHECKS,
  ...FORGE_CHECKS,
];
const CHECKS_OF_REPOSITORY = [...POLICY_CHECKS, REQUIRED_STATUS, ...WEBHOOK_CHECKS];

/** Resolves with whether nothing is wrong. */
async function printChecks(context: Context, json: boolean, terminal: Terminal): Promise<boolean> {
  const findings: (Result & { readonly check: string })[] = [];
  for (const check of [...CHECKS, ...(context.asked === undefined ? [] : CHECKS_OF_REPOSITORY), SCOPES]) {
    for (const result of await runCheck(check, context)) {
      findings.push({ check: check.title, ...result });
      if (!json) {
        terminal.stdout.write(line(check.title, result, hasColours(terminal)));
      }
    }
  }
  const isWell = findings.every(({ result }) => result !== 'wrong');
  if (json) {
    terminal.stdout.write(`${JSON.stringify({ ok: isWell, checks: findings }, null, 2)}\n`);
  }
  return isWell;
}

function repositoryName(text: string | undefined): string | undefined {
  if (text !== undefined && !/^(?!\.{1,2}\/)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/.test(text)) {
    throw new UsageError('expected a repository as owner/repository');
  }
  return text;
}

function webhookUrl(text: string | undefined): string | undefined {
  const url = text === undefined ? undefined : URL.parse(text);
  if (url === null || (url && !/^https?:$/.test(url.protocol))) {
    throw new UsageError('--url must be the door’s URL, such as https://gatehouse.example.com/webhook');
  }
  return url && webhookUrlOf(url);
}

const MARKS = { ok: '✔', wrong: '✘', unknown: '?', skipped: '?' } as const;
const COLOURS = { ok: 32, wrong: 31, unknown: 33, skipped: 33 } as const;

/** Names of branches, teams and files are anybody's, and so are the forge's words. */
function line(title: string, { result, message, action }: Result, colours: boolean): string {
  const mark = colours ? `\u001b[${COLOURS[result]}m${MARKS[result]}\u001b[0m` : MARKS[result];
  const todo = action === undefined ? '' : ` → ${action}`;
  return `${mark} ${title.padEnd('database schema'.length)}  ${visible(`${message}${todo}`)}\n`;
}
