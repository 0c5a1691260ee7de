import { access, constants, lstat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { ConfigurationError } from '../../config/config.ts';
import type { SetupOptions } from './options.ts';

/** Only the owner may read or write what has secrets in it. */
const MODE = 0o600;
const SECRET_NAME = 'gatehouse-credentials';

/** What Gatehouse is configured by: names of environment variables to values. */
export type Settings = Readonly<Record<string, string | undefined>>;

/** Paths to what is written there. */
type Files = Readonly<Record<string, string>>;

type Place = Pick<SetupOptions, 'folder' | 'kubernetes' | 'namespace' | 'webhookUrl'>;

/** The files that setup leaves behind. Throws where they cannot hold the settings. */
export function filesOf({ folder, kubernetes, namespace, webhookUrl }: Place, settings: Settings): Files {
  return kubernetes
    ? {
        [join(folder, 'gatehouse-secret.yaml')]: secretManifest(settings, namespace),
        [join(folder, 'gatehouse-values.yaml')]: valuesOf(settings, ingressHost(webhookUrl)),
      }
    : envFiles(folder, settings);
}

/** A `.env` for `node --env-file` and `docker run --env-file`, and beside it the private key of an App. */
function envFiles(folder: string, { GITHUB_APP_PRIVATE_KEY: key, ...others }: Settings): Files {
  const keyPath = join(folder, 'gatehouse.private-key.pem');
  const settings: Settings = { ...others, GITHUB_APP_PRIVATE_KEY_FILE: key === undefined ? undefined : keyPath };
  const lines = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${plain(name, value)}\n`],
  );
  return {
    ...(key === undefined ? {} : { [keyPath]: `${key.trimEnd()}\n` }),
    [join(folder, '.env')]: `# Written by gatehouse setup. Not a shell script: nothing is quoted.\n${lines.join('')}`,
  };
}

/** The readers of such files differ in what they make of quotes and `#`. */
function plain(name: string, value: string): string {
  if (!/^[\x21-\x7e]*$/.test(value) || /["'`#\\$]/.test(value)) {
    throw new ConfigurationError(`${name} contains a space, a quote or one of # \\ $: in a URL, percent-encode it`);
  }
  return value;
}

function secretManifest(settings: Settings, namespace: string): string {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET_NAME, namespace },
    type: 'Opaque',
    stringData: {
      'webhook-secret': settings['WEBHOOK_SECRET'],
      'forge-token': settings['FORGE_TOKEN'],
      'github-app-private-key': settings['GITHUB_APP_PRIVATE_KEY'],
      'database-url': settings['DATABASE_URL'],
      'redis-url': settings['REDIS_URL'],
    },
  };
  return `# Written by gatehouse setup. Keep it out of version control.\n${stringify(secret)}`;
}

/** Undefined of an address, of a name inside the cluster, and of a path that the chart's Ingress does not route. */
export function ingressHost(webhookUrl: string): string | undefined {
  const { hostname, pathname } = new URL(webhookUrl);
  const host = hostname.replace(/\.$/, '');
  const isAddress = isIP(host.replace(/^\[|\]$/g, '')) !== 0;
  const isOutside = !isAddress && host.includes('.') && !/\.svc(?:\.|$)/.test(host);
  return isOutside && pathname === '/webhook' ? host : undefined;
}

function valuesOf(settings: Settings, host: string | undefined): string {
  const secretWith = (name: string) => (settings[name] === undefined ? undefined : { existingSecret: SECRET_NAME });
  const appId = settings['GITHUB_APP_ID'];
  const values = {
    config: { forge: settings['FORGE'], forgeUrl: settings['FORGE_URL'], statusContext: settings['STATUS_CONTEXT'] },
    webhookSecret: secretWith('WEBHOOK_SECRET'),
    forgeToken: secretWith('FORGE_TOKEN'),
    githubApp: appId === undefined ? undefined : { appId, existingSecret: SECRET_NAME },
    database: secretWith('DATABASE_URL'),
    redis: secretWith('REDIS_URL'),
    bundled: settings['DATABASE_URL'] && { postgresql: { enabled: false }, redis: { enabled: false } },
    ingress: host && { enabled: true, hosts: [host] },
  };
  return `# Written by gatehouse setup: values of the chart, without secrets. Add what your cluster needs, such as
# image: { repository: registry.example.com/gatehouse }, and the class and the TLS of the Ingress
${stringify(values)}`;
}

/** Throws where one exists, even as a link, or its folder cannot be written: asked before the forge is. */
export async function checkFiles(files: Files): Promise<void> {
  for (const path of Object.keys(files)) {
    if ((await lstat(path).catch(() => undefined)) !== undefined) {
      throw new ConfigurationError(`${path} exists: move it, or choose another folder with --folder`);
    }
    const folder = dirname(path);
    await access(folder, constants.W_OK | constants.X_OK).catch((cause: unknown) => {
      throw new ConfigurationError(`cannot write to ${folder}; choose another folder with --folder`, { cause });
    });
  }
}

/** Fails where a file exists. They are on the disk when this returns: what they hold may be the only copy. */
export async function writeFiles(files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await writeFile(path, text, { flag: 'wx', mode: MODE, flush: true });
  }
}
