import { type PolicyWorkers, parsePolicy } from '../../src/review/policy/parse.ts';

export const TITLES = `version: 1
rules:
  - id: conventional-title
    require: { title: '^feat: ' }
`;

export const TITLED = { '.gatehouse.yml': TITLES };

export const CONVENTIONAL_TITLES = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
`;

export const TWO_RULES = `${CONVENTIONAL_TITLES}  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b', in: ['**/*.ts'] }
`;

/** Parses in this process, without limits. */
export const IN_PROCESS: PolicyWorkers = {
  parsePolicy: async (_repository, text, origin, role) => parsePolicy(text, origin, role),
};

/** Neither an operator's policy nor a baseline. */
export const NO_OPERATOR_POLICIES = {
  fallback: undefined,
  baselineOf: async () => ({ kind: 'none' as const }),
} as const;
