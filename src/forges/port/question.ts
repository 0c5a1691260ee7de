import type { z } from 'zod';
import type { ForgeName } from './forges.ts';

/** One `GET` of a forge's API about a pull request, for a fact that needs no more. */
export interface Question<Answer> {
  /** Below the address of the API, with `{owner}`, `{repo}` and `{number}` in it. */
  readonly path: string;
  /** What the answer has to look like, and what it becomes. */
  readonly shape: z.ZodType<Answer>;
}

/** The same question, as each forge is asked it. */
export type Questions<Answer> = Readonly<Record<ForgeName, Question<Answer>>>;
