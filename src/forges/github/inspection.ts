import { z } from 'zod';
import type { BranchProtection, InspectedRepository, Inspection, RequiredStatus } from '../port/inspection.ts';
import { yesNo } from '../port/yes-no.ts';
import { grants } from './access.ts';
import type { GitHubClient } from './client.ts';
import { makeHookReader } from './hooks.ts';
import { repositoryAddress, toRepositoryNow } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';

export function makeInspection(client: GitHubClient): Inspection {
  return {
    hooks: makeHookReader(client),
    repository: (name) => inspect(client, name),
    // Of each person it tells what they may do, whatever their teams.
    hiddenTeams: async () => [],
    grants: (repository, extras) => grants(client, repository, extras),
    protection: (repository, branch) => protection(client, repository, branch),
  };
}

const inspected = shapes.repositoryNow.extend({
  archived: z.boolean().default(false),
  permissions: z.object({ push: z.boolean() }).optional(),
});

async function inspect(client: GitHubClient, name: string): Promise<InspectedRepository | undefined> {
  const octokit = await client.forRepository(name);
  const answer = await ask(octokit, 'GET /repos/{owner}/{repo}', repositoryAddress(name), inspected);
  return (
    answer && {
      ...toRepositoryNow(answer),
      archived: answer.archived,
      // What an App may do is a matter of its permissions.
      mayWrite: client.kind === 'app' ? 'unknown' : yesNo(answer.permissions?.push),
    }
  );
}

/** Without a number, or with -1, it counts whoever has set it. */
const appId = z
  .number()
  .nullish()
  .transform((number) => (number == null || number < 0 ? undefined : String(number)));

/** Everybody who can read the repository is shown this much of a branch's protection. */
const branch = z.object({
  protection: z
    .object({
      required_status_checks: z
        .object({
          enforcement_level: z.string().optional(),
          contexts: z.array(z.string()).default([]),
          checks: z.array(z.object({ context: z.string(), app_id: appId })).default([]),
        })
        .optional(),
    })
    .optional(),
});

const rules = z.array(
  z.object({
    type: z.string(),
    parameters: z
      .object({
        required_status_checks: z.array(z.object({ context: z.string(), integration_id: appId })).default([]),
      })
      .optional(),
  }),
);

/** The branch's protection and the rulesets that apply to it: GitHub asks for what either requires. */
async function protection(
  client: GitHubClient,
  repository: string,
  name: string,
): Promise<BranchProtection | undefined> {
  const octokit = await client.forRepository(repository);
  const parameters = { ...repositoryAddress(repository), branch: name };
  const found = await ask(octokit, 'GET /repos/{owner}/{repo}/branches/{branch}', parameters, branch);
  if (found === undefined) {
    return undefined;
  }
  // Not known to Enterprise Server before 3.11.
  const active = await askAll(octokit, 'GET /repos/{owner}/{repo}/rules/branches/{branch}', parameters, rules);
  const ruled = (active ?? []).flatMap(({ type, parameters }) =>
    type === 'required_status_checks' ? (parameters?.required_status_checks ?? []) : [],
  );
  return {
    required: [...ofBranch(found), ...ruled.map(({ context, integration_id }) => toRequired(context, integration_id))],
    hasMergeQueue: (active ?? []).some(({ type }) => type === 'merge_queue'),
  };
}

function ofBranch({ protection: set }: z.output<typeof branch>): readonly RequiredStatus[] {
  const required = set?.required_status_checks;
  if (required === undefined || required.enforcement_level === 'off') {
    return [];
  }
  const { contexts, checks } = required;
  const apart = contexts.filter((context) => !checks.some((check) => check.context === context));
  return [
    ...checks.map(({ context, app_id }) => toRequired(context, app_id)),
    ...apart.map((name) => toRequired(name)),
  ];
}

function toRequired(context: string, app?: string): RequiredStatus {
  return { context, ...(app !== undefined && { appId: app }) };
}
