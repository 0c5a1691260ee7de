import * as z from 'zod';
import type { RuleOutcome } from '../evaluation/evaluation.ts';
import { MAX_CASES, MAX_NAME_LENGTH } from '../limits.ts';
import { given } from './given.ts';

/** The outcome of a rule, as a case writes it. */
const OUTCOMES = {
  holds: 'passed',
  'does not hold': 'failed',
  waits: 'waiting',
  'does not apply': 'inactive',
  'cannot be judged': 'undecided',
} as const satisfies Readonly<Record<string, RuleOutcome>>;

export type OutcomeWords = keyof typeof OUTCOMES;
export const OUTCOME_WORDS = Object.keys(OUTCOMES) as readonly OutcomeWords[];

export function outcomeOf(words: OutcomeWords): RuleOutcome {
  return OUTCOMES[words];
}

export function wordsFor(outcome: RuleOutcome): OutcomeWords {
  return OUTCOME_WORDS.find((words) => OUTCOMES[words] === outcome) ?? 'cannot be judged';
}

const outcomeWords = z.enum(OUTCOME_WORDS, { error: `one of ${OUTCOME_WORDS.join(', ')}` });

const caseSchema = z
  .strictObject(
    {
      name: z
        .string({ error: 'text' })
        .min(1, { error: 'text' })
        .max(MAX_NAME_LENGTH, { error: `at most ${MAX_NAME_LENGTH} characters` })
        .optional()
        .describe('What it shows, for people.'),
      given: given.describe('The pull request, in short.'),
      expect: z
        .record(z.string(), outcomeWords, { error: 'a mapping of rules, such as { small: does not hold }' })
        .refine((rules) => Object.keys(rules).length > 0, { error: 'at least one rule' })
        .describe(`The outcomes of rules, by their id: ${OUTCOME_WORDS.join(', ')}.`),
    },
    { error: 'a case: a mapping with `given` and `expect`' },
  )
  .meta({ id: 'case', description: 'A pull request in short, and the expected outcomes of rules.' });

export const casesSchema = z
  .array(caseSchema, { error: 'a list of cases' })
  .max(MAX_CASES, { error: `at most ${MAX_CASES} cases` })
  .describe('What `gatehouse test` checks.');

/** `.gatehouse.test.yml` */
export const casesFileSchema = z
  .strictObject({ cases: casesSchema }, { error: 'a mapping with `cases`' })
  .meta({ id: 'cases', title: 'Gatehouse cases', description: 'What `gatehouse test` checks: .gatehouse.test.yml' });

/** The cases of a policy file, whose other keys are read elsewhere. */
export const policyCasesSchema = z.object({ cases: casesSchema.optional() });
