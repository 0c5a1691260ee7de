import { readPolicyFile } from '../../composition/policy-file.ts';
import type { Purpose } from '../../facts/purposes.ts';
import { FORGES } from '../../forges/port/forges.ts';
import type { RequiredStatus } from '../../forges/port/inspection.ts';
import { sameContext, statusContext } from '../../forges/port/status-context.ts';
import { reasonOf } from '../failures.ts';
import { type Check, type Context, needed, ok, type Result, type Site, unknown, wrong } from './check.ts';

export const FORGE_CHECKS: readonly Check[] = [
  { title: 'policy file', run: checkPolicyFile },
  { title: 'forge', run: checkForge },
  { title: 'repository', run: checkRepository },
];
export const REQUIRED_STATUS: Check = { title: 'required status', run: checkRequiredStatus };
export const SCOPES: Check = { title: 'scopes', run: checkScopes };

/** Nothing where all is well: the policy of a repository that it applies to says so. */
async function checkPolicyFile(context: Context): Promise<readonly Result[]> {
  const path = context.site?.settings.policyFile;
  try {
    context.operators = path === undefined ? undefined : await readPolicyFile(path, context.workers);
    return [];
  } catch (error) {
    const [head = '', ...faults] = reasonOf(error).split('\n');
    return (faults.length > 0 ? faults : [head]).map((fault) =>
      wrong(fault, 'correct it: workers do not start with a faulty policy'),
    );
  }
}

async function checkForge(context: Context): Promise<Result> {
  const { forge, settings } = needed(context.site, context.lacks);
  context.lacks = 'no access to the forge';
  const access = await forge.checkAccess();
  if (access.kind === 'unreachable') {
    return wrong(access.reason, 'check FORGE_URL, DNS, the network policy and whether the forge is up');
  }
  if (access.kind === 'not-accepted') {
    const action = 'replace FORGE_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, and check FORGE_URL';
    return wrong(access.reason, action);
  }
  context.accepted = { forge, settings };
  // Only the part of the URL that cannot have a password in it.
  const site = `${FORGES[forge.name].title} at ${new URL(settings.forgeUrl).origin}`;
  return ok(`${site} accepts the credentials of ${await forge.self()}`);
}

/** What every review needs, and what the repository needs beside it. */
async function checkScopes({ accepted, found, extras, lacks }: Context): Promise<Result> {
  const { inspection } = needed(accepted, lacks).forge;
  const { missing, unknown: reason } = await inspection.grants(found?.repository.name, extras);
  if (missing.length > 0) {
    const action = 'add them at the forge: see docs/connect-github.md or docs/connect-gitea.md';
    return wrong(`the credentials lack: ${missing.join(', ')}`, action);
  }
  return reason === undefined
    ? ok('all that are needed')
    : unknown(`cannot be checked: ${reason}`, 'compare them with docs/connect-github.md');
}

async function checkRepository(context: Context): Promise<Result> {
  const site = needed(context.accepted, context.lacks);
  const asked = needed(context.asked, 'name one, as in gatehouse doctor owner/repository');
  context.lacks = 'no repository';
  const repository = await site.forge.inspection.repository(asked);
  if (repository === undefined) {
    const action = `check its name; ${FORGES[site.forge.name].advice.shareRepository}`;
    return wrong(`${asked} does not exist, or these credentials cannot see it`, action);
  }
  context.found = { ...site, repository };
  const { name, defaultBranch, archived, mayWrite } = repository;
  if (archived) {
    return wrong(`${name} is archived: nothing is reviewed`, 'unarchive it');
  }
  if (mayWrite === 'no') {
    const message = `Gatehouse’s account cannot write to ${name}: the forge refuses its commit statuses`;
    return wrong(message, 'give the account Write access to its code');
  }
  return ok(`${name}, with the default branch ${defaultBranch}`);
}

async function checkRequiredStatus(context: Context): Promise<Result> {
  const { repository, ...site } = needed(context.found, context.lacks);
  const branch = repository.defaultBranch;
  const protection = await site.forge.inspection.protection(repository.name, branch);
  const ofQueue: readonly Purpose[] = protection?.hasMergeQueue ? ['merge-queue'] : [];
  context.extras = [...context.extras, ...ofQueue];
  context.eventsFor = [...context.eventsFor, ...ofQueue];
  return protection === undefined
    ? wrong(`there is no branch ${branch}`, 'push a commit to it')
    : judgeRequired(protection.required, branch, site);
}

/** Whether a merge into the branch waits for the status that Gatehouse sets. */
function judgeRequired(required: readonly RequiredStatus[], branch: string, { forge, settings }: Site): Result {
  const name = statusContext(settings.statusContext, branch);
  const own = settings.credentials.kind === 'app' ? settings.credentials.appId : undefined;
  const exact = required.filter(({ context }) => sameContext(forge.name, context, name));
  // Each that is required must be met, so one that never can be blocks every merge.
  const foreign = exact.find(({ appId }) => appId !== undefined && appId !== own);
  if (foreign !== undefined) {
    const message = `${name} is required from App ${foreign.appId}, which is not Gatehouse: it can never pass`;
    return wrong(message, 'choose Gatehouse’s App as its source, or any source');
  }
  if (exact.length > 0) {
    const isAnyones = own !== undefined && exact.every(({ appId }) => appId === undefined);
    return ok(`${name} is required on ${branch}${isAnyones ? ', from any source: choose the App as its source' : ''}`);
  }
  const others = required.map(({ context }) => context).join(', ');
  const instead = others === '' ? '' : `, which requires ${others}`;
  const message = `${name} is not required on ${branch}${instead}: Gatehouse cannot block merges`;
  return wrong(message, `require ${name} there: docs/guide-operator.md, Require the status`);
}
