import { z } from 'zod';
import { acceptedWrite, parseAnswer } from '../answer.ts';
import type { GitHubClient } from '../github/client.ts';
import { askAll, write } from '../github/request.ts';
import { splitRepository } from '../port/names.ts';
import type { Required, WantedStatus } from './required-status.ts';

const rule = z.object({
  type: z.string(),
  parameters: z
    .object({
      required_status_checks: z
        .array(z.object({ context: z.string(), integration_id: z.number().nullish() }))
        .optional(),
    })
    .optional(),
});

/**
 * Adds a ruleset of its own: what other rulesets and the branch protection require stays as it is, since GitHub applies
 * them all.
 * `appId` pins the status to the App, so that nobody else can set it.
 */
export async function requireStatus(
  client: GitHubClient,
  { repository, branch, context, appId = '' }: WantedStatus,
): Promise<Required> {
  const octokit = await client.forRepository(repository);
  const { owner, name } = splitRepository(repository);
  const repo = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
  const rules = await askAll(octokit, `GET ${repo}/rules/branches/${encodeURIComponent(branch)}`, {}, z.array(rule));
  const required = (rules ?? []).flatMap(({ parameters }) => parameters?.required_status_checks ?? []);
  const existing = required.filter((check) => check.context.toLowerCase() === context.toLowerCase());
  if (existing.some((check) => check.integration_id === Number(appId))) {
    return { kind: 'already' };
  }
  const route = `POST ${repo}/rulesets`;
  const made = await write(octokit, route, {
    name: context,
    target: 'branch',
    enforcement: 'active',
    conditions: { ref_name: { include: [`refs/heads/${branch}`], exclude: [] } },
    rules: [
      {
        type: 'required_status_checks',
        parameters: {
          strict_required_status_checks_policy: false,
          required_status_checks: [{ context, integration_id: Number(appId) }],
        },
      },
    ],
  });
  parseAnswer(acceptedWrite, made, route);
  return {
    kind: 'added',
    what: `a new ruleset named ${context}, which requires only this and names the App as its source`,
  };
}
