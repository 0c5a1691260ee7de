import test from 'ava';
import { checkMachineAccounts } from '../../src/commands/doctor/machine-accounts.ts';
import { NO_PEOPLE_SETTINGS } from '../../src/facts/authors/people-settings.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import type { InspectedAccount } from '../../src/forges/port/inspection.ts';

const account = (login: string, more: Partial<InspectedAccount> = {}): InspectedAccount => ({
  login,
  fullName: '',
  loginProhibited: false,
  ...more,
});

async function messageFor(
  accounts: readonly InspectedAccount[],
  listed: readonly string[],
  policys: readonly string[],
) {
  const forge = {
    machineAccounts: listed,
    self: async () => 'gatehouse-bot',
    inspection: { accounts: async () => accounts } as Partial<Forge['inspection']>,
  } as Partial<Forge>;
  const [finding] = await checkMachineAccounts(forge as Forge, 'acme/widgets', {
    ...NO_PEOPLE_SETTINGS,
    machineAccounts: policys,
  });
  return `${finding?.result}: ${finding?.message}`;
}

test('doctor names accounts that look like a bot and are not listed', async (t) => {
  const accounts = [
    account('alice'),
    account('talbott'),
    account('Release-Bot'),
    account('helper', { fullName: 'Deploy Bot' }),
    account('claude'),
    account('locked', { loginProhibited: true }),
    account('gatehouse-bot'),
  ];
  t.regex(await messageFor(accounts, [], []), /^unknown: Release-Bot, helper, claude, locked may be a bot/);
  t.regex(await messageFor(accounts, ['*-bot', 'claude'], ['helper']), /^unknown: locked may be a bot/);
  t.regex(await messageFor(accounts, ['*'], []), /^ok: none of 7 accounts/);
  const many = Array.from({ length: 15 }, (_, index) => account(`${index}-bot`));
  t.regex(await messageFor(many, [], []), /9-bot and 5 more may be a bot/);
});

test('doctor lists nobody where the forge itself says who is a bot', async (t) => {
  const forge = { machineAccounts: [], inspection: {} as Forge['inspection'] } as Partial<Forge>;
  const [finding] = await checkMachineAccounts(forge as Forge, 'acme/widgets', NO_PEOPLE_SETTINGS);
  t.is(finding?.result, 'ok');
});
