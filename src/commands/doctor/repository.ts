import type pg from 'pg';
import type { Purpose } from '../../facts/purposes.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { FORGES, type ForgeName } from '../../forges/port/forges.ts';
import type { BranchProtection, InspectedRepository } from '../../forges/port/inspection.ts';
import type { ForgeDoctorConfig } from './configuration.ts';
import { checkScopes } from './credentials.ts';
import { bounded, type Finding, ok, skipped, wrong } from './finding.ts';
import { checkMachineAccounts, MACHINES_CHECK } from './machine-accounts.ts';
import { checkPolicy, checkTeams, extrasOf, type PolicyOptions, type PolicyReport } from './policy.ts';
import { judgeRequiredStatus } from './required-status.ts';
import { WEBHOOK_CHECKS } from './webhook.ts';
import { checkWebhook } from './webhook-facts.ts';

const AFTER_REPOSITORY = [
  'policy',
  'teams',
  MACHINES_CHECK,
  'required status',
  'repository scopes',
  ...WEBHOOK_CHECKS,
] as const;
export const REPOSITORY_CHECKS = ['repository', ...AFTER_REPOSITORY] as const;

export interface RepositoryOptions extends Omit<PolicyOptions, 'policyRepository'> {
  readonly forge: Forge;
  readonly config: ForgeDoctorConfig;
  readonly repository: string;
  /** What `--url` says. */
  readonly webhookUrl: string | undefined;
  /** Undefined where the database cannot be read. */
  readonly database: Promise<pg.Pool | undefined>;
  readonly retentionDays: number | undefined;
}

/** Everything that is about one repository: in three steps, of which each needs what the one before has read. */
export async function examineRepository(options: RepositoryOptions): Promise<readonly Finding[]> {
  const { forge, config, repository } = options;
  let found: InspectedRepository | undefined;
  const first = await bounded('repository', async () => {
    found = await forge.inspection.repository(repository);
    return [judgeRepository(repository, found, forge.name)];
  });
  if (found === undefined) {
    return [...first, ...skipped(AFTER_REPOSITORY, 'no repository')];
  }

  const { name, defaultBranch } = found;
  const inspected = found;
  let protection: BranchProtection | undefined;
  let read: PolicyReport | undefined;
  const [policy, status] = await Promise.all([
    bounded('policy', async () => {
      read = await checkPolicy(forge, inspected, { ...options, policyRepository: config.policyRepository });
      return read.findings;
    }),
    bounded('required status', async () => {
      protection = await forge.inspection.protection(name, defaultBranch);
      return [judgeProtection(protection, forge.name, defaultBranch, config)];
    }),
  ]);

  const judgedBy = policyIn(read);
  const extras: readonly Purpose[] = [
    ...(judgedBy === undefined ? [] : extrasOf(judgedBy)),
    ...(hasMergeQueue(protection) ? (['merge-queue'] as const) : []),
  ];
  const later = await Promise.all([
    judgedBy === undefined
      ? skipped(['teams'], 'no valid policy')
      : bounded('teams', () => checkTeams(forge, judgedBy)),
    judgedBy === undefined
      ? skipped([MACHINES_CHECK], 'no valid policy')
      : bounded(MACHINES_CHECK, () => checkMachineAccounts(forge, name, judgedBy)),
    status,
    bounded('repository scopes', async () => [await checkScopes(forge, name, extras)]),
    bounded('webhook', () => checkWebhook({ ...options, repository: name, extras })),
  ]);
  return [...first, ...policy, ...later.flat()];
}

// What a callback has assigned is not known to the type checker.
const policyIn = (report: PolicyReport | undefined) => report?.policy;
const hasMergeQueue = (protection: BranchProtection | undefined) => protection?.hasMergeQueue === true;

function judgeRepository(named: string, found: InspectedRepository | undefined, forge: ForgeName): Finding {
  if (found === undefined) {
    const action = `check its name; ${FORGES[forge].advice.shareRepository}`;
    return wrong('repository', `${named} does not exist, or these credentials may not see it`, action);
  }
  const { name, defaultBranch, archived, mayWrite } = found;
  if (archived) {
    return wrong('repository', `${name} is archived: nothing is reviewed`, 'unarchive it');
  }
  if (mayWrite === false) {
    const message = `Gatehouse’s account may not write to ${name}: its commit statuses are refused`;
    return wrong('repository', message, 'give the account Write access to its code');
  }
  const renamed = name.toLowerCase() === named.toLowerCase() ? '' : `, the new name of ${named}`;
  return ok('repository', `${name}${renamed}, with the default branch ${defaultBranch}`);
}

function judgeProtection(
  protection: BranchProtection | undefined,
  forge: ForgeName,
  branch: string,
  { statusContext: template, credentials }: ForgeDoctorConfig,
): Finding {
  if (protection === undefined) {
    return wrong('required status', `there is no branch ${branch}`, 'push a commit to it');
  }
  const app = credentials.kind === 'app' ? { appId: credentials.appId } : {};
  return judgeRequiredStatus(protection, { forge, branch, template, ...app });
}
