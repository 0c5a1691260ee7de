import { parseConfig } from '../../config/config.ts';
import { FORGES, type ForgeName } from '../../forges/port/forges.ts';
import { connectForSetup } from '../../forges/setup/connection.ts';
import { defineCommand, WRONG_CONFIGURATION } from '../command.ts';
import { configured } from '../failures.ts';
import type { Terminal } from '../terminal.ts';
import type { ForgeResult, SetupContext } from './context.ts';
import { checkFiles, filesOf, writeFiles } from './files.ts';
import { setUpGitea } from './gitea.ts';
import { setUpGitHub } from './github.ts';
import { nextSteps } from './next.ts';
import { readOptions, SETUP_OPTIONS, type SetupOptions } from './options.ts';

const TEXT = `Connects Gatehouse to a forge, and writes its settings.
  GitHub           registers an App: serves a page for your browser on 127.0.0.1, for at most 10 minutes
  Gitea, Forgejo   checks the token of Gatehouse's account, and creates the webhook. It replaces one to the same URL
It never overwrites a file: if one exists, it stops before it changes anything at the forge.`;

const NOTES = `Variables, each also as NAME_FILE, a path to read it from:
  FORGE_TOKEN   Gitea, Forgejo: the token that Gatehouse runs with
  SETUP_TOKEN   Gitea, Forgejo: a token to create the webhook, if FORGE_TOKEN can't. Used once and not stored
  WEBHOOK_SECRET   Gitea, Forgejo: the secret of webhooks to keep; otherwise setup generates one
  DATABASE_URL, REDIS_URL, STATUS_CONTEXT   written unchanged. Without the first two, the settings are for a trial

Setup writes secrets to files that only you can read, and never prints them.`;

/** Stands in for what is not known yet, so that everything else is checked before the forge is asked. */
const TO_COME = {
  DATABASE_URL: 'postgres://trial/trial',
  REDIS_URL: 'redis://trial',
  FORGE_TOKEN: 'to-come',
  WEBHOOK_SECRET: 'to-come-from-the-forge',
};

const SET_UP: Readonly<Record<ForgeName, (context: SetupContext) => Promise<ForgeResult>>> = {
  github: setUpGitHub,
  gitea: (context) => setUpGitea(context, 'gitea'),
  forgejo: (context) => setUpGitea(context, 'forgejo'),
};

export const setup = defineCommand({
  name: 'setup',
  usage: ['[options]'],
  text: TEXT,
  options: SETUP_OPTIONS,
  notes: NOTES,
  exitCodes: { 0: 'done', 1: 'failed', ...WRONG_CONFIGURATION },
  run: ({ values }, terminal) => runSetup(readOptions(values, terminal), terminal),
});

async function runSetup(options: SetupOptions, { stdout }: Terminal): Promise<0> {
  const { forge, forgeUrl } = options;
  // By the rules of the program itself, and whether the files can be written.
  const expected = { ...TO_COME, ...options.settings };
  const config = configured(parseConfig(expected, { door: true, worker: true }));
  const key = FORGES[forge].apps ? { GITHUB_APP_PRIVATE_KEY: '' } : {};
  await checkFiles(filesOf(options, { ...expected, ...key }));

  const say = (line: string) => void stdout.write(`${line}\n`);
  const connection = connectForSetup(forge, forgeUrl);
  try {
    const result = await SET_UP[forge]({ options, connection, say });
    const files = filesOf(options, { ...options.settings, ...result.settings });
    await writeFiles(files);
    say(`✔ Written, readable only by you: ${Object.keys(files).join(', ')}`);
    await result.afterWriting?.();
    say(nextSteps(options, result, connection.apiUrl, config.statusContext));
    return 0;
  } finally {
    await connection.close();
  }
}
