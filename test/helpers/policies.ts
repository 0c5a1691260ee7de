/** One rule: how titles begin. */
export const TITLES = `version: 1
rules:
  - id: conventional-title
    require: { title: '^feat: ' }
`;

/** The same, as files of a repository. */
export const TITLED = { '.gatehouse.yml': TITLES };

/** One rule that allows more beginnings of titles. */
export const CONVENTIONAL_TITLES = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
`;

/** The same rule, and one about added lines. */
export const TWO_RULES = `${CONVENTIONAL_TITLES}  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b', in: ['**/*.ts'] }
`;

/** For `readPresentRules`: neither an operator's policy nor a baseline. */
export const NO_OPERATOR_POLICIES = {
  fallback: undefined,
  baselineOf: async () => ({ kind: 'none' as const }),
  statusContext: 'gatehouse/{base}',
} as const;
