import { randomBytes } from 'node:crypto';
import { GITEA_IMAGE } from '../helpers/gitea.ts';
import type { Namespace } from './namespace.ts';
import { createPod } from './pods.ts';

export const GITEA_URL = 'http://gitea:3000';
const USER = 'gatehouse';
/** The image's user. */
const USER_ID = 1000;

/** Runs a real Gitea in the namespace, which may send webhooks to `allowedHost`. Returns a token that may do everything. */
export async function startGitea(at: Namespace, allowedHost: string): Promise<string> {
  const settings = {
    GITEA__security__INSTALL_LOCK: 'true',
    GITEA__server__ROOT_URL: `${GITEA_URL}/`,
    GITEA__webhook__ALLOWED_HOST_LIST: `external, ${allowedHost}`,
  };
  const folders = ['/var/lib/gitea', '/etc/gitea', '/tmp'];
  await createPod(at, {
    name: 'gitea',
    userId: USER_ID,
    container: {
      image: GITEA_IMAGE,
      env: Object.entries(settings).map(([name, value]) => ({ name, value })),
      readinessProbe: { httpGet: { path: '/api/healthz', port: 3000 }, periodSeconds: 2 },
      volumeMounts: folders.map((mountPath, index) => ({ name: `folder-${index}`, mountPath })),
    },
    volumes: folders.map((_, index) => ({ name: `folder-${index}`, emptyDir: {} })),
    port: 3000,
  });
  const admin = (words: string) => at.kubectl(['exec', 'gitea', '--', 'gitea', 'admin', 'user', ...words.split(' ')]);
  const password = randomBytes(16).toString('hex');
  const account = `--username ${USER} --password ${password} --email gatehouse@example.com`;
  await admin(`create --admin ${account} --must-change-password=false`);
  const token = await admin(`generate-access-token --username ${USER} --token-name cluster --scopes all --raw`);
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
  return JSON.parse(await at.inDoor('node', '--input-type=module', '-e', script, ...args));
}
