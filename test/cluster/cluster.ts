/**
 * `npm run test:cluster`: the chart on the Kubernetes cluster that kubectl means. Builds and loads the image, plays every case in
 * namespaces of its own, removes them, and prints a table. `--short` plays the most important cases; `--only <text>` those whose
 * name contains it; `--keep` leaves the namespaces of cases that failed. Ends with 1 when a case failed.
 */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { GITEA_IMAGE } from '../helpers/gitea.ts';
import { tableOf } from '../helpers/table.ts';
import type { Case, Stage } from './case.ts';
import { command, tryCommand } from './commands.ts';
import { contextFault, loadCommand } from './context.ts';
import { diagnose } from './diagnosis.ts';
import { FORGE_CASES } from './forge-cases.ts';
import { INSTALL_CASES } from './install-cases.ts';
import { LOAD_CASES } from './load-cases.ts';
import { type Cluster, makeNamespace, type Namespace } from './namespace.ts';
import { PRODUCTION_CASES } from './production-cases.ts';

const CASES: readonly Case[] = [...INSTALL_CASES, ...LOAD_CASES, ...FORGE_CASES, ...PRODUCTION_CASES];
const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** To build an image, or to load one into the cluster. */
const IMAGE_MS = 600_000;
/** Loaded where the local engine has them; elsewhere the cluster pulls them. */
const OTHER_IMAGES = ['postgres:17-alpine', 'redis:8-alpine', GITEA_IMAGE];

type Outcome = 'passed' | 'FAILED' | 'left out';

interface Row {
  readonly name: string;
  readonly outcome: Outcome;
  readonly seconds: number;
  readonly seen: string;
}

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const start = performance.now();
const cluster = await prepare();
const rows: Row[] = [];
const chosen = CASES.filter(
  ({ name, short }) => (!values.short || short === true) && (values.only === undefined || name.includes(values.only)),
);
for (const [index, chosenCase] of chosen.entries()) {
  say(`${index + 1}/${chosen.length}  ${chosenCase.name}`);
  const row = await play(chosenCase, cluster);
  say(`      ${row.outcome}: ${row.seen}`);
  rows.push(row);
}
await command('docker', ['rmi', '--force', cluster.image]);
printTable(rows);
process.exit(rows.length === 0 || rows.some(({ outcome }) => outcome === 'FAILED') ? 1 : 0);

/** Refuses a cluster that is not the user's to play with, then builds the image and loads it. */
async function prepare(): Promise<Cluster> {
  const context = (await command('kubectl', ['config', 'current-context'])).trim();
  const view = JSON.parse(await command('kubectl', ['config', 'view', '--minify', '--output', 'json']));
  const fault = contextFault(
    { name: context, server: view.clusters[0].cluster.server },
    process.env['CLUSTER_CONTEXT'],
  );
  if (fault !== undefined) {
    process.stderr.write(`test:cluster: ${fault}\n`);
    process.exit(1);
  }
  const run = randomBytes(3).toString('hex');
  const image = `gatehouse-cluster-test:${run}`;
  const [load = '', ...loadArguments] = loadCommand(context, process.env['CLUSTER_LOAD_IMAGE']);
  say(`cluster: ${context}; building and loading ${image}`);
  await command('docker', ['build', '--quiet', '--network', 'host', '--tag', image, PROJECT], { timeoutMs: IMAGE_MS });
  const present: string[] = [];
  for (const name of OTHER_IMAGES) {
    if ((await tryCommand('docker', ['image', 'inspect', name])).ok) {
      present.push(name);
    }
  }
  await command(load, [...loadArguments, image, ...present], { timeoutMs: IMAGE_MS });
  const port = process.env['CLUSTER_INGRESS_PORT'];
  return { context, image, run, ingress: port === undefined ? undefined : `http://127.0.0.1:${port}` };
}

async function play({ name, needsIngress, play: run }: Case, on: Cluster): Promise<Row> {
  if (needsIngress === true && on.ingress === undefined) {
    return { name, outcome: 'left out', seconds: 0, seen: 'needs CLUSTER_INGRESS_PORT' };
  }
  const namespaces: Namespace[] = [];
  const stage: Stage = {
    cluster: on,
    async namespace(label) {
      const made = await makeNamespace(on, label);
      namespaces.push(made);
      return made;
    },
  };
  const began = performance.now();
  const [result] = await Promise.allSettled([run(stage)]);
  const seconds = (performance.now() - began) / 1_000;
  const failed = result.status === 'rejected';
  for (const made of failed ? namespaces : []) {
    say(await diagnose(made).catch((error: Error) => `no diagnosis of ${made.name}: ${error.message}`));
  }
  if (!(failed && values.keep)) {
    await Promise.all(namespaces.map((made) => made.remove()));
  }
  const seen = failed ? String(result.reason?.message ?? result.reason).split('\n')[0] : result.value;
  return { name, outcome: failed ? 'FAILED' : 'passed', seconds, seen: seen ?? '' };
}

function printTable(all: readonly Row[]): void {
  say(`\n${tableOf(all.map(({ name, outcome, seconds, seen }) => [name, outcome, `${seconds.toFixed(0)} s`, seen]))}`);
  const passed = all.filter(({ outcome }) => outcome === 'passed').length;
  say(`${passed} of ${all.length} passed in ${((performance.now() - start) / 60_000).toFixed(1)} min`);
}
