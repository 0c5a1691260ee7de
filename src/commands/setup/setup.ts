import { resolve as resolvePath } from 'node:path';
import { ConfigurationError, parseConfig } from '../../config/config.ts';
import { FORGE_NAMES, FORGES, type ForgeName, isForgeName } from '../../forges/port/forges.ts';
import { connectForSetup } from '../../forges/setup/connection.ts';
import { configured, UsageError } from '../failures.ts';
import type { Terminal } from '../terminal.ts';
import type { SetupContext } from './context.ts';
import { envOutput, kubernetesOutput, type Output, type Settings } from './files.ts';
import { FORGE_SETUPS } from './forges.ts';
import { type Given, readGiven, urlFault, webhookUrlOf } from './given.ts';
import { nextSteps } from './next.ts';
import type { StartTimer } from './page.ts';
import { protectBranch } from './protect.ts';
import { type Questions, questionsOn, resolve, UNATTENDED } from './questions.ts';

const HELP = `Usage: gatehouse setup [options]

Connects Gatehouse to a forge, and writes the settings that it runs with. In a terminal it asks for what is missing.
  GitHub           registers an App, with a page for your browser on 127.0.0.1 that is there for 10 minutes
  Gitea, Forgejo   checks the token of Gatehouse's account, and creates or repairs the webhook
Run it again whenever something may be wrong: it changes nothing that is right, and overwrites no file.

Options:
  --forge <name>               github, gitea or forgejo; by default FORGE
  --forge-url <url>            where people open the forge; by default FORGE_URL, for GitHub https://github.com
  --url <url>                  where the forge reaches Gatehouse, such as https://gatehouse.example.com; /webhook is added
  --repository <owner/name>    Gitea, Forgejo: the repository that gets the webhook; may be repeated. See --protect
  --organisation <name>        Gitea, Forgejo: the organisation that gets the webhook. GitHub: the one that owns the App
  --kubernetes                 write gatehouse-secret.yaml and gatehouse-values.yaml for the chart, instead of .env
  --namespace <name>           of the Secret; by default gatehouse
  --folder <path>              where to write; by default here
  --protect <branch>           require Gatehouse's commit status on this branch of each --repository. Nothing else of
                               the protection is changed or removed. Without this option none is touched
  --set-secret                 give the secret to webhooks that exist already, too; the forge shows it to nobody
  --replace-url <url>          Gitea, Forgejo: the webhook with this URL gets the new one
  --yes                        ask nothing: what is missing is an error
  --help                       print this

Variables, each also as NAME_FILE, a path to read it from. In a terminal they are asked for, and not shown:
  FORGE_TOKEN     Gitea, Forgejo: the token that Gatehouse runs with
  SETUP_TOKEN     the token of somebody who may change the settings of the repository or organisation: for webhooks
                  of Gitea and Forgejo, and for --protect. It is used now, and not kept
  WEBHOOK_SECRET  the secret of webhooks that exist already; otherwise one is made
  DATABASE_URL, REDIS_URL, STATUS_CONTEXT   are written as they are. Without the first two, the next step is for a trial

Secrets are written to files that only you may read, and never printed.
Exit codes: 0 done; 1 failed, or something is left to do by hand; 64 wrong usage; 78 wrong configuration.
`;

const ROLES = { door: true, worker: true };

export interface SetupParts {
  readonly input?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly startTimer?: StartTimer;
}

export async function setup(args: readonly string[], terminal: Terminal, parts: SetupParts = {}): Promise<number> {
  const given = readGiven(args, terminal);
  if (given.help) {
    terminal.stdout.write(HELP);
    return 0;
  }
  const { input } = parts;
  const attended = !given.yes && input?.isTTY === true && terminal.stdout.isTTY === true;
  const questions = attended ? questionsOn(input, terminal.stdout) : UNATTENDED;
  // npm runs its scripts in its own folder, and says in INIT_CWD where it was called from.
  const folder = resolvePath(terminal.env['INIT_CWD'] ?? '.', given.folder);
  const output = given.kubernetes ? kubernetesOutput(folder, given.namespace) : envOutput(folder);

  const existing = await output.read();
  const { forge, forgeUrl } = await chooseForge(given, questions, existing, output);
  const webhookUrl = webhookUrlOf(
    await resolve(questions, given.url, {
      text: `Where ${FORGES[forge].title} reaches Gatehouse, such as https://gatehouse.example.com`,
      option: '--url',
      fault: urlFault,
    }),
  );
  const known = existing ?? (await newSettings(given, questions, forge, forgeUrl));
  await checkSettings(known, given, output, existing !== undefined);

  const connection = connectForSetup(forge, forgeUrl);
  try {
    return await connectAndWrite(
      {
        ...{ given, forge, forgeUrl, webhookUrl, connection, questions, known },
        isNew: existing === undefined,
        say: (line) => terminal.stdout.write(`${line}\n`),
        setupToken: askOnce(given, questions, forge),
        sshConnection: terminal.env['SSH_CONNECTION'],
        startTimer: parts.startTimer,
      },
      output,
      folder,
    );
  } finally {
    await connection.close();
  }
}

