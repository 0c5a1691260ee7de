import type { Commands } from './program.ts';

/** The commands that need no store: those of the npm package, which CI runs. */
export const POLICY_COMMANDS = {
  check: {
    summary: 'Check a policy file, .gatehouse.yml by default',
    load: async () => (await import('./check.ts')).check,
  },
  test: {
    summary: 'Run the cases of a policy: how its rules judge described pull requests',
    load: async () => (await import('./test.ts')).test,
  },
  explain: {
    summary: 'Judge a pull request without writing anything, and explain the result',
    load: async () => (await import('./explain.ts')).explain,
  },
} satisfies Commands;
