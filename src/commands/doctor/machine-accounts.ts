import { machinesAmong } from '../../facts/authors/machines.ts';
import { joinPeople, operatorsPeople, type PeopleSettings } from '../../facts/authors/people-settings.ts';
import type { Forge } from '../../forges/port/forge.ts';
import type { InspectedAccount } from '../../forges/port/inspection.ts';
import { type Finding, ok, unknown } from './finding.ts';

export const MACHINES_CHECK = 'machine accounts';

/** Names that programs have, and the agents whose names are known. */
const LOOKS_LIKE_ONE =
  /(?:bot|\bci)$|\[bot\]|^(?:claude|codex|copilot|cursor|dependabot|devin|jules|renovate)(?:$|[-_.])|[-_.](?:agent|ai)$/i;
const MAX_NAMED = 10;

/** Which of those who may write look like a program, and are named neither by the operator nor by the policy. */
export async function checkMachineAccounts(
  forge: Forge,
  repository: string,
  policy: PeopleSettings,
): Promise<readonly Finding[]> {
  const { accounts } = forge.inspection;
  if (accounts === undefined) {
    return [ok(MACHINES_CHECK, 'the forge says who is a bot; MACHINE_ACCOUNTS adds to it')];
  }
  const [people, self] = await Promise.all([accounts(repository), forge.self()]);
  const isMachine = machinesAmong(joinPeople(operatorsPeople(forge), policy).machineAccounts);
  const unlisted = people.filter(
    (account) => account.login !== self && looksLikeOne(account) && !isMachine({ login: account.login, bot: false }),
  );
  if (unlisted.length === 0) {
    return [ok(MACHINES_CHECK, `none of ${people.length} accounts that may write looks like an unlisted bot`)];
  }
  const named = unlisted.slice(0, MAX_NAMED).map(({ login }) => login);
  const more = unlisted.length > MAX_NAMED ? ` and ${unlisted.length - MAX_NAMED} more` : '';
  const message = `${named.join(', ')}${more} may be a bot, and the forge does not say so: an approval counts as a person’s`;
  return [unknown(MACHINES_CHECK, message, 'if it is one, name it in MACHINE_ACCOUNTS')];
}

function looksLikeOne({ login, fullName, loginProhibited }: InspectedAccount): boolean {
  return loginProhibited || LOOKS_LIKE_ONE.test(login) || LOOKS_LIKE_ONE.test(fullName);
}
