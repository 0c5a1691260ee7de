import { ForgeError } from './port/forge-error.ts';
import type { WriteAccess } from './port/pull-request.ts';
import type { YesNo } from './port/yes-no.ts';

/** Where asking again would bring no other answer. */
const UNTOLD: readonly ForgeError['kind'][] = ['refused', 'invalid', 'too-large'];

/** Asks about each person once. */
export function makeWriteAccess(ask: (login: string) => Promise<YesNo>): WriteAccess {
  const answers = new Map<string, Promise<YesNo>>();

  async function answerFor(login: string): Promise<YesNo> {
    try {
      return await ask(login);
    } catch (error) {
      if (error instanceof ForgeError && UNTOLD.includes(error.kind)) {
        return 'unknown';
      }
      throw error;
    }
  }

  return (login) => {
    const key = login.toLowerCase();
    const answer = answers.get(key) ?? answerFor(key);
    answers.set(key, answer);
    return answer;
  };
}
