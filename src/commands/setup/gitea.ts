import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { requireFound } from '../../forges/answer.ts';
import { missingScopes } from '../../forges/gitea/access.ts';
import { type GiteaClient, path } from '../../forges/gitea/client.ts';
import type { GiteaName } from '../../forges/gitea/differences.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { FORGES } from '../../forges/port/forges.ts';
import { splitRepository } from '../../forges/port/names.ts';
import {
  createHook,
  type HookFault,
  type HookOwner,
  type HookPlan,
  planHook,
  repairHook,
  replaceHook,
  type WantedHook,
} from '../../forges/setup/gitea-webhook.ts';
import { visible } from '../../review/text.ts';
import { UsageError } from '../failures.ts';
import type { ByHand, ForgeResult, SetupContext } from './context.ts';
import { ownersFault, ownersOf, type SetupOptions } from './options.ts';
import { type Questions, resolve } from './questions.ts';

/** 256 bits, as 64 characters. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('hex');
}

const nameOf = (owner: HookOwner) => (owner.kind === 'repository' ? owner.repository : owner.organisation);

/** Checks the token and the account, and creates or repairs the webhooks. */
export async function setUpGitea(context: SetupContext, forge: GiteaName): Promise<ForgeResult> {
  const { options, initial, questions, webhookUrl: url } = context;
  const owners = await chooseOwners(options, questions);
  const token = await checkedToken(context, initial['FORGE_TOKEN'] ?? options.variables.FORGE_TOKEN);
  const byHand = await accountFaults(context, token, owners);
  const wanted = owners.map((owner) => ({ forge, owner, url, replacedUrl: options.replacedUrl }));
  const secret = await setUpHooks(context, wanted, initial['WEBHOOK_SECRET'] ?? options.variables.WEBHOOK_SECRET);
  return { settings: { FORGE_TOKEN: token, WEBHOOK_SECRET: secret }, byHand };
}

async function chooseOwners(
  { repositories, organisation }: SetupOptions,
  questions: Questions,
): Promise<readonly HookOwner[]> {
  const named: readonly HookOwner[] = [
    ...repositories.map((repository) => ({ kind: 'repository', repository }) as const),
    ...(organisation === undefined ? [] : [{ kind: 'organisation', organisation } as const]),
  ];
  if (named.length > 0) {
    return named;
  }
  const answer = await questions.ask({
    text: 'Repositories (owner/name), or an organisation for all of its own; several with commas',
    option: '--repository or --organisation',
    fault: ownersFault,
  });
  return ownersOf(answer);
}

/** The token that Gatehouse will run with. Asked for again, if somebody is there, while it is not enough. */
async function checkedToken(
  { connection, questions, say, forge }: SetupContext,
  configured: string | undefined,
): Promise<string> {
  for (let first = configured; ; first = undefined) {
    const token = await resolve(questions, first, {
      text: `Token of Gatehouse's account at ${FORGES[forge].title} (scopes write:repository, write:issue, read:user; for teams read:organization)`,
      option: 'FORGE_TOKEN or FORGE_TOKEN_FILE',
      hidden: true,
    });
    const fault = await tokenFault(connection.gitea(token));
    if (fault === undefined) {
      return token;
    }
    if (first !== undefined || !questions.attended) {
      throw new Error(`FORGE_TOKEN: ${fault}`);
    }
    say(`✘ ${fault}`);
  }
}

async function tokenFault(client: GiteaClient): Promise<string | undefined> {
  try {
    const missing = await missingScopes(client);
    return missing.length === 0
      ? undefined
      : `it does not have ${missing.join(', ')}; create a token with these scopes too`;
  } catch (error) {
    if (error instanceof ForgeError && error.status === 401) {
      return 'the forge does not accept it: it is wrong, expired or revoked';
    }
    throw error;
  }
}

const account = z.object({ login: z.string() });
const seenRepository = z.object({ permissions: z.object({ push: z.boolean() }).optional() });

/** What has to be changed by hand for Gatehouse's account; empty when nothing. */
async function accountFaults(
  { connection, say }: SetupContext,
  token: string,
  owners: readonly HookOwner[],
): Promise<readonly ByHand[]> {
  const client = connection.gitea(token);
  const { login } = requireFound(await client.ask('/user', account), 'GET /user');
  say(`✔ The token belongs to ${visible(login)} and has the scopes it needs.`);
  const faults: ByHand[] = [];
  for (const owner of owners) {
    if (owner.kind === 'repository') {
      const { owner: account, name } = splitRepository(owner.repository);
      const found = await client.ask(path('repos', account, name), seenRepository);
      if (found?.permissions?.push !== true) {
        const what = found === undefined ? 'cannot see it' : 'may only read it';
        const text = `give ${visible(login)} Write access to the code of ${owner.repository}: it ${what}, and commit statuses need Write`;
        faults.push({ text, fault: true });
      }
    }
  }
  return faults;
}

interface Planned {
  readonly wanted: WantedHook;
  readonly plan: HookPlan;
}

/**
 * Creates or repairs the webhook of each owner. `present` is the secret that existing ones should have. Returns
 * the secret that they have now. All are looked at before the first is changed.
 */