async function connectAndWrite(context: SetupContext, output: Output, folder: string): Promise<number> {
  const { known, isNew, say } = context;
  const { setUp, requireStatus } = FORGE_SETUPS[context.forge];
  const { settings, byHand, afterWriting } = await setUp(context);
  const all = { ...known, ...settings };
  if (isNew) {
    for (const path of await output.write(all, context.webhookUrl)) {
      say(`✔ ${path} was written. Only you may read it.`);
    }
    await afterWriting?.();
  } else {
    say(`✔ Not changed: ${output.paths.join(', ')}`);
  }
  const left = [...byHand, ...(await protectBranch(context, all, requireStatus))];
  say(nextSteps(context, folder, left));
  return left.some(({ fault }) => fault) ? 1 : 0;
}

async function chooseForge(given: Given, questions: Questions, existing: Settings | undefined, output: Output) {
  const answer = await resolve(questions, existing?.['FORGE'] ?? given.forge, {
    text: `Forge: ${FORGE_NAMES.join(', ')}`,
    option: '--forge',
    fault: forgeFault,
  });
  const forge = forgeNamed(answer);
  const { title, defaultUrl } = FORGES[forge];
  const before = existing === undefined ? undefined : (existing['FORGE_URL'] ?? defaultUrl);
  const forgeUrl = await resolve(questions, before ?? given.forgeUrl, {
    text: `URL of ${title}, as people open it`,
    option: '--forge-url',
    ...(defaultUrl === undefined ? {} : { fallback: defaultUrl }),
    fault: urlFault,
  });
  const differs = (given.forge ?? forge) !== forge || (given.forgeUrl ?? forgeUrl) !== forgeUrl;
  if (existing !== undefined && differs) {
    const what = `${output.paths[0]} is for ${forge} at ${forgeUrl}`;
    throw new UsageError(`${what}: choose another folder with --folder, or move it away`);
  }
  return { forge, forgeUrl: forgeUrl.replace(/\/+$/, '') };
}

function forgeFault(name: string): string | undefined {
  return isForgeName(name) ? undefined : `it is one of ${FORGE_NAMES.join(', ')}`;
}

function forgeNamed(name: string): ForgeName {
  if (!isForgeName(name)) {
    throw new UsageError(`--forge: ${forgeFault(name)}`);
  }
  return name;
}

async function newSettings(given: Given, questions: Questions, forge: ForgeName, forgeUrl: string): Promise<Settings> {
  const { DATABASE_URL, REDIS_URL, STATUS_CONTEXT } = given.variables;
  const none = given.kubernetes ? 'the one that comes with the chart, for a trial' : 'none yet, for a trial';
  const ask = (name: string, of: string, value: string | undefined) =>
    resolve(questions, value, { text: `URL of ${of} (Enter: ${none})`, option: name, hidden: true, fallback: '' });
  const databaseUrl = await ask('DATABASE_URL', 'PostgreSQL, postgres://user:password@host/name', DATABASE_URL);
  const redisUrl =
    databaseUrl === '' ? (REDIS_URL ?? '') : await ask('REDIS_URL', 'Redis, redis://host:6379', REDIS_URL);
  if ((databaseUrl === '') !== (redisUrl === '')) {
    throw new UsageError('DATABASE_URL and REDIS_URL belong together: set both, or neither');
  }
  return {
    FORGE: forge,
    ...(forgeUrl === FORGES[forge].defaultUrl ? {} : { FORGE_URL: forgeUrl }),
    ...(databaseUrl === '' ? {} : { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl }),
    ...(STATUS_CONTEXT === undefined ? {} : { STATUS_CONTEXT }),
  };
}

/** By the rules of the program itself. What is still to come from the forge, and the stores of a trial, are filled in. */
async function checkSettings(known: Settings, { variables }: Given, output: Output, exist: boolean): Promise<void> {
  const stores = { DATABASE_URL: 'postgres://trial/trial', REDIS_URL: 'redis://trial' };
  if (exist) {
    const parsed = parseConfig({ ...stores, ...known }, ROLES);
    if (!parsed.ok) {
      const faults = parsed.faults.map((fault) => `\n  ${fault}`).join('');
      throw new ConfigurationError(`${output.paths[0]} exists, and is not complete:${faults}`);
    }
    return;
  }
  const { FORGE_TOKEN = 'to-come', WEBHOOK_SECRET = 'to-come-from-the-forge' } = variables;
  const settings = { ...known, FORGE_TOKEN, WEBHOOK_SECRET };
  configured(parseConfig({ ...stores, ...settings }, ROLES));
  await output.check(settings);
}

function askOnce({ variables }: Given, questions: Questions, forge: ForgeName): () => Promise<string> {
  let token: Promise<string> | undefined;
  return () => {
    token ??= resolve(questions, variables.SETUP_TOKEN, {
      text: `Token of somebody who may change the settings (${FORGES[forge].setupTokenNeeds}); it is used now, and not kept`,
      option: 'SETUP_TOKEN or SETUP_TOKEN_FILE',
      hidden: true,
    });
    return token;
  };
}
