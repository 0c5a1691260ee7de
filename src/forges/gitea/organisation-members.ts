import { z } from 'zod';
import { type Membership, membersAmong, unlessRefused } from '../members-among.ts';
import type { OrganisationMembers } from '../port/pull-request.ts';
import { type GiteaAccount, path } from './client.ts';

/**
 * Members see all members. Others are sent on to the public ones, where a hidden one is missing, and do not see the
 * organisation itself where it is private.
 */
export function organisationMembers(
  client: GiteaAccount,
  organisation: string,
  logins: readonly string[],
): Promise<OrganisationMembers> {
  const membershipOf = (login: string) => membership(client, organisation, login);
  return membersAmong(logins, membershipOf, async () => (await membershipOf(await client.self())) === 'member');
}

function membership(client: GiteaAccount, organisation: string, login: string): Promise<Membership> {
  return unlessRefused(async () => {
    const answer = await client.ask(path('orgs', organisation, 'members', login), z.unknown());
    return answer === undefined ? 'not-shown' : 'member';
  });
}
