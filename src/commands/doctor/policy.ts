import { type Purpose, purposesOf } from '../../facts/purposes.ts';
import { organisationOf, teamsIn } from '../../facts/teams.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { FORGES } from '../../forges/port/forges.ts';
import type { InspectedRepository } from '../../forges/port/inspection.ts';
import { presentBaselines } from '../../review/policy/baseline.ts';
import type { Fault } from '../../review/policy/faults.ts';
import { policyInForce } from '../../review/policy/in-force.ts';
import { neededFacts } from '../../review/policy/needs.ts';
import type { Policy } from '../../review/policy/policy.ts';
import type { ReviewWorkers } from '../../review/workers/review-workers.ts';
import { type Finding, ok, unknown, wrong } from './finding.ts';

export interface PolicyOptions {
  readonly workers: ReviewWorkers;
  /** The operator's policy; `configured`: there is one, which may be broken. */
  readonly operators: { readonly configured: boolean; readonly policy: Policy | undefined };
  /** POLICY_REPOSITORY. */
  readonly policyRepository: string | undefined;
}

export interface PolicyReport {
  readonly findings: readonly Finding[];
  /** What a pull request into the default branch is judged by; undefined where that cannot be said. */
  readonly policy: Policy | undefined;
}

/** The policy of the default branch, as a review would read it now, and the organisation's baseline. */
export async function checkPolicy(
  forge: Forge,
  { name, defaultBranch }: InspectedRepository,
  { workers, operators, policyRepository }: PolicyOptions,
): Promise<PolicyReport> {
  const commit = await forge.branchCommit(name, defaultBranch);
  if (commit === undefined) {
    const action = 'push a commit with a .gatehouse.yml';
    return { findings: [wrong('policy', `${name} has no commit in ${defaultBranch}`, action)], policy: undefined };
  }
  const baselineOf = presentBaselines(forge, workers, policyRepository);
  const context = { forge, workers, fallback: operators.policy, baselineOf };
  const { policy, own, baseline } = await policyInForce(context, { repository: name, commit, shown: false });

  const findings: Finding[] = [];
  if (baseline.kind === 'broken') {
    findings.push(...faulty('baseline', baseline.faults));
  } else if (baseline.kind === 'policy') {
    findings.push(ok('baseline', `${baseline.repository} has ${rules(baseline.policy)}`));
  } else if (baseline.repository !== undefined) {
    const message = `cannot be checked: ${baseline.repository} does not exist, has no policy, or these credentials may not see it`;
    findings.push(unknown('baseline', message, 'create it, or unset POLICY_REPOSITORY, if a baseline is wanted'));
  }
  if (own.kind === 'broken') {
    findings.push(...faulty('policy', own.faults));
  } else if (own.kind === 'policy') {
    findings.push(ok('policy', `${own.policy.origin.path} on ${defaultBranch} has ${rules(own.policy)}`));
  } else {
    findings.push(withoutOwn(name, defaultBranch, operators.configured, baseline.kind !== 'none'));
  }
  return { findings, policy: policy.kind === 'policy' ? policy.policy : undefined };
}

function withoutOwn(name: string, branch: string, hasOperators: boolean, hasBaseline: boolean): Finding {
  if (hasOperators || hasBaseline) {
    const other = hasOperators ? 'POLICY_FILE' : 'the baseline';
    return ok('policy', `${branch} has no policy of its own: ${other} applies`);
  }
  const message = `${name} has no policy on ${branch}: nothing is reviewed, and no status is set`;
  return wrong('policy', message, `add a .gatehouse.yml to ${branch}`);
}

function faulty(check: string, faults: readonly Fault[]): readonly Finding[] {
  return faults.map(({ file, line, column, message }) =>
    wrong(check, `${file}:${line}:${column}: ${message}`, 'fix it; gatehouse check tests the file before it is merged'),
  );
}

function rules(policy: Policy): string {
  const count = policy.rules.length;
  return count === 1 ? '1 rule' : `${count} rules`;
}

/** What a policy needs beside what every review does. */
export function extrasOf(policy: Policy): readonly Purpose[] {
  const { override, baselineOverride } = policy;
  return [
    ...new Set<Purpose>([
      ...purposesOf(neededFacts(policy)),
      ...(override !== undefined || baselineOverride !== undefined ? (['commands'] as const) : []),
      ...(teamsOf(policy).length > 0 ? (['teams'] as const) : []),
    ]),
  ];
}

function teamsOf(policy: Policy): readonly string[] {
  const overriders = [policy.override, policy.baselineOverride].flatMap((by) => by?.teams ?? []);
  return [...new Set([...teamsIn(neededFacts(policy).teams ?? []), ...overriders])];
}

/** Whether the members of each team that the policy names can be seen. CODEOWNERS is not looked into. */
export async function checkTeams(forge: Forge, policy: Policy): Promise<readonly Finding[]> {
  const teams = teamsOf(policy);
  if (teams.length === 0) {
    return [ok('teams', 'the policy names none')];
  }
  const findings: Finding[] = [];
  for (const team of teams) {
    const organisation = organisationOf(team);
    findings.push(
      organisation === undefined ? await checkTeam(forge, team) : await checkOrganisation(forge, organisation),
    );
  }
  return findings;
}

async function checkTeam(forge: Forge, team: string): Promise<Finding> {
  const members = await forge.teamMembers(team);
  const action = `${FORGES[forge.name].advice.shareTeam}, or correct the name`;
  return members === undefined
    ? wrong('teams', `@${team} does not exist, or its members cannot be seen: its rules are undecided`, action)
    : ok('teams', `@${team} has ${members.length === 1 ? '1 member' : `${members.length} members`}`);
}

/** By its own account: it is a member, or nobody else who is not shown is one for certain. */
async function checkOrganisation(forge: Forge, organisation: string): Promise<Finding> {
  const { complete } = await forge.organisationMembers(organisation, [await forge.self()]);
  const action = `${FORGES[forge.name].advice.shareOrganisation}, or correct the name`;
  const hidden = `hidden members of ${organisation} cannot be seen: rules about @${organisation}/* are undecided for others`;
  return complete ? ok('teams', `all members of ${organisation} can be seen`) : wrong('teams', hidden, action);
}
