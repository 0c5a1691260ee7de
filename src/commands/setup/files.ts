import { access, constants, open, readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { ConfigurationError } from '../../config/config.ts';

/** Only the owner may read or write what has secrets in it. */
const MODE = 0o600;
const SECRET_NAME = 'gatehouse-credentials';

/** What Gatehouse is configured by: names of environment variables to values. */
export type Settings = Readonly<Record<string, string>>;

/** The files that setup leaves behind. Those that exist already are read, and never written. */
export interface Output {
  readonly paths: readonly string[];
  /** Undefined where there are none yet. Throws where they cannot be what setup wrote. */
  read(): Promise<Settings | undefined>;
  /** Throws where these could not be written: asked before anything is changed at the forge. */
  check(settings: Settings): Promise<void>;
  /** `webhookUrl`: where the forge sends its webhooks. Returns the paths written. */
  write(settings: Settings, webhookUrl: string): Promise<readonly string[]>;
}

/** A `.env` for `node --env-file` and `docker run --env-file`, and beside it the private key of an App. */
export function envOutput(folder: string): Output {
  const path = join(folder, '.env');
  return {
    paths: [path],
    async read() {
      const text = await readIfThere(path);
      if (text === undefined) {
        return undefined;
      }
      const found: Record<string, string> = {};
      for (const [name, value] of Object.entries(parseEnv(text))) {
        if (value !== undefined && value !== '') {
          found[name.replace(/_FILE$/, '')] = name.endsWith('_FILE')
            ? (await readFile(value, 'utf8')).trimEnd()
            : value;
        }
      }
      return requireSecret(path, found);
    },
    async check(settings) {
      const { GITHUB_APP_PRIVATE_KEY: _, ...others } = settings;
      for (const [name, value] of Object.entries({ ...others, '--folder': folder })) {
        plain(name, value);
      }
      await checkFolder(folder);
    },
    async write(settings) {
      const { GITHUB_APP_PRIVATE_KEY: key, ...others } = settings;
      const lines = Object.entries(others).map(([name, value]) => `${name}=${plain(name, value)}`);
      const written: string[] = [];
      if (key !== undefined) {
        const keyPath = join(folder, `gatehouse-${settings['GITHUB_APP_ID']}.private-key.pem`);
        await writeNew(keyPath, `${key.trimEnd()}\n`);
        written.push(keyPath);
        lines.push(`GITHUB_APP_PRIVATE_KEY_FILE=${plain('--folder', keyPath)}`);
      }
      await writeNew(
        path,
        `# Written by gatehouse setup. Not a shell script: nothing is quoted.\n${lines.join('\n')}\n`,
      );
      return [...written, path];
    },
  };
}

/** The entries of the Secret, by variable. */
const ENTRIES: Readonly<Record<string, string>> = {
  WEBHOOK_SECRET: 'webhook-secret',
  FORGE_TOKEN: 'forge-token',
  GITHUB_APP_PRIVATE_KEY: 'github-app-private-key',
  DATABASE_URL: 'database-url',
  REDIS_URL: 'redis-url',
};

const secretFile = z.object({ stringData: z.record(z.string(), z.string()) });
const valuesFile = z.object({
  config: z.object({ forge: z.string(), forgeUrl: z.string().optional(), statusContext: z.string().optional() }),
  githubApp: z.object({ appId: z.string() }).optional(),
});

/** A Secret, in its namespace, and a values file for the chart. */
export function kubernetesOutput(folder: string, namespace: string): Output {
  const secretPath = join(folder, 'gatehouse-secret.yaml');
  const valuesPath = join(folder, 'gatehouse-values.yaml');
  return {
    paths: [secretPath, valuesPath],
    async read() {
      const [secret, values] = await Promise.all([readIfThere(secretPath), readIfThere(valuesPath)]);
      if (secret === undefined && values === undefined) {
        return undefined;
      }
      if (secret === undefined || values === undefined) {
        const [there, gone] = secret === undefined ? [valuesPath, secretPath] : [secretPath, valuesPath];
        throw new ConfigurationError(`${there} exists and ${gone} does not: move the first, or restore the second`);
      }
      const { stringData } = parseFile(secretPath, secret, secretFile);
      const { config, githubApp } = parseFile(valuesPath, values, valuesFile);
      const named = Object.entries(ENTRIES).flatMap(([name, entry]) =>
        stringData[entry] === undefined ? [] : [[name, stringData[entry]] as const],
      );
      return requireSecret(secretPath, {
        FORGE: config.forge,
        ...(config.forgeUrl ? { FORGE_URL: config.forgeUrl } : {}),
        ...(config.statusContext ? { STATUS_CONTEXT: config.statusContext } : {}),
        ...(githubApp ? { GITHUB_APP_ID: githubApp.appId } : {}),
        ...Object.fromEntries(named),
      });
    },
    check: () => checkFolder(folder),
    async write(settings, webhookUrl) {
      await writeNew(secretPath, secretManifest(settings, namespace));
      await writeNew(valuesPath, valuesOf(settings, ingressHost(webhookUrl)));
      return [secretPath, valuesPath];
    },
  };
}

function secretManifest(settings: Settings, namespace: string): string {
  const entries = Object.entries(ENTRIES).flatMap(([name, entry]) =>
    settings[name] === undefined ? [] : [[entry, settings[name]] as const],
  );
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: SECRET_NAME, namespace },
    type: 'Opaque',
    stringData: Object.fromEntries(entries),
  };
  return `# Written by gatehouse setup. Keep it out of version control.\n${stringify(secret)}`;
}

