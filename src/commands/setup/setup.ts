import { resolve as resolvePath } from 'node:path';
import { ConfigurationError, parseConfig } from '../../config/config.ts';
import { FORGE_NAMES, FORGES, type ForgeName, isForgeName } from '../../forges/port/forges.ts';
import { connectForSetup } from '../../forges/setup/connection.ts';
import { defineCommand, WRONG_CONFIGURATION } from '../command.ts';
import { configured, UsageError } from '../failures.ts';
import type { Terminal } from '../terminal.ts';
import type { SetupContext } from './context.ts';
import { envOutput, kubernetesOutput, type Output, type Settings } from './files.ts';
import { FORGE_SETUPS } from './forges.ts';
import { nextSteps } from './next.ts';
import { readOptions, SETUP_OPTIONS, type SetupOptions, urlFault, webhookUrlOf } from './options.ts';
import type { StartTimer } from './page.ts';
import { protectBranch } from './protect.ts';
import { type Questions, questionsOn, resolve, UNATTENDED } from './questions.ts';

const TEXT = `Connects Gatehouse to a forge, and writes the settings that it runs with. In a terminal it asks for what is missing.
  GitHub           registers an App: serves a page for your browser on 127.0.0.1, for at most 10 minutes
  Gitea, Forgejo   checks the token of Gatehouse's account, and creates or repairs the webhook
Run it again whenever something may be wrong: it repairs what is wrong, changes nothing else and overwrites no file.`;

const NOTES = `Variables, each also as NAME_FILE, a path to read it from. In a terminal it asks for them, and does not echo them:
  FORGE_TOKEN     Gitea, Forgejo: the token that Gatehouse runs with
  SETUP_TOKEN     a token that may change the settings of the repository or organisation: for webhooks of Gitea and
                  Forgejo, and for --protect. It is used once and not stored
  WEBHOOK_SECRET  the secret of existing webhooks; otherwise one is generated
  DATABASE_URL, REDIS_URL, STATUS_CONTEXT   are written unchanged. Without the first two, the settings are for a trial

Secrets are written to files that only you may read, and never printed.`;

const ROLES = { door: true, worker: true };

export interface SetupDeps {
  readonly input?: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly startTimer?: StartTimer;
}

export const makeSetup = (deps: SetupDeps) =>
  defineCommand({
    name: 'setup',
    usage: ['[options]'],
    text: TEXT,
    options: SETUP_OPTIONS,
    notes: NOTES,
    exitCodes: { 0: 'done', 1: 'failed, or something must be done by hand', ...WRONG_CONFIGURATION },
    run: ({ values }, terminal) => runSetup(readOptions(values, terminal), terminal, deps),
  });

export const setup = makeSetup({ input: process.stdin });

async function runSetup(options: SetupOptions, terminal: Terminal, deps: SetupDeps): Promise<0 | 1> {
  const { input } = deps;
  const attended = !options.yes && input?.isTTY === true && terminal.stdout.isTTY === true;
  const questions = attended ? questionsOn(input, terminal.stdout) : UNATTENDED;
  const folder = resolvePath(terminal.folder, options.folder);
  const output = options.kubernetes ? kubernetesOutput(folder, options.namespace) : envOutput(folder);

  const existing = await output.read();
  const { forge, forgeUrl } = await chooseForge(options, questions, existing, output);
  const webhookUrl = webhookUrlOf(
    await resolve(questions, options.url, {
      text: `URL at which ${FORGES[forge].title} reaches Gatehouse, such as https://gatehouse.example.com`,
      option: '--url',
      fault: urlFault,
    }),
  );
  const initial = existing ?? (await newSettings(options, questions, forge, forgeUrl));
  await checkSettings(initial, options, output, existing !== undefined);

  const connection = connectForSetup(forge, forgeUrl);
  try {
    return await connectAndWrite(
      {
        ...{ options, forge, forgeUrl, webhookUrl, connection, questions, initial },
        isNew: existing === undefined,
        say: (line) => terminal.stdout.write(`${line}\n`),
        setupToken: askOnce(options, questions, forge),
        sshConnection: terminal.env['SSH_CONNECTION'],
        startTimer: deps.startTimer,
      },
      output,
      folder,
    );
  } finally {
    await connection.close();
  }
}

