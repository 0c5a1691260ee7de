import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FORGES } from '../../forges/port/forges.ts';
import { statusContext } from '../../forges/port/status-context.ts';
import type { ForgeResult } from './context.ts';
import type { SetupOptions } from './options.ts';

/** The folder of Gatehouse itself. Its npm scripts `dev` and `up` read the .env there. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Stands for the default branch, which mostly has this name. */
const BRANCH = 'main';

/** The end of what setup prints: what is left to people, and the one command that is next. */
export function nextSteps(
  options: SetupOptions,
  { requirementOf }: Pick<ForgeResult, 'requirementOf'>,
  apiUrl: string,
  template: string,
): string {
  const { organisation = 'owner' } = options;
  const repositories = options.repositories.length === 0 ? [`${organisation}/name`] : options.repositories;
  const context = statusContext(template, BRANCH);
  const { path, body } = requirementOf(BRANCH, context);
  // No token in an argument: everybody on the machine sees those.
  const token = `printf 'Authorization: token %s' "$TOKEN"`;
  const post = `${token} | curl --fail-with-body -H @- -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(body))}`;
  return [
    `→ By hand: require the status ${context} on the default branch, here ${BRANCH}. With an administrator's token in TOKEN:`,
    ...repositories.map((repository) => `  ${post} ${quoted(`${apiUrl}/repos/${repository}${path}`)}`),
    ...allowedHosts(options),
    'Next:',
    `  ${nextCommand(options)}`,
    `Then check it with ${doctorCommand(options)} ${repositories[0]}, and commit a .gatehouse.yml to the default branch (docs/rules.md).`,
  ].join('\n');
}

function nextCommand({ folder, kubernetes, namespace, settings }: SetupOptions): string {
  const file = (name: string) => quoted(join(folder, name));
  if (kubernetes) {
    return (
      `kubectl create namespace ${quoted(namespace)}; kubectl apply -f ${file('gatehouse-secret.yaml')} && ` +
      `helm upgrade --install gatehouse charts/gatehouse --namespace ${quoted(namespace)} --values ${file('gatehouse-values.yaml')}`
    );
  }
  const isTrial = settings['DATABASE_URL'] === undefined;
  if (relative(ROOT, folder) === '') {
    return isTrial ? 'npm run dev' : 'npm run up';
  }
  const node = `node --env-file=${file('.env')}`;
  return isTrial ? `${node} demo/dev.ts` : `${node} src/main.js migrate && ${node} src/main.js serve --with-worker`;
}

/** The script reads the settings that were written, which `npm run gatehouse` does not. */
function doctorCommand({ folder, kubernetes }: SetupOptions): string {
  if (kubernetes) {
    return 'gatehouse doctor';
  }
  return relative(ROOT, folder) === ''
    ? 'npm run doctor --'
    : `node --env-file=${quoted(join(folder, '.env'))} src/main.js doctor`;
}

function quoted(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Some forges send webhooks to public addresses only, unless a setting of theirs allows others. */
function allowedHosts({ forge, webhookUrl }: SetupOptions): readonly string[] {
  const { hostname } = new URL(webhookUrl);
  const { privateHostSetting: setting } = FORGES[forge];
  // Names without a dot and IPv6 addresses too.
  const isPrivate = /^[^.]+$|\.(?:svc|local|internal|localhost)$|^(?:10|127|172|192\.168)\./.test(hostname);
  return setting !== null && isPrivate ? [`→ If the forge does not allow it yet: ${setting}${hostname}`] : [];
}
