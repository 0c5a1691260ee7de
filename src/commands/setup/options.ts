import { resolve } from 'node:path';
import type { parseArgs } from 'node:util';
import { z } from 'zod';
import { readText, readVariables } from '../../config/environment.ts';
import { secret, token } from '../../config/settings.ts';
import { FORGE_NAMES, FORGES, isForgeName } from '../../forges/port/forges.ts';
import { configured, UsageError } from '../failures.ts';
import { webhookUrlOf } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** Secrets are no options: those are seen by everybody on the machine. */
export const SETUP_OPTIONS = {
  forge: { type: 'string', value: 'name', help: `${FORGE_NAMES.join(', ')}; FORGE by default` },
  'forge-url': {
    type: 'string',
    value: 'url',
    help: 'where people open the forge; FORGE_URL or github.com by default',
  },
  url: { type: 'string', value: 'url', help: 'where the forge reaches Gatehouse; /webhook is added' },
  repository: {
    type: 'string',
    multiple: true,
    value: 'owner/name',
    help: 'a repository that gets the webhook; repeatable',
  },
  organisation: {
    type: 'string',
    value: 'name',
    help: 'an organisation that gets the webhook, or on GitHub owns the App',
  },
  kubernetes: { type: 'boolean', default: false, help: 'write a Secret and values for the chart, instead of .env' },
  namespace: {
    type: 'string',
    default: 'gatehouse',
    value: 'name',
    help: "the Secret's namespace; gatehouse by default",
  },
  folder: { type: 'string', default: '.', value: 'path', help: 'where to write; the current folder by default' },
} as const;

/** The values of {@link SETUP_OPTIONS}, as `node:util` parses them. */
type SetupValues = ReturnType<typeof parseArgs<{ options: typeof SETUP_OPTIONS }>>['values'];

/** No name may be a step through the path of a URL. */
const ORGANISATION = /^(?!\.)[\w.-]+$/;
const REPOSITORY = /^(?!\.)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/;

const text = z.string().optional();
const ACCESS = {
  FORGE: text,
  FORGE_URL: text,
  FORGE_TOKEN: token.optional(),
  SETUP_TOKEN: token.optional(),
  WEBHOOK_SECRET: secret.optional(),
};
const VARIABLES = { ...ACCESS, DATABASE_URL: text, REDIS_URL: text, STATUS_CONTEXT: text };

export type SetupOptions = ReturnType<typeof readOptions>;

export function readOptions(values: SetupValues, { env, folder }: Pick<Terminal, 'env' | 'folder'>) {
  const { FORGE, FORGE_URL, SETUP_TOKEN, ...given } = configured(readVariables(VARIABLES, env, readText));
  const { repository: repositories = [], organisation, kubernetes, namespace } = values;
  const forge = required('--forge', values.forge ?? FORGE);
  if (!isForgeName(forge)) {
    throw new UsageError(`--forge must be one of ${FORGE_NAMES.join(', ')}`);
  }
  const { defaultUrl } = FORGES[forge];
  const forgeUrl = urlOf('--forge-url', values['forge-url'] ?? FORGE_URL ?? defaultUrl).href.replace(/\/+$/, '');
  const url = urlOf('--url', values.url);
  if (!repositories.every((repository) => REPOSITORY.test(repository))) {
    throw new UsageError('--repository must be owner/name');
  }
  if (organisation !== undefined && !ORGANISATION.test(organisation)) {
    throw new UsageError('--organisation must be the name of an account');
  }
  if ((given.DATABASE_URL === undefined) !== (given.REDIS_URL === undefined)) {
    throw new UsageError('set both DATABASE_URL and REDIS_URL, or neither');
  }
  const settings = { FORGE: forge, FORGE_URL: forgeUrl === defaultUrl ? undefined : forgeUrl, ...given };
  return {
    ...{ forge, forgeUrl, repositories, organisation, kubernetes, namespace, settings },
    webhookUrl: webhookUrlOf(url),
    setupToken: SETUP_TOKEN,
    folder: resolve(folder, values.folder),
  };
}

export function required(name: string, value: string | undefined): string {
  if (value === undefined) {
    throw new UsageError(`${name} is missing`);
  }
  return value;
}

function urlOf(option: string, value: string | undefined): URL {
  const url = URL.parse(required(option, value));
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(`${option} must be a URL that starts with https:// or http://`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${option} must not have a password, a query or a fragment`);
  }
  return url;
}
