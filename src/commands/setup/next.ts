import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FORGES } from '../../forges/port/forges.ts';
import { version } from '../../version.ts';
import type { ByHand, SetupContext } from './context.ts';
import { ingressHost } from './files.ts';

/** The folder of Gatehouse itself. Its npm scripts `dev` and `up` read the .env there. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The end of what setup prints: what is left to people, and the one command that is next. */
export function nextSteps(context: SetupContext, folder: string, left: readonly ByHand[]): string {
  const before = left.map(({ text, fault }) => `${fault ? '✘' : '→'} By hand: ${text}`);
  return [
    ...before,
    ...allowedHosts(context),
    ...ofTheCluster(context),
    'Next:',
    `  ${nextCommand(context, folder)}`,
    'Then commit a .gatehouse.yml to the base branch (docs/rules.md), and open a pull request.',
  ].join('\n');
}

/** What only the user knows of the cluster. */
function ofTheCluster({ options, webhookUrl, isNew }: SetupContext): readonly string[] {
  if (!options.kubernetes) {
    return [];
  }
  const host = ingressHost(webhookUrl);
  return [
    `→ Image: docker build -t gatehouse:${version} . and load it into the cluster, or push it and set image.repository in gatehouse-values.yaml`,
    host === undefined || !isNew
      ? `→ Address: ${new URL(webhookUrl).host} must lead to the Service gatehouse: see ingress and httpRoute of the chart`
      : `→ Address: gatehouse-values.yaml has an Ingress for ${host}; set its class and TLS there, or a Gateway's httpRoute instead`,
  ];
}

function nextCommand({ options, initial }: SetupContext, folder: string): string {
  if (options.kubernetes) {
    const { namespace } = options;
    const file = (name: string) => quoted(join(folder, name));
    return (
      `kubectl create namespace ${namespace}; kubectl apply -f ${file('gatehouse-secret.yaml')} && ` +
      `helm upgrade --install gatehouse charts/gatehouse --namespace ${namespace} --values ${file('gatehouse-values.yaml')}`
    );
  }
  const isTrial = initial['DATABASE_URL'] === undefined;
  if (relative(ROOT, folder) === '') {
    return isTrial ? 'npm run dev' : 'npm run up';
  }
  const node = `node --env-file=${quoted(join(folder, '.env'))}`;
  return isTrial ? `${node} demo/dev.ts` : `${node} src/main.js migrate && ${node} src/main.js serve --with-worker`;
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Some forges send webhooks to public addresses only, unless a setting of theirs allows others. */
function allowedHosts({ forge, webhookUrl }: SetupContext): readonly string[] {
  const { hostname } = new URL(webhookUrl);
  const isPrivate =
    !hostname.includes('.') || /\.(?:svc|local|internal|localhost)$|^(?:10|127|172|192\.168)\./.test(hostname);
  const { privateHostSetting: setting } = FORGES[forge];
  return setting !== null && (isPrivate || hostname.startsWith('['))
    ? [`→ If the forge does not allow it yet: ${setting}${hostname}`]
    : [];
}
