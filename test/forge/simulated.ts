import { randomBytes } from 'node:crypto';
import { makeSimulatedSite } from '../helpers/simulated-site.ts';
import type { Changes } from '../simulated-forge/git.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';
import type { HookedSite, TestForge } from './test-forge.ts';

const OWNER = 'alice';
/** Not held back. */
const AT_ONCE = 0;

const isGatehouse = (headers: Readonly<Record<string, string | undefined>>) => headers['user-agent'] === 'gatehouse';

export async function simulatedForge(name: TestForge['name']): Promise<TestForge> {
  const forge = await startSimulatedForge({ forge: name, keepsInlineComments: false });
  forge.addOutsider('mallory');
  forge.addOutsider('reader');
  const readingToken = 'token-of-reader';
  forge.addToken(readingToken, 'reader', ['read:repository', 'read:user']);
  const ownerToken = 'token-of-the-owner';
  forge.addToken(ownerToken, OWNER);
  return {
    kind: 'simulated',
    name,
    url: forge.url,
    token: forge.token,
    readingToken,
    ownerToken,
    hostName: '127.0.0.1',
    listenOn: '127.0.0.1',
    async site(files = {}) {
      const repository = `${OWNER}/site-${randomBytes(6).toString('hex')}`;
      forge.createRepository(repository, { 'README.md': 'Hello\n', ...files });
      return makeSite(forge, repository);
    },
    async organisationRepository(teams) {
      const organisation = `org-${randomBytes(6).toString('hex')}`;
      const repository = `${organisation}/site`;
      forge.createRepository(repository);
      const all = { Owners: { access: 'owner' as const, members: [OWNER] }, ...teams };
      for (const [team, { access, members }] of Object.entries(all)) {
        forge.createTeam(`${organisation}/${team}`, members);
        forge.grantTeam(repository, `${organisation}/${team}`, access);
      }
      return {
        repository,
        async join(team) {
          forge.createTeam(`${organisation}/${team}`, [...(teams[team]?.members ?? []), 'gatehouse']);
          forge.addMember(organisation, 'gatehouse');
        },
      };
    },
    async organisation(members) {
      const name = `org-${randomBytes(6).toString('hex')}`;
      for (const [login, as] of Object.entries({ [OWNER]: 'public' as const, ...members })) {
        forge.addMember(name, login, as);
      }
      return name;
    },
    requests: async (site) =>
      forge.seen
        .filter(({ path, headers }) => isGatehouse(headers) && path.startsWith(`/repos/${site.repository}/`))
        .map(({ method, path }) => `${method} /api/v1${path}`),
    close: () => forge.stop(),
  };
}

function makeSite(forge: SimulatedForge, repository: string): HookedSite {
  const site = makeSimulatedSite(forge, repository);
  return Object.assign(site, {
    async hook(port: number, secret: string) {
      site.sendTo(`http://127.0.0.1:${port}/webhook`, secret);
    },
    async pushHeld(branch: string, changes: Changes) {
      forge.delayDifferences(Number.POSITIVE_INFINITY);
      const sha = forge.commit(site.repository, branch, changes);
      return {
        sha,
        async release() {
          forge.delayDifferences(AT_ONCE);
          // Its webhooks.
          await site.push(branch);
        },
      };
    },
    async nextSecond() {
      forge.age(1_000, site.repository);
    },
  });
}
