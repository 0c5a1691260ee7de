import { glob } from 'node:fs/promises';
import { FORGE_PORT, type ForgePlan, type ForgeReport } from '../simulated-forge/simulated-forge-process.ts';
import { eventually } from './eventually.ts';
import type { Cluster, Namespace } from './namespace.ts';
import { startPod } from './pods.ts';

const NAME = 'forge';
const PROGRAM = 'test/simulated-forge/simulated-forge-process.ts';
const IMPORTED = ['test/simulated-forge/*.ts', 'node_modules/diff/{package.json,libesm/**/*.js}'];
export const FORGE_URL = `http://${NAME}:${FORGE_PORT}`;

/** Runs the simulated GitHub in the namespace, at {@link FORGE_URL}, with what it imports. */
export async function startForge(cluster: Cluster, at: Namespace, plan: Omit<ForgePlan, 'host'>): Promise<ForgeReport> {
  const imports = ['test/helpers/signature.ts'];
  for await (const path of glob(IMPORTED, { cwd: new URL('../../', import.meta.url) })) {
    imports.push(path);
  }
  await startPod(cluster, at, {
    name: NAME,
    program: PROGRAM,
    imports: imports.filter((path) => path !== PROGRAM),
    env: { PLAN: JSON.stringify({ ...plan, host: NAME }) },
    port: FORGE_PORT,
  });
  let report = '';
  await eventually('the simulated forge listens', async () => {
    report = (await at.kubectl(['logs', NAME])).trim();
    return report.endsWith('}');
  });
  return JSON.parse(report) as ForgeReport;
}