/**
 * The host that the chart's Ingress can be for. Undefined of an address, of a name inside the cluster, and of a path
 * that it does not route.
 */
export function ingressHost(webhookUrl: string): string | undefined {
  const { hostname, pathname } = new URL(webhookUrl);
  const host = hostname.replace(/\.$/, '');
  const isAddress = isIP(host.replace(/^\[|\]$/g, '')) !== 0;
  const isOutside = !isAddress && host.includes('.') && !/\.svc(?:\.|$)/.test(host);
  return isOutside && pathname === '/webhook' ? host : undefined;
}

function valuesOf(settings: Settings, host: string | undefined): string {
  const existing = { existingSecret: SECRET_NAME };
  const ownStores = settings['DATABASE_URL'] !== undefined;
  const values = {
    config: {
      forge: settings['FORGE'],
      ...(settings['FORGE_URL'] === undefined ? {} : { forgeUrl: settings['FORGE_URL'] }),
      ...(settings['STATUS_CONTEXT'] === undefined ? {} : { statusContext: settings['STATUS_CONTEXT'] }),
    },
    webhookSecret: existing,
    ...(settings['FORGE_TOKEN'] === undefined ? {} : { forgeToken: existing }),
    ...(settings['GITHUB_APP_ID'] === undefined
      ? {}
      : { githubApp: { appId: settings['GITHUB_APP_ID'], ...existing } }),
    ...(ownStores
      ? {
          database: existing,
          redis: existing,
          bundled: { postgresql: { enabled: false }, redis: { enabled: false } },
        }
      : {}),
  };
  return `# Written by gatehouse setup: values of the chart, without secrets. Add what your cluster needs, such as
# image: { repository: registry.example.com/gatehouse }
${stringify(values)}${host === undefined ? '' : ingressValues(host)}`;
}

function ingressValues(host: string): string {
  return `ingress:
  enabled: true
  hosts: [${host}]
  # className: nginx
  # annotations: { nginx.ingress.kubernetes.io/proxy-body-size: 25m }
  # tls: [{ secretName: gatehouse-tls, hosts: [${host}] }]
`;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

function requireSecret(path: string, settings: Settings): Settings {
  if (settings['WEBHOOK_SECRET'] === undefined || settings['FORGE'] === undefined) {
    throw new ConfigurationError(
      `${path} exists, and was not written by gatehouse setup: it has no FORGE and WEBHOOK_SECRET. ` +
        'It is never overwritten: move it, or choose another folder with --folder',
    );
  }
  return settings;
}

/** The text of the file is in no message: it may have secrets. */
function parseFile<T>(path: string, text: string, shape: z.ZodType<T>): T {
  try {
    return shape.parse(parse(text));
  } catch {
    throw new ConfigurationError(`${path} exists, and was not written by gatehouse setup: move it to another folder`);
  }
}

async function checkFolder(folder: string): Promise<void> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigurationError(`cannot write to ${folder}; choose another folder with --folder`, { cause: error });
  }
}

/**
 * Fails where the file exists, or a link of that name. It is on the disk when this returns: it may be the only copy.
 */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The readers of such files differ in what they make of quotes and `#`. */
function plain(name: string, value: string): string {
  if (!/^[\x21-\x7e]*$/.test(value) || /["'`#\\$]/.test(value)) {
    throw new ConfigurationError(
      `${name} contains a space, a quote, or one of # \\ $, which readers of .env files interpret differently. In a URL, percent-encode it`,
    );
  }
  return value;
}
