import { ConfigurationError } from '../config/config.ts';
import type { Parsed } from '../config/environment.ts';
import { describeError } from '../log.ts';

/** The exit codes of sysexits.h that mean these things. */
export const EX_USAGE = 64;
export const EX_CONFIG = 78;

/** The command line is invalid. The message is for the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The configuration, or a {@link ConfigurationError} that names every fault of it. */
export function configured<T>(parsed: Parsed<T>): T {
  if (parsed.ok) {
    return parsed.config;
  }
  const { faults } = parsed;
  const head = `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:`;
  throw new ConfigurationError([head, ...faults.map((fault) => `  ${fault}`)].join('\n'));
}

/** Why something failed, for people: what was said by each error in the chain of causes, without credentials. */
export function reasonOf(error: unknown): string {
  const messages: string[] = [];
  for (let at: ReturnType<typeof describeError> | undefined = describeError(error); at !== undefined; at = at.cause) {
    // One that gathers others, such as a refused connection to each address of a name, has no words of its own.
    const words = at.message || at.code || at.type;
    if (!messages.some((before) => before.includes(words))) {
      messages.push(words);
    }
  }
  return messages.join(': ');
}
