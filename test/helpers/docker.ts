import { execute } from './execute.ts';
import { eventually } from './until.ts';

export interface DockerResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** On every container of the tests: the process that removes it. `.ci/run` removes those whose process has ended. */
export const OWNER: Readonly<Record<string, string>> = { 'gatehouse.owner': `${process.pid}` };

/** Runs the docker command line. A failure is a value. */
export async function tryDocker(args: readonly string[], timeoutMs?: number): Promise<DockerResult> {
  // The Dockerfile's cache mount wants BuildKit, which older engines leave off.
  const env = { ...process.env, DOCKER_BUILDKIT: '1' };
  return execute('docker', args, { env, timeoutMs }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout: stdout.trim(), stderr }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string };
      return { code: typeof code === 'number' ? code : 1, stdout: stdout?.trim() ?? '', stderr: stderr || `${error}` };
    },
  );
}

export async function docker(args: readonly string[], timeoutMs?: number): Promise<string> {
  const [command = '', ...rest] = args;
  const labels = Object.entries(OWNER).map(([name, value]) => `--label=${name}=${value}`);
  const labelled = command === 'run' || command === 'create' ? [command, ...labels, ...rest] : args;
  const { code, stdout, stderr } = await tryDocker(labelled, timeoutMs);
  if (code !== 0) {
    throw new Error(`docker ${args.join(' ')}: ${stderr}`);
  }
  return stdout;
}

/**
 * Starts a server in a container, and waits until its own log says that it is ready: another server may answer on its port.
 * Rejects with the log of one that ends. Returns its id.
 */
export async function startServer(args: readonly string[], ready: string): Promise<string> {
  const id = await docker(['run', '--detach', ...args]);
  try {
    await eventually(`the container logs "${ready}"`, async () => {
      const isRunning = (await docker(['inspect', '--format', '{{.State.Running}}', id])) === 'true';
      const { stdout, stderr } = await tryDocker(['logs', id]);
      const log = `${stdout}\n${stderr}`;
      if (!isRunning) {
        throw new Error(`the container ended: ${log}`);
      }
      return log.includes(ready);
    });
  } catch (error) {
    await tryDocker(['rm', '--force', '--volumes', id]);
    throw error;
  }
  return id;
}

const ENGINE_MS = 5_000;
const PULL_MS = 120_000;

/** Undefined when every image is there, or can be pulled where `pulls` says so; else why not, to be read after a "because". */
export async function unavailable(
  images: readonly string[],
  { pulls }: { readonly pulls: boolean },
): Promise<string | undefined> {
  const engine = await tryDocker(['version', '--format', '{{.Server.Version}}'], ENGINE_MS);
  if (engine.code !== 0) {
    return 'no container engine answers';
  }
  for (const image of images) {
    if ((await tryDocker(['image', 'inspect', image])).code === 0) {
      continue;
    }
    if (!pulls) {
      return `the image ${image} is not there`;
    }
    if ((await tryDocker(['pull', '--quiet', image], PULL_MS)).code !== 0) {
      return `the image ${image} cannot be had`;
    }
  }
  return undefined;
}
