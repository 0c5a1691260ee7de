/**
 * How much a policy, and the change it judges, may ask of Gatehouse.
 *
 * Policies and pull requests are written by people Gatehouse does not know. Each limit is far above what a
 * policy that people can still read needs, and going over one is always said, never silently cut off.
 */

/** Size of a policy file, in bytes of UTF-8. */
export const POLICY_BYTES_LIMIT = 64 * 1024;
/** Mappings, lists and values in a policy, with each alias counted as often as it is used. */
export const POLICY_NODES_LIMIT = 20_000;
/** How deep mappings and lists may lie in one another in the YAML itself. */
export const POLICY_NESTING_LIMIT = 32;
/** Uses of YAML aliases (`*name`). */
export const POLICY_ALIASES_LIMIT = 50;
/** Faults shown of one policy file; the rest are counted. */
export const POLICY_FAULTS_LIMIT = 50;

export const RULES_LIMIT = 100;
/** Predicates in all rules of one policy together. */
export const PREDICATES_LIMIT = 500;
/** How deep `all`, `any` and `not` may lie in one another. */
export const CONDITION_DEPTH_LIMIT = 6;
/** Entries in any one list of patterns, globs, names or conditions. */
export const LIST_LIMIT = 100;

/** Characters of a rule's id, of its message, of a name (login, team, label), of a glob, of a pattern. */
export const RULE_ID_LENGTH_LIMIT = 64;
export const MESSAGE_LENGTH_LIMIT = 1_000;
export const NAME_LENGTH_LIMIT = 200;
export const GLOB_LENGTH_LIMIT = 200;
export const PATTERN_LENGTH_LIMIT = 500;
/** Instructions of a compiled pattern: `\w{1000}` is one of eight characters and a thousand instructions. */
export const PATTERN_SIZE_LIMIT = 2_000;

/**
 * Work of one evaluation, in steps: one instruction of a pattern's program at one character, or four characters where
 * the pattern's automaton need not be built any more (see pattern.ts). A step was measured to take some 20 ns, and 90 at
 * worst: the worst policy on the worst change ends within seconds, ordinary ones in milliseconds.
 */
export const MAX_STEPS = 100_000_000;

/** Lines or files named of one predicate; the others are counted. */
export const LOCATIONS_LIMIT = 200;
/** Characters of a line of the change that are kept for showing. Matching sees all of it. */
export const LINE_SHOWN_LIMIT = 200;

/** Size of a CODEOWNERS file, in characters. GitHub's own limit is 3 MB; such a file is not reviewable. */
export const CODE_OWNERS_LENGTH_LIMIT = 256 * 1024;
/** Teams that CODEOWNERS may make Gatehouse ask the forge for, in one review. */
export const CODE_OWNER_TEAMS_LIMIT = 50;
