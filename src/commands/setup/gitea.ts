import { randomBytes } from 'node:crypto';
import { missingScopes } from '../../forges/gitea/access.ts';
import { makeGiteaClient } from '../../forges/gitea/client.ts';
import type { GiteaName } from '../../forges/gitea/differences.ts';
import { makeInspection } from '../../forges/gitea/inspection.ts';
import { scopeOfToken } from '../../forges/limits/pause.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Inspection } from '../../forges/port/inspection.ts';
import { hooksOf } from '../../forges/setup/gitea-webhook.ts';
import { UsageError } from '../failures.ts';
import type { ForgeResult, SetupContext } from './context.ts';
import { required } from './options.ts';

/** Checks the token, and makes the webhook of each repository or of the organisation. */
export async function setUpGitea(context: SetupContext, forge: GiteaName): Promise<ForgeResult> {
  const { connection, options, say } = context;
  const { organisation, setupToken, webhookUrl: url } = options;
  const token = required('FORGE_TOKEN or FORGE_TOKEN_FILE', options.settings['FORGE_TOKEN']);
  const owners = [...new Set([...options.repositories, ...(organisation === undefined ? [] : [organisation])])];
  if (owners.length === 0) {
    throw new UsageError('--repository or --organisation is missing');
  }
  const clientOf = (of: string) => makeGiteaClient(connection.fetchFor(scopeOfToken(of)), connection.apiUrl, of);
  const missing = await explained('FORGE_TOKEN', undefined, missingScopes(clientOf(token)));
  if (missing.length > 0) {
    throw new Error(`FORGE_TOKEN lacks ${missing.join(', ')}; create a token that also has these scopes`);
  }

  const client = clientOf(setupToken ?? token);
  const variable = setupToken === undefined ? 'FORGE_TOKEN' : 'SETUP_TOKEN';
  const secret = options.settings['WEBHOOK_SECRET'] ?? randomBytes(32).toString('hex');
  // All are looked at before the first is changed.
  const find = async (owner: string) =>
    [owner, await explained(variable, owner, hooksOf(client, owner).find(url))] as const;
  const found = await Promise.all(owners.map(find));
  for (const [owner] of found) {
    await explained(variable, owner, hooksOf(client, owner).create(forge, url, secret));
  }
  // The secret of an old one cannot be read, and Gitea 1.26 ignores one in an edit. It goes last: no event is lost in
  // between, and one that comes twice is reviewed twice.
  async function afterWriting(): Promise<void> {
    for (const [owner, old] of found) {
      for (const id of old) {
        await explained(variable, owner, hooksOf(client, owner).remove(id));
      }
      say(`✔ The webhook of ${owner} was ${old.length === 0 ? 'created' : 'replaced'}.`);
    }
    for (const name of await readOnlyAmong(options.repositories, makeInspection(forge, clientOf(token)))) {
      say(
        `✘ The account of FORGE_TOKEN can't write to ${name}: add it as a collaborator with Write, or it can't set a status.`,
      );
    }
  }
  return { settings: { WEBHOOK_SECRET: secret }, requirementOf: branchProtection, afterWriting };
}

/** Without write access the forge takes no status, and says so only when one is posted. What it doesn't tell is left to doctor. */
async function readOnlyAmong(repositories: readonly string[], inspection: Inspection): Promise<readonly string[]> {
  const answers = await Promise.all(
    repositories.map((name) =>
      inspection.repository(name).then(
        (found) => found?.mayWrite ?? 'no',
        () => 'unknown',
      ),
    ),
  );
  return repositories.filter((_, index) => answers[index] === 'no');
}

/** A new one. By itself it would forbid every push. */
function branchProtection(branch: string, context: string) {
  const body = { rule_name: branch, enable_push: true, enable_status_check: true, status_check_contexts: [context] };
  return { path: '/branch_protections', body };
}

/** What the forge answers to a token, in words that say what to do. `owner`: whose settings were asked for. */
async function explained<T>(variable: string, owner: string | undefined, asked: Promise<T>): Promise<T> {
  return asked.catch((error: unknown) => {
    const reason = error instanceof ForgeError ? refusalOf(error, owner) : undefined;
    throw reason === undefined ? error : new Error(`${variable}: ${reason}`, { cause: error });
  });
}

function refusalOf({ status, message }: ForgeError, owner: string | undefined): string | undefined {
  if (status === 401) {
    return 'the forge does not accept it: it is wrong, expired or revoked';
  }
  if (owner === undefined) {
    return undefined;
  }
  const [kind, scope, who] = owner.includes('/')
    ? ['repository', 'write:repository', 'an administrator of the repository']
    : ['organisation', 'write:organization', 'an owner of the organisation'];
  if (status === 403) {
    return /required scope/.test(message)
      ? `it does not have the scope ${scope}`
      : `its account cannot change the settings of ${owner}: set SETUP_TOKEN to a token of ${who}`;
  }
  return status === 404 ? `there is no ${kind} ${owner}, or its account cannot see it` : undefined;
}
