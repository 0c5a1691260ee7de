import { ForgeError } from './port/forge-error.ts';
import type { YesNo } from './port/yes-no.ts';

const UNTOLD: readonly ForgeError['kind'][] = ['refused', 'invalid', 'too-large'];

/** Asks a question about each person once. Where asking again would bring no other answer, it stays open. */
export function askEachOnce(ask: (login: string) => Promise<YesNo>): typeof ask {
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
