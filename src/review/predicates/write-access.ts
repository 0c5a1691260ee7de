import type { Facts } from '../../facts/table.ts';
import { mayWrite } from '../../facts/writers.ts';
import { quotedList, say, type Text } from '../text.ts';

/** Whether somebody may write to the repository; undefined where it is not known. */
export function isWriter(login: string, { writers }: Pick<Facts, 'writers'>): boolean | undefined {
  const answer = mayWrite(writers, login);
  return answer === 'unknown' ? undefined : answer === 'yes';
}

/** Of whom it is not known, and what to do about it. Empty where nobody is left. */
export function permissionUnknown(logins: readonly string[], facts: Pick<Facts, 'writers'>): Text {
  return logins.length === 0
    ? []
    : say`; whether ${quotedList(logins)} can write to the repository could not be read${adviceIn(facts)}`;
}

/** What is still to come from whoever operates Gatehouse, as a noun. Empty where nobody is left. */
export function permissionAwaited(logins: readonly string[], facts: Pick<Facts, 'writers'>): Text {
  return logins.length === 0 ? [] : say`Gatehouse to see whether ${quotedList(logins)} can write${adviceIn(facts)}`;
}

function adviceIn({ writers: { advice } }: Pick<Facts, 'writers'>): Text {
  return advice === undefined ? [] : [`: ${advice}`];
}
