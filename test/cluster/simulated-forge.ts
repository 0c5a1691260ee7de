import { FORGE_PORT, type ForgePlan, type ForgeReport } from '../simulated-forge/simulated-forge-process.ts';
import { eventually } from './eventually.ts';
import type { Cluster, Namespace } from './namespace.ts';
import { startPod } from './pods.ts';

const NAME = 'forge';
export const FORGE_URL = `http://${NAME}:${FORGE_PORT}`;

/** Runs the simulated GitHub in the namespace, at {@link FORGE_URL}. It has no GraphQL there, whose schema is too large. */
export async function startForge(cluster: Cluster, at: Namespace, plan: Omit<ForgePlan, 'host'>): Promise<ForgeReport> {
  await startPod(cluster, at, {
    name: NAME,
    program: 'test/simulated-forge/simulated-forge-process.ts',
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
