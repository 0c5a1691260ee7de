import { fewAtOnce } from '../common/few-at-once.ts';
import { ForgeError } from './port/forge-error.ts';
import { isName } from './port/names.ts';
import type { OrganisationMembers } from './port/pull-request.ts';

/**
 * What the forge says of somebody. `invited`: certainly no member yet. `not-shown`: no member, or one who is hidden
 * from Gatehouse's account.
 */
export type Membership = 'member' | 'invited' | 'not-shown';

/** `seesAll`: whether a member that is not shown does not exist. Asked only where it matters. */
export async function membersAmong(
  logins: readonly string[],
  ask: (login: string) => Promise<Membership>,
  seesAll: () => Promise<boolean>,
): Promise<OrganisationMembers> {
  // No account has a name that would step through the path of a URL.
  const answers = await fewAtOnce(logins.filter(isName), async (login) => [login, await ask(login)] as const);
  return {
    members: answers.flatMap(([login, membership]) => (membership === 'member' ? [login] : [])),
    complete: answers.every(([, membership]) => membership !== 'not-shown') || (await seesAll()),
  };
}

/** Where Gatehouse's account has no permission to ask. */
export async function unlessRefused(ask: () => Promise<Membership>): Promise<Membership> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof ForgeError && error.status === 403) {
      return 'not-shown';
    }
    throw error;
  }
}