async function setUpHooks(
  context: SetupContext,
  hooks: readonly WantedHook[],
  present: string | undefined,
): Promise<string> {
  const { connection, options, questions, say } = context;
  const client = connection.gitea(await context.setupToken());
  const planned: Planned[] = [];
  for (const wanted of hooks) {
    planned.push({ wanted, plan: await explained(wanted.owner, () => planHook(client, wanted)) });
  }
  const setSecret = options.setSecret || (present === undefined && (await mayReplaceSecret(context, planned)));
  const changes = planned
    .map(({ plan, wanted }) => changeOf(plan, wanted, setSecret))
    .filter((text) => text !== undefined);
  if (changes.length > 0) {
    for (const change of changes) {
      say(`  ${change}`);
    }
    if (!(await questions.confirm('Change this at the forge?'))) {
      throw new Error('stopped before anything was changed');
    }
  }
  const secret = present ?? newSecret();
  for (const { wanted, plan } of planned) {
    await explained(wanted.owner, () => apply(client, wanted, plan, setSecret, secret));
    const done = { create: 'was created', keep: setSecret ? 'was replaced' : 'is right', repair: 'was repaired' }[
      plan.kind
    ];
    say(`✔ The webhook of ${nameOf(wanted.owner)} ${done}.`);
    if (plan.kind !== 'create' && !setSecret) {
      say('  Its secret cannot be read. If its deliveries get 401, run this again with --set-secret.');
      if (plan.others.length > 0) {
        say(
          `  There are ${plan.others.length + 1} webhooks with this URL, and each sends every event. --set-secret keeps one.`,
        );
      }
    }
  }
  return secret;
}

/** A webhook may belong to a Gatehouse that runs, which would refuse everything after its secret is changed. */
async function mayReplaceSecret(
  { questions, webhookUrl }: SetupContext,
  planned: readonly Planned[],
): Promise<boolean> {
  const existing = planned.filter(({ plan }) => plan.kind !== 'create').map(({ wanted }) => nameOf(wanted.owner));
  if (existing.length === 0) {
    return false;
  }
  const what = `${existing.join(' and ')}: a webhook to ${webhookUrl} exists, and its secret cannot be read`;
  const question = `${what}. Replace its secret? A running Gatehouse with the old secret then refuses its deliveries.`;
  if (questions.attended && (await questions.confirm(question))) {
    return true;
  }
  throw new UsageError(`${what}: set WEBHOOK_SECRET_FILE to a file with the secret, or replace it with --set-secret`);
}

async function apply(client: GiteaClient, wanted: WantedHook, plan: HookPlan, setSecret: boolean, secret: string) {
  if (plan.kind === 'create') {
    await createHook(client, wanted, secret);
  } else if (setSecret) {
    await replaceHook(client, wanted, [plan.hook, ...plan.others], secret);
  } else if (plan.kind === 'repair') {
    await repairHook(client, wanted, plan.hook);
  }
}

function changeOf(plan: HookPlan, { owner, url }: WantedHook, setSecret: boolean): string | undefined {
  const name = nameOf(owner);
  if (plan.kind === 'create') {
    return `create the webhook of ${name} to ${url}`;
  }
  const faults = plan.kind === 'repair' ? plan.faults.map(describeFault) : [];
  const all = setSecret ? [...faults, 'it gets the secret in these files'] : faults;
  return all.length === 0 ? undefined : `repair the webhook of ${name} to ${url}: ${all.join('; ')}`;
}

function describeFault(fault: HookFault): string {
  switch (fault.kind) {
    case 'url':
      return `its URL is ${visible(withoutPassword(fault.found))}`;
    case 'inactive':
      return 'it is inactive';
    case 'content-type':
      return `its content type is ${visible(fault.found)}, not json`;
    case 'missing-events':
      return `it lacks the events ${fault.events.map(({ title }) => title).join(', ')}`;
  }
}

/** A URL can carry a password, and a token in its query. */
function withoutPassword(text: string): string {
  const url = URL.parse(text);
  return url === null ? text : `${url.origin}${url.pathname}`;
}

/** What the forge answers to a token that may not change the settings, in words that say what to do. */
export async function explained<T>(owner: HookOwner, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const reason = error instanceof ForgeError ? refusalOf(error, owner) : undefined;
    throw reason === undefined ? error : new Error(`SETUP_TOKEN: ${reason}`, { cause: error });
  }
}

function refusalOf({ status, message }: ForgeError, owner: HookOwner): string | undefined {
  const isRepository = owner.kind === 'repository';
  if (status === 401) {
    return 'the forge does not accept it: it is wrong, expired or revoked';
  }
  if (status === 403 && /required scope/.test(message)) {
    return `it does not have the scope ${isRepository ? 'write:repository' : 'write:organization'}`;
  }
  if (status === 403) {
    const who = isRepository ? 'an administrator of the repository' : 'an owner of the organisation';
    return `its account may not change the settings of ${nameOf(owner)}: use a token of ${who}`;
  }
  return status === 404 ? `there is no ${owner.kind} ${nameOf(owner)}, or its account may not see it` : undefined;
}
