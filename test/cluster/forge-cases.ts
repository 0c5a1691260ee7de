import type { Case } from './case.ts';
import { eventually } from './eventually.ts';
import { expect } from './expect.ts';
import { askGitea, GITEA_URL, startGitea } from './gitea.ts';
import { type Namespace, RELEASE } from './namespace.ts';

const REPOSITORY = 'gatehouse/widgets';
const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix): ' }
`;

/** What the pods' annotations tell Prometheus, asked as it would ask. */
async function scrape(at: Namespace, component: string): Promise<string> {
  const [pod] = await at.pods(component);
  const annotation = (name: string) => pod?.annotations[`prometheus.io/${name}`];
  expect(annotation('scrape') === 'true', `the ${component} to be annotated`);
  const url = `http://${pod?.ip}:${annotation('port')}${annotation('path')}`;
  const script = 'fetch(process.argv[1]).then(async (r) => console.log(await r.text()))';
  return at.inDoor('node', '-e', script, url);
}

export const FORGE_CASES: readonly Case[] = [
  {
    name: 'from webhook to status: a real Gitea, a pull request turns red and green',
    short: true,
    async play({ namespace }) {
      const at = await namespace('forge');
      const host = `${RELEASE}.${at.name}.svc`;
      const token = await startGitea(at, host);
      // The commit statuses have to be there because of the webhooks: the resync looks again after a day.
      const config = { forge: 'gitea', forgeUrl: GITEA_URL, resyncMinutes: 1440 };
      await at.install({ config, forgeToken: { value: token } });
      const gitea = (method: string, path: string, body?: object) => askGitea(at, token, method, path, body);
      const repository = (method: string, path: string, body?: object) =>
        gitea(method, `repos/${REPOSITORY}/${path}`, body);
      await gitea('POST', 'user/repos', { name: 'widgets', auto_init: true, default_branch: 'main' });
      const content = (text: string) => Buffer.from(text).toString('base64');
      await repository('POST', 'contents/.gatehouse.yml', {
        branch: 'main',
        message: 'Add rules',
        content: content(POLICY),
      });
      await repository('POST', 'hooks', {
        type: 'gitea',
        active: true,
        events: ['push', 'pull_request', 'pull_request_sync', 'pull_request_review'],
        config: { url: `http://${host}/webhook`, content_type: 'json', secret: await at.signingKey() },
      });
      const change = { branch: 'main', new_branch: 'topic', message: 'Change', content: content('a change\n') };
      await repository('POST', 'contents/a.txt', change);
      const pull = (await repository('POST', 'pulls', { head: 'topic', base: 'main', title: 'no prefix' })) as {
        number: number;
        head: { sha: string };
      };
      const becomes = (state: string) =>
        eventually(`the status of the pull request is ${state}`, async () => {
          const statuses = (await repository('GET', `commits/${pull.head.sha}/statuses`)) as {
            id: number;
            status: string;
          }[];
          return statuses.sort((left, right) => right.id - left.id)[0]?.status === state;
        });
      await becomes('failure');
      await repository('PATCH', `pulls/${pull.number}`, { title: 'feat: a prefix' });
      await becomes('success');
      for (const role of ['door', 'worker']) {
        expect((await scrape(at, role)).includes(`gatehouse_role{role="${role}"} 1`), `the metrics of the ${role}`);
      }
      return 'failure, then success; metrics of door and worker where the annotations say';
    },
  },
];
