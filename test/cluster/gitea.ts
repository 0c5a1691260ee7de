import { randomBytes } from 'node:crypto';
import { GITEA_IMAGE } from '../helpers/gitea.ts';
import type { Namespace } from './namespace.ts';
import { RESTRICTED_CONTAINER, RESTRICTED_POD } from './pods.ts';

export const GITEA_URL = 'http://gitea:3000';
const USER = 'gatehouse';
/** The image's user. */
const USER_ID = 1000;

/** Runs a real Gitea in the namespace, which may send webhooks to `allowedHost`. Returns a token that may do everything. */
export async function startGitea(at: Namespace, allowedHost: string): Promise<string> {
  const labels = { app: 'gitea' };
  const settings = {
    GITEA__security__INSTALL_LOCK: 'true',
    GITEA__server__ROOT_URL: `${GITEA_URL}/`,
    GITEA__webhook__ALLOWED_HOST_LIST: `external, ${allowedHost}`,
  };
  const folders = ['/var/lib/gitea', '/etc/gitea', '/tmp'];
  const pod = {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: { ...RESTRICTED_POD, runAsUser: USER_ID, runAsGroup: USER_ID, fsGroup: USER_ID },
    containers: [
      {
        name: 'gitea',
        image: GITEA_IMAGE,
        env: Object.entries(settings).map(([name, value]) => ({ name, value })),
        ports: [{ containerPort: 3000 }],
        readinessProbe: { httpGet: { path: '/api/healthz', port: 3000 }, periodSeconds: 2 },
        securityContext: RESTRICTED_CONTAINER,
        volumeMounts: folders.map((mountPath, index) => ({ name: `folder-${index}`, mountPath })),
      },
    ],
    volumes: folders.map((_, index) => ({ name: `folder-${index}`, emptyDir: {} })),
  };
  const items = [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'gitea' },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'gitea' },
      spec: { selector: labels, ports: [{ port: 3000 }] },
    },
  ];
  await at.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await at.kubectl(['rollout', 'status', 'deployment/gitea', '--timeout=180s']);
  const admin = (...args: string[]) =>
    at.kubectl(['exec', 'deployment/gitea', '--', 'gitea', 'admin', 'user', ...args]);
  const account = [
    '--username',
    USER,
    '--password',
    randomBytes(16).toString('hex'),
    '--email',
    'gatehouse@example.com',
  ];
  await admin('create', '--admin', ...account, '--must-change-password=false');
  const token = await admin(
    'generate-access-token',
    '--username',
    USER,
    '--token-name',
    'cluster',
    '--scopes',
    'all',
    '--raw',
  );
  return token.trim().split('\n').at(-1) ?? '';
}

/** Gitea's API, asked from inside a door. Throws unless the status is 2xx. */
export async function askGitea(
  at: Namespace,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const script = `
    const [url, method, token, body] = process.argv.slice(1);
    const headers = { authorization: 'token ' + token, 'content-type': 'application/json' };
    const response = await fetch(url, { method, headers, ...(body && { body }) });
    const text = await response.text();
    if (!response.ok) throw new Error(method + ' ' + url + ': ' + response.status + ' ' + text);
    console.log(text || 'null');`;
  const args = [`${GITEA_URL}/api/v1/${path}`, method, token, body === undefined ? '' : JSON.stringify(body)];
  const node = ['node', '--input-type=module', '-e', script, ...args];
  return JSON.parse(await at.kubectl(['exec', 'deployment/gatehouse-door', '-c', 'door', '--', ...node]));
}
