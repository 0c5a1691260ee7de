/**
 * A simulated GitHub as a process of its own, for tests whose Gatehouse runs in containers and has to reach it by name.
 * Its plan comes as JSON in the variable PLAN; once it listens, it prints what the test needs as one line of JSON.
 */
import { startSimulatedForge } from './simulated-forge.ts';

export const FORGE_PORT = 3000;

export interface ForgePlan {
  readonly host: string;
  /** A token that may do everything, and whose it is. */
  readonly token: string;
  readonly login: string;
  /** Owners whose repositories the token's account may not write to. */
  readonly outsiderOf?: readonly string[];
  readonly secret: string;
  /** Each becomes an open pull request, with the webhook that tells of it. */
  readonly pullRequests: readonly {
    readonly repository: string;
    readonly files: Readonly<Record<string, string>>;
    readonly title: string;
  }[];
}

export interface ForgeReport {
  readonly appId: string;
  readonly privateKey: string;
  readonly pullRequests: readonly {
    readonly headSha: string;
    readonly webhook: { readonly headers: Readonly<Record<string, string>>; readonly body: string };
  }[];
}

if (import.meta.main) {
  const {
    host,
    token,
    login,
    outsiderOf = [],
    secret,
    pullRequests,
  } = JSON.parse(process.env['PLAN'] ?? '') as ForgePlan;
  const forge = await startSimulatedForge({ forge: 'github', host, port: FORGE_PORT });
  forge.addToken(token, login);
  for (const owner of outsiderOf) {
    forge.addOutsider(`${login} of ${owner}`);
  }
  const opened = pullRequests.map(({ repository, files, title }) => {
    forge.app.install(repository.split('/')[0] ?? '');
    forge.createRepository(repository, files);
    forge.commit(repository, 'topic', { 'CHANGES.md': 'A change\n' });
    const number = forge.openPullRequest(repository, { head: 'topic', title });
    const webhook = forge.webhook(repository, { kind: 'pull-request', number, action: 'opened' }, { secret });
    return { headSha: forge.pull(repository, number).headSha, webhook };
  });
  const report: ForgeReport = { appId: forge.app.id, privateKey: forge.app.privateKey, pullRequests: opened };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