async function connectAndWrite(context: SetupContext, output: Output, folder: string): Promise<0 | 1> {
  const { initial, isNew, say } = context;
  const { setUp, requireStatus } = FORGE_SETUPS[context.forge];
  const { settings, byHand, afterWriting } = await setUp(context);
  const all = { ...initial, ...settings };
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

async function chooseForge(
  options: SetupOptions,
  questions: Questions,
  existing: Settings | undefined,
  output: Output,
) {
  const answer = await resolve(questions, existing?.['FORGE'] ?? options.forge, {
    text: `Forge: ${FORGE_NAMES.join(', ')}`,
    option: '--forge',
    fault: forgeFault,
  });
  const forge = forgeNamed(answer);
  const { title, defaultUrl } = FORGES[forge];
  const before = existing === undefined ? undefined : (existing['FORGE_URL'] ?? defaultUrl);
  const forgeUrl = await resolve(questions, before ?? options.forgeUrl, {
    text: `URL of ${title}, as people open it`,
    option: '--forge-url',
    ...(defaultUrl === undefined ? {} : { fallback: defaultUrl }),
    fault: urlFault,
  });
  const differs = (options.forge ?? forge) !== forge || (options.forgeUrl ?? forgeUrl) !== forgeUrl;
  if (existing !== undefined && differs) {
    const what = `${output.paths[0]} is for ${forge} at ${forgeUrl}`;
    throw new UsageError(`${what}: choose another folder with --folder, or move the file`);
  }
  return { forge, forgeUrl: forgeUrl.replace(/\/+$/, '') };
}

function forgeFault(name: string): string | undefined {
  return isForgeName(name) ? undefined : `it must be one of ${FORGE_NAMES.join(', ')}`;
}

function forgeNamed(name: string): ForgeName {
  if (!isForgeName(name)) {
    throw new UsageError(`--forge: ${forgeFault(name)}`);
  }
  return name;
}

async function newSettings(
  options: SetupOptions,
  questions: Questions,
  forge: ForgeName,
  forgeUrl: string,
): Promise<Settings> {
  const { DATABASE_URL, REDIS_URL, STATUS_CONTEXT } = options.variables;
  const none = options.kubernetes ? 'that of the chart, for a trial' : 'none yet, for a trial';
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

/**
 * By the rules of the program itself. What is still to come from the forge, and the stores of a trial, are filled in.
 */
async function checkSettings(
  initial: Settings,
  { variables }: SetupOptions,
  output: Output,
  exist: boolean,
): Promise<void> {
  const stores = { DATABASE_URL: 'postgres://trial/trial', REDIS_URL: 'redis://trial' };
  if (exist) {
    const parsed = parseConfig({ ...stores, ...initial }, ROLES);
    if (!parsed.ok) {
      const faults = parsed.faults.map((fault) => `\n  ${fault}`).join('');
      throw new ConfigurationError(`${output.paths[0]} exists and is incomplete:${faults}`);
    }
    return;
  }
  const { FORGE_TOKEN = 'to-come', WEBHOOK_SECRET = 'to-come-from-the-forge' } = variables;
  const settings = { ...initial, FORGE_TOKEN, WEBHOOK_SECRET };
  configured(parseConfig({ ...stores, ...settings }, ROLES));
  await output.check(settings);
}

function askOnce({ variables }: SetupOptions, questions: Questions, forge: ForgeName): () => Promise<string> {
  let token: Promise<string> | undefined;
  return () => {
    token ??= resolve(questions, variables.SETUP_TOKEN, {
      text: `Token of somebody who may change the settings (${FORGES[forge].setupTokenNeeds}); it is used once and not stored`,
      option: 'SETUP_TOKEN or SETUP_TOKEN_FILE',
      hidden: true,
    });
    return token;
  };
}
