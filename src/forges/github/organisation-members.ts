import { z } from 'zod';
import { type Membership, membersAmong, unlessRefused } from '../members-among.ts';
import type { OrganisationMembers } from '../port/pull-request.ts';
import { includesAccess } from './app-permissions.ts';
import type { GitHubAccount } from './client.ts';
import { ask } from './request.ts';
import * as shapes from './shapes.ts';

/**
 * By the route that is for members alone. `members/{username}` sends others on to the public members, where a hidden
 * one is missing.
 */
export function organisationMembers(
  client: GitHubAccount,
  organisation: string,
  logins: readonly string[],
): Promise<OrganisationMembers> {
  const membershipOf = (login: string) => membership(client, organisation, login);
  return membersAmong(logins, membershipOf, async () =>
    client.kind === 'app'
      ? mayReadMembers(client, organisation)
      : (await membershipOf(await client.self())) === 'member',
  );
}

function membership(client: GitHubAccount, organisation: string, login: string): Promise<Membership> {
  const route = 'GET /orgs/{org}/memberships/{username}';
  return unlessRefused(async () => {
    const octokit = await client.forOrganisation(organisation);
    const answer = await ask(octokit, route, { org: organisation, username: login }, shapes.membership);
    return answer === undefined ? 'not-shown' : answer.state === 'active' ? 'member' : 'invited';
  });
}

const givenPermissions = z.object({ permissions: z.record(z.string(), z.string()) });

/** GitHub says so where it issues the token of the installation. */
async function mayReadMembers(client: GitHubAccount, organisation: string): Promise<boolean> {
  const octokit = await client.forOrganisation(organisation);
  const token = givenPermissions.safeParse(await octokit?.auth({ type: 'installation' }));
  return token.success && includesAccess(token.data.permissions['members'], 'read');
}
