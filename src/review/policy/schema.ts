import * as z from 'zod';
import { MAX_EXAMPLE_LENGTH, MAX_LIST_ENTRIES, MAX_MESSAGE_LENGTH, MAX_RULE_ID_LENGTH, MAX_RULES } from '../limits.ts';
import { predicates } from '../predicates/index.ts';
import { checked, names, oneOrMore, peopleOrTeams } from '../predicates/values.ts';
import { COMMENTS } from './comments.ts';
import { LEVELS } from './policy.ts';

/** The keys that may refine a predicate, and the predicates that each may stand beside. */
export const optionOwners: ReadonlyMap<string, readonly string[]> = collectOptions();

function collectOptions(): Map<string, string[]> {
  const owners = new Map<string, string[]>();
  for (const [name, predicate] of predicates) {
    for (const option of Object.keys(predicate.options.shape)) {
      owners.set(option, [...(owners.get(option) ?? []), name]);
    }
  }
  return owners;
}

const condition: z.ZodType = z.lazy(() => conditionObject);
const conditions = z
  .array(condition, { error: 'a list of conditions' })
  .min(1, { error: 'at least one condition' })
  .max(MAX_LIST_ENTRIES, { error: `at most ${MAX_LIST_ENTRIES} conditions` });

const OPTION_DESCRIPTIONS: Readonly<Record<string, string>> = {
  binary: 'ignore: binary files are left out. Without it what depends on one cannot be judged.',
  status: 'What happened to the file: added, modified, removed or renamed. Left out in `require`: all but removed.',
  except: 'Files that are not counted: globs from the root of the repository.',
  in: 'Files to look in: globs from the root of the repository; those that start with ! exclude.',
};

function vocabulary(): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {};
  for (const [name, predicate] of predicates) {
    shape[name] = predicate.schema.optional().describe(predicate.description);
    for (const [option, schema] of Object.entries(predicate.options.shape)) {
      if (schema instanceof z.ZodType) {
        shape[option] = schema.describe(OPTION_DESCRIPTIONS[option] ?? '');
      }
    }
  }
  return shape;
}

const conditionObject = z
  .strictObject(
    {
      ...vocabulary(),
      all: conditions.optional().describe('All of these hold.'),
      any: conditions.optional().describe('At least one of these holds.'),
      not: condition.optional().describe('This does not hold.'),
    },
    { error: 'a mapping of conditions, such as { label: ready }' },
  )
  .meta({ id: 'condition', description: 'Conditions; all that are named in one mapping must hold.' });

const rule = z
  .strictObject(
    {
      id: z
        .string({ error: 'a name' })
        .max(MAX_RULE_ID_LENGTH, { error: `a name of at most ${MAX_RULE_ID_LENGTH} characters` })
        .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/, { error: 'a name of letters, digits, ".", "_", "/" and "-"' })
        .describe(
          'The name of the rule, once in a policy. It is shown, and rules of the same id replace extended ones.',
        ),
      when: conditionObject.optional().describe('When the rule applies. Left out: always.'),
      require: conditionObject.optional().describe('What must hold where the rule applies.'),
      forbid: conditionObject.optional().describe('What must not hold where the rule applies.'),
      level: z
        .enum(LEVELS, { error: 'error, warn, info or observe' })
        .optional()
        .describe(
          'error (the default) fails the pull request; warn and info are only shown; observe is only recorded, for `gatehouse report`.',
        ),
      locked: z
        .literal(true, { error: 'true' })
        .optional()
        .describe('Only in the policy of the organisation’s policy repository: no other policy replaces this rule.'),
      message: z
        .string({ error: 'text' })
        .min(1, { error: 'text' })
        .max(MAX_MESSAGE_LENGTH, { error: `at most ${MAX_MESSAGE_LENGTH} characters` })
        .optional()
        .describe('What to tell people when the rule does not hold, as plain text.'),
      example: z
        .string({ error: 'text' })
        .min(1, { error: 'text' })
        .max(MAX_EXAMPLE_LENGTH, { error: `at most ${MAX_EXAMPLE_LENGTH} characters` })
        .optional()
        .describe('What would be right, such as a title: shown with what the rule asks for.'),
    },
    { error: 'a rule: a mapping with `id`, and `require` or `forbid`' },
  )
  .meta({ id: 'rule', description: 'One rule. It has an id, and at least one of require and forbid.' });

/** Names only, so that nothing in it can lead to another host or out of the forge's API path. */
const EXTENDS =
  /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}@[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/;

const trailerKey = checked('the key of a trailer', (key) =>
  /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(key)
    ? undefined
    : 'the key of a trailer has letters, digits and "-", without ":"',
);

const policyShape = {
  version: z
    .literal(1, { error: '1, the version that this Gatehouse reads' })
    .describe('The version of this format: 1.'),
  extends: z
    .string({ error: 'owner/repo@ref' })
    .regex(EXTENDS, { error: 'owner/repo@ref' })
    .refine((text) => !text.includes('..'), { error: 'owner/repo@ref' })
    .optional()
    .describe('Another repository of the same forge whose policy comes first: owner/repo@ref. One level.'),
  comments: z
    .enum(COMMENTS, { error: 'off, summary or all' })
    .optional()
    .describe(
      'What to post in addition to the status: off, summary (one comment), or all (the default: also comments at lines).',
    ),
  override: z
    .strictObject(
      {
        by: peopleOrTeams
          .refine((members) => !members.includes('CODEOWNERS'), { error: 'a login or a team, not CODEOWNERS' })
          .describe('Who may override: logins and teams (@organisation/team). They must be able to write too.'),
      },
      { error: 'a mapping with `by`' },
    )
    .optional()
    .describe('Who may override a rule of a pull request, with a comment that gives the reason. Default: no one.'),
  author_trailers: oneOrMore(trailerKey, 'the key of a trailer')
    .optional()
    .describe('Trailers of commit messages that name a co-author, in addition to Co-authored-by, such as Assisted-by.'),
  machine_accounts: names
    .optional()
    .describe(
      'Accounts of machines, in addition to those that the forge or the operator names: logins, * for any characters.',
    ),
  rules: z
    .array(rule, { error: 'a list of rules' })
    .max(MAX_RULES, { error: `at most ${MAX_RULES} rules` })
    .optional()
    .describe('The rules. Can only be left out with extends.'),
};

const MAPPING = { error: 'a mapping with `version` and `rules`' };

/** What a review reads a policy with. Its cases are read apart. */
export const policySchema = z.strictObject({ ...policyShape, cases: z.unknown().optional() }, MAPPING);
