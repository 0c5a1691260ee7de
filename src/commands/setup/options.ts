import type { parseArgs } from 'node:util';
import { z } from 'zod';
import { readText, readVariables } from '../../config/environment.ts';
import { FORGE_NAMES, type ForgeName, isForgeName } from '../../forges/port/forges.ts';
import type { HookOwner } from '../../forges/setup/gitea-webhook.ts';
import { configured, UsageError } from '../failures.ts';
import type { Terminal } from '../terminal.ts';

/** What options and variables say. Secrets are never options: those are seen by everybody on the machine. */
export interface SetupOptions {
  readonly yes: boolean;
  readonly forge: ForgeName | undefined;
  readonly forgeUrl: string | undefined;
  readonly url: string | undefined;
  readonly repositories: readonly string[];
  readonly organisation: string | undefined;
  readonly protect: string | undefined;
  readonly kubernetes: boolean;
  readonly namespace: string;
  readonly folder: string;
  readonly setSecret: boolean;
  readonly replacedUrl: string | undefined;
  readonly variables: {
    readonly FORGE_TOKEN?: string | undefined;
    readonly SETUP_TOKEN?: string | undefined;
    readonly WEBHOOK_SECRET?: string | undefined;
    readonly DATABASE_URL?: string | undefined;
    readonly REDIS_URL?: string | undefined;
    readonly STATUS_CONTEXT?: string | undefined;
  };
}

export const SETUP_OPTIONS = {
  forge: { type: 'string', value: 'name', help: `${FORGE_NAMES.join(', ')}; FORGE by default` },
  'forge-url': {
    type: 'string',
    value: 'url',
    help: 'where people open the forge; FORGE_URL by default, or https://github.com for GitHub',
  },
  url: {
    type: 'string',
    value: 'url',
    help: 'where the forge reaches Gatehouse, such as https://gatehouse.example.com; /webhook is added',
  },
  repository: {
    type: 'string',
    multiple: true,
    value: 'owner/name',
    help: 'Gitea, Forgejo: the repository that gets the webhook; may be repeated. See --protect',
  },
  organisation: {
    type: 'string',
    value: 'name',
    help: 'Gitea, Forgejo: the organisation that gets the webhook. GitHub: the one that owns the App',
  },
  kubernetes: {
    type: 'boolean',
    default: false,
    help: 'write gatehouse-secret.yaml and gatehouse-values.yaml for the chart, instead of .env',
  },
  namespace: {
    type: 'string',
    default: 'gatehouse',
    value: 'name',
    help: 'the namespace of the Secret; gatehouse by default',
  },
  folder: {
    type: 'string',
    default: '.',
    value: 'path',
    help: 'where to write the files; the current folder by default',
  },
  protect: {
    type: 'string',
    value: 'branch',
    help: "require Gatehouse's commit status on this branch of each --repository. Nothing else of the protection is changed or removed. Without this option no protection is changed",
  },
  'set-secret': {
    type: 'boolean',
    default: false,
    help: 'also replace the secret of existing webhooks, because their current one cannot be read',
  },
  'replace-url': {
    type: 'string',
    value: 'url',
    help: 'Gitea, Forgejo: change the webhook that has this URL to the new one',
  },
  yes: { type: 'boolean', default: false, help: 'ask no questions: a missing value is an error' },
} as const;

/** The values of {@link SETUP_OPTIONS}, as `node:util` parses them. */
type SetupValues = ReturnType<typeof parseArgs<{ options: typeof SETUP_OPTIONS }>>['values'];

const text = z.string().optional();
const variables = {
  FORGE: text,
  FORGE_URL: text,
  FORGE_TOKEN: text,
  SETUP_TOKEN: text,
  WEBHOOK_SECRET: text,
  DATABASE_URL: text,
  REDIS_URL: text,
  STATUS_CONTEXT: text,
};

/** RFC 1123, as Kubernetes has it for namespaces. */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export function readOptions(values: SetupValues, { env }: Pick<Terminal, 'env'>): SetupOptions {
  const { FORGE, FORGE_URL, ...secrets } = configured(readVariables(variables, env, readText));
  const forge = values.forge ?? FORGE;
  if (forge !== undefined && !isForgeName(forge)) {
    throw new UsageError(`--forge must be one of ${FORGE_NAMES.join(', ')}`);
  }
  const { repository: repositories = [], organisation, protect, namespace } = values;
  for (const repository of repositories) {
    requireNoFault('--repository', repositoryFault(repository));
  }
  requireNoFault('--organisation', organisation === undefined ? undefined : nameFault(organisation));
  if (protect !== undefined && (repositories.length === 0 || protect === '')) {
    throw new UsageError('--protect needs a branch, and at least one --repository');
  }
  if (!NAMESPACE.test(namespace)) {
    throw new UsageError('--namespace must be the name of a namespace: lower-case letters, digits and hyphens');
  }
  return {
    yes: values.yes,
    forge,
    forgeUrl: values['forge-url'] ?? FORGE_URL,
    url: values.url,
    repositories,
    organisation,
    protect,
    kubernetes: values.kubernetes,
    namespace,
    folder: values.folder,
    setSecret: values['set-secret'],
    replacedUrl: values['replace-url'],
    variables: secrets,
  };
}

function requireNoFault(option: string, fault: string | undefined): void {
  if (fault !== undefined) {
    throw new UsageError(`${option}: ${fault}`);
  }
}

/** In the characters that the forges allow in the name of an account or a repository. */
const NAME = /^(?!\.{1,2}$)[\w.-]{1,100}$/;

export function nameFault(name: string): string | undefined {
  return NAME.test(name) ? undefined : 'it must be the name of an account';
}

function repositoryFault(repository: string): string | undefined {
  const names = repository.split('/');
  return names.length === 2 && names.every((name) => NAME.test(name)) ? undefined : 'it must be owner/name';
}

/** Whose webhooks will be set up: `owner/name`, or the name of an organisation, several with commas. */
export function ownersOf(answer: string): readonly HookOwner[] {
  const names = answer.split(',').map((name) => name.trim());
  return names.map((name) =>
    name.includes('/') ? { kind: 'repository', repository: name } : { kind: 'organisation', organisation: name },
  );
}

export function ownersFault(answer: string): string | undefined {
  return ownersOf(answer)
    .map((owner) => (owner.kind === 'repository' ? repositoryFault(owner.repository) : nameFault(owner.organisation)))
    .find((fault) => fault !== undefined);
}

/** The address of Gatehouse as the forge reaches it. */
export function urlFault(answer: string): string | undefined {
  const url = URL.parse(answer);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    return 'it must be a URL that begins with https:// or http://';
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return 'it must not have a password, a query or a fragment';
  }
  return undefined;
}

/** With the path that Gatehouse answers, unless there is one: a proxy may have another. */
export function webhookUrlOf(answer: string): string {
  const url = new URL(answer);
  return url.pathname === '/' ? `${url.origin}/webhook` : url.href;
}
