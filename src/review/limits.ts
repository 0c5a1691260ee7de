/**
 * How much a policy, and the change it judges, may ask of Gatehouse.
 *
 * Policies and pull requests are written by people Gatehouse does not know. Each limit is far above what a
 * policy that people can still read needs, and going over one is always said, never silently cut off.
 */

/** Size of a policy file, in bytes of UTF-8. */
export const MAX_POLICY_BYTES = 64 * 1024;
/** Mappings, lists and values in a policy, with each alias counted as often as it is used. */
export const MAX_POLICY_NODES = 20_000;
/**
 * Characters of all values of a policy, with each alias counted as often as it is used: bounds what patterns cost to
 * compile.
 */
export const MAX_POLICY_CHARACTERS = 64 * 1024;
/** How deep mappings and lists may be nested in the YAML itself. */
export const MAX_POLICY_NESTING = 32;
/** Uses of YAML aliases (`*name`). */
export const MAX_POLICY_ALIASES = 50;
/** Faults shown of one policy file; the rest are counted. */
export const MAX_POLICY_FAULTS = 50;

/** Size of a file of cases (`.gatehouse.test.yml`), in bytes of UTF-8. */
export const MAX_CASES_BYTES = 1024 * 1024;
export const MAX_CASES = 5_000;
/** Mappings, lists and values in a file of cases: fifty for each. */
export const MAX_CASES_NODES = 250_000;
/** Uses of YAML aliases in a file of cases. */
export const MAX_CASES_ALIASES = 5_000;

export const MAX_RULES = 100;
/** Predicates in all rules of one policy together. */
export const MAX_PREDICATES = 500;
/** How deep `all`, `any` and `not` may lie in one another. */
export const MAX_CONDITION_DEPTH = 6;
/** Entries in any one list of patterns, globs, names or conditions. */
export const MAX_LIST_ENTRIES = 100;

/** Characters of a rule's id, of its message, of a name (login, team, label), of a glob, of a pattern. */
export const MAX_RULE_ID_LENGTH = 64;
/** Characters of a rule's example. */
export const MAX_EXAMPLE_LENGTH = 200;
export const MAX_MESSAGE_LENGTH = 1_000;
export const MAX_NAME_LENGTH = 200;
export const MAX_GLOB_LENGTH = 200;
export const MAX_PATTERN_LENGTH = 500;
/** Instructions of a compiled pattern: `\w{1000}` is one of eight characters and a thousand instructions. */
export const MAX_PATTERN_SIZE = 2_000;

/** Characters of the reason of an override. */
export const MAX_REASON_LENGTH = 200;
/** People whose permission is read because they override a rule, one pull request. */
export const MAX_OVERRIDERS = 20;

/** People of whom the forge is asked in one review whether they are members of an organisation. */
export const MAX_ASKED_MEMBERS = 50;

/** Lines or files named of one predicate; the others are counted. */
export const MAX_LOCATIONS = 200;
/** Characters of a line of the change that are kept for showing. Matching sees all of it. */
export const MAX_LINE_SHOWN = 200;

/** Characters of a name or wildcard between two slashes of CODEOWNERS. No file system has longer names. */
export const MAX_CODE_OWNERS_SEGMENT = 255;
/** Teams that CODEOWNERS may make Gatehouse ask the forge for, in one review. */
export const MAX_CODE_OWNER_TEAMS = 50;

/** Size of what a task of a worker returns, as v8.serialize writes it: the event loop reads it at once. */
export const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
