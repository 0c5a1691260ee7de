/** What a part needs of the machine. Each answers what is missing, to be read after a "because", or undefined. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tryCommand } from '../cluster/commands.ts';
import { contextFault } from '../cluster/context.ts';
import { unavailable } from '../helpers/docker.ts';

/** A container engine that has these images, or can pull them. */
export const engine = (images: readonly string[]) => unavailable(images, { pulls: true });

/** A cluster that the tests may use. */
export async function cluster(): Promise<string | undefined> {
  const missing = ['kubectl', 'helm'].find((name) => !isProgram(name));
  if (missing !== undefined) {
    return `${missing} is not on the PATH`;
  }
  const view = await tryCommand('kubectl', ['config', 'view', '--minify', '--output', 'json']);
  const { clusters = [], 'current-context': name = '' } = view.ok ? JSON.parse(view.stdout) : {};
  const server = clusters[0]?.cluster.server;
  if (name === '' || server === undefined) {
    return 'kubectl knows no cluster';
  }
  const fault = contextFault({ name, server }, process.env['CLUSTER_CONTEXT']);
  const answers = fault === undefined && (await tryCommand('kubectl', ['version', '--request-timeout=10s'])).ok;
  return fault ?? (answers ? undefined : `the cluster of the context ${name} does not answer`);
}

function isProgram(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
