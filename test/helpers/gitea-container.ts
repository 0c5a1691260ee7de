import { type ContainerRuntimeClient, GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { haveImage, type Limits, type Unavailable } from './container-stores.ts';
import { inTime, within } from './deadline.ts';
import { OWNER } from './docker.ts';
import { execute } from './execute.ts';
import { onFreePort } from './free-port.ts';
import { GITEA_IMAGE } from './gitea.ts';

const PORT = 3000;
const APP_INI = '/etc/gitea/app.ini';
/** The name under which the container reaches the machine that the tests run on. */
export const HOST_NAME = 'host.docker.internal';
/** Set, so that hooks can be put into a repository: images differ in where they keep them. */
export const REPOSITORIES = '/var/lib/gitea/git/repositories';

/** Who lives on the forge. `gatehouse` has the scopes of docs/connect-gitea.md and no others, `reader` has too few; the rest may do what they like. */
const PEOPLE = {
  alice: 'all',
  bob: 'all',
  mallory: 'all',
  reader: 'read:repository,read:user',
  gatehouse: 'write:repository,write:issue,read:user,read:organization',
} as const;

export type Person = keyof typeof PEOPLE;

export interface Gitea {
  readonly url: string;
  readonly container: string;
  readonly version: string;
  readonly tokens: Readonly<Record<Person, string>>;
}

export interface RunningGitea extends Gitea {
  close(): Promise<void>;
}

/** Texts of many megabytes made Gitea take 22 GiB, and the machine stop. */
const MAX_MEMORY_GIB = 4;

export async function startGiteaContainer(limits: Limits): Promise<RunningGitea | Unavailable> {
  let client: ContainerRuntimeClient;
  try {
    client = await within(limits.engineMs, 'it took too long', getContainerRuntimeClient());
  } catch {
    return { unavailable: 'no container engine answered' };
  }
  if (!(await haveImage(client, GITEA_IMAGE, limits.imageMs))) {
    return { unavailable: `image ${GITEA_IMAGE} could not be had` };
  }
  // Gitea has to know its own address, which an answer may name.
  return onFreePort((port) => startOn(client, port, limits.readyMs));
}

async function startOn(client: ContainerRuntimeClient, port: number, readyMs: number): Promise<RunningGitea> {
  const { host } = client.info.containerRuntime;
  const url = `http://${host === 'localhost' ? '127.0.0.1' : host}:${port}`;
  const container = await new GenericContainer(GITEA_IMAGE)
    .withLabels(OWNER)
    .withEnvironment(settings(url))
    .withExposedPorts({ container: PORT, host: port })
    .withExtraHosts([{ host: HOST_NAME, ipAddress: 'host-gateway' }])
    .withResourcesQuota({ memory: MAX_MEMORY_GIB })
    .withWaitStrategy(Wait.forHttp('/api/healthz', PORT))
    .withStartupTimeout(readyMs)
    // Cleaning up is the work of gitea-process.ts.
    .withAutoCleanup(false)
    .start();
  const close = async () => {
    const removed = client.container.dockerode.getContainer(container.getId()).remove({ force: true, v: true });
    await inTime('the container of Gitea is removed', removed);
  };
  try {
    const tokens: Partial<Record<Person, string>> = {};
    for (const [name, scopes] of Object.entries(PEOPLE)) {
      tokens[name as Person] = await createPerson(container.getId(), name, scopes);
    }
    const { version } = (await (await fetch(`${url}/api/v1/version`)).json()) as { version: string };
    return { url, container: container.getId(), version, tokens: tokens as Gitea['tokens'], close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** As an operator would set it up (docs/connect-gitea.md), with SQLite, and with a log of every request. */
function settings(url: string): Record<string, string> {
  return {
    GITEA__server__ROOT_URL: `${url}/`,
    GITEA__server__DISABLE_SSH: 'true',
    GITEA__server__OFFLINE_MODE: 'true',
    GITEA__database__DB_TYPE: 'sqlite3',
    // Its index of a text of megabytes takes gigabytes. What Gatehouse asks for has no keyword, and takes no index.
    GITEA__indexer__ISSUE_INDEXER_TYPE: 'db',
    GITEA__repository__ROOT: REPOSITORIES,
    GITEA__security__INSTALL_LOCK: 'true',
    GITEA__service__DISABLE_REGISTRATION: 'true',
    GITEA__webhook__ALLOWED_HOST_LIST: HOST_NAME,
    GITEA__log__LEVEL: 'Info',
    // A dot in a key is written so.
    GITEA__log__logger_0X2E_access_0X2E_MODE: 'console',
  };
}

async function createPerson(container: string, name: string, scopes: string): Promise<string> {
  const created = await inContainer(container, [
    ...['gitea', '--config', APP_INI, 'admin', 'user', 'create', '--must-change-password=false'],
    ...['--username', name, '--random-password', '--email', `${name}@example.test`],
    ...['--access-token', '--access-token-name', 'tests', '--access-token-scopes', scopes],
  ]);
  const token = /^Access token was successfully created\.\.\. ([0-9a-f]{40})$/m.exec(created)?.[1];
  if (token === undefined) {
    throw new Error(`Gitea made no token for ${name}: ${created}`);
  }
  return token;
}

export async function logOf(container: string): Promise<string> {
  return (await execute('docker', ['logs', container])).stdout;
}

export async function inContainer(container: string, command: readonly string[]): Promise<string> {
  return (await execute('docker', ['exec', container, ...command])).stdout;
}
