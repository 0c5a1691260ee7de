import { compileName } from './names.ts';

/** Whether an account is a program: the forge says so, or the operator or the policy names it. */
export type IsMachine = (account: { readonly login: string; readonly bot: boolean }) => boolean;

/** `machineAccounts`: logins, with `*` for any characters. */
export function machinesAmong(machineAccounts: readonly string[]): IsMachine {
  const names = machineAccounts.map(compileName);
  return ({ login, bot }) => bot || names.some((name) => name.matches(login));
}
