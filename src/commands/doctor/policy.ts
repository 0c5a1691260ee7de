import { type Purpose, purposesOf } from '../../facts/purposes.ts';
import { organisationOf, teamsIn } from '../../facts/teams.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { FORGES } from '../../forges/port/forges.ts';
import { rulesInForce } from '../../review/evaluation/observe.ts';
import { presentBaselines } from '../../review/policy/baseline.ts';
import type { Fault } from '../../review/policy/faults.ts';
import { policyInForce } from '../../review/policy/in-force.ts';
import { misnamedAt } from '../../review/policy/load.ts';
import { neededFacts } from '../../review/policy/needs.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { type Check, type Context, needed, ok, type Result, unknown, wrong } from './check.ts';

export const POLICY_CHECKS: readonly Check[] = [
  { title: 'policy', run: checkPolicy },
  { title: 'teams', run: checkTeams },
];

/** The policy of the default branch, as a review would read it now, and the baseline. */
export async function checkPolicy(context: Context): Promise<readonly Result[]> {
  const { forge, settings, repository } = needed(context.found, context.lacks);
  const { name, defaultBranch } = repository;
  const commit = await forge.branchCommit(name, defaultBranch);
  const baselineOf = presentBaselines(forge, context.workers, settings.policyRepository);
  const { policy, own, baseline } = await policyInForce(
    { forge, workers: context.workers, fallback: context.operators, baselineOf },
    { repository: name, commit, shown: false },
  );
  const misnamed = commit === undefined ? [] : await misnamedAt(forge, name, commit);
  const results = misnamed.map(({ path, meant }) =>
    wrong(`${path} on ${defaultBranch} is ignored because of its name`, `rename it to ${meant}`),
  );
  if (baseline.kind === 'none' && baseline.reason !== undefined) {
    const action = 'correct that, or unset POLICY_REPOSITORY if you want no baseline';
    results.push(unknown(`cannot be checked: there is no baseline: ${baseline.reason}`, action));
  }
  if (policy.kind === 'broken') {
    return [...results, ...policy.faults.map(faulty)];
  }
  if (policy.kind === 'absent') {
    const message = `${name} has no policy on ${defaultBranch}: nothing is reviewed, and no status is set`;
    return [...results, wrong(message, `add a .gatehouse.yml to ${defaultBranch}`)];
  }
  context.policy = policy.policy;
  context.extras = extrasOf(policy.policy);
  context.eventsFor = extrasOf(rulesInForce(policy.policy));
  return own.kind === 'policy'
    ? [...results, ok(`${own.policy.origin.path} on ${defaultBranch} has ${counted(own.policy.rules.length, 'rule')}`)]
    : [...results, ok(`${defaultBranch} has no policy of its own: the baseline or POLICY_FILE applies`)];
}

function faulty({ file, line, column, message }: Fault): Result {
  return wrong(`${file}:${line}:${column}: ${message}`, 'fix it; run gatehouse check before you merge');
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** What a policy needs beside what every review does. */
function extrasOf(policy: Policy): readonly Purpose[] {
  return [
    ...purposesOf(neededFacts(policy)),
    ...(hasOverrides(policy) ? (['commands'] as const) : []),
    ...(teamsOf(policy).length > 0 ? (['teams'] as const) : []),
  ];
}

function hasOverrides({ override, baselineOverride }: Policy): boolean {
  return override !== undefined || baselineOverride !== undefined;
}

function teamsOf(policy: Policy): readonly string[] {
  const overriders = [policy.override, policy.baselineOverride].flatMap((by) => by?.teams ?? []);
  return [...new Set([...teamsIn(neededFacts(policy).teams ?? []), ...overriders])];
}

/**
 * Whether the members of each team can be seen that the policy names, or by which it is known who may write. CODEOWNERS
 * is not looked into.
 */
async function checkTeams({ found, lacks, policy: read }: Context): Promise<readonly Result[]> {
  const { forge, repository } = needed(found, lacks);
  const policy = needed(read, 'no valid policy');
  const teams = teamsOf(policy);
  const needsWriters = neededFacts(policy).writers !== undefined || hasOverrides(policy);
  const hidden = needsWriters ? await forge.inspection.hiddenTeams(repository.name) : [];
  const results = await Promise.all(teams.map((team) => checkTeam(forge, team)));
  const { showPermissions } = FORGES[forge.name].advice;
  const unseen = hidden.map((team) =>
    wrong(
      `these credentials cannot see the members of team ${team}: Gatehouse cannot tell whether they can write`,
      showPermissions,
    ),
  );
  const none = teams.length === 0 ? [ok('the policy names none')] : [];
  return [...results, ...(unseen.length === 0 ? none : unseen)];
}

async function checkTeam(forge: Forge, team: string): Promise<Result> {
  const { advice } = FORGES[forge.name];
  const organisation = organisationOf(team);
  if (organisation === undefined) {
    const members = await forge.teamMembers(team);
    const hidden = `@${team} does not exist, or these credentials cannot see its members: its rules are undecided`;
    return members === undefined
      ? wrong(hidden, `${advice.shareTeam}, or correct the name`)
      : ok(`@${team} has ${counted(members.length, 'member')}`);
  }
  // By its own account: it is a member, or nobody else who is not shown is one for certain.
  const { complete } = await forge.organisationMembers(organisation, [await forge.self()]);
  const hidden = `these credentials cannot see hidden members of ${organisation}: rules about @${organisation}/* are undecided for others`;
  return complete
    ? ok(`these credentials can see all members of ${organisation}`)
    : wrong(hidden, `${advice.shareOrganisation}, or correct the name`);
}
