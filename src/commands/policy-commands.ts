import type { Commands } from './program.ts';

/** The commands for whoever writes a policy, none of which needs a store: those of the npm package. */
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
  init: {
    summary: 'Print a policy of recipes that the last merged pull requests met; --write saves it',
    load: async () => (await import('./history/init.ts')).init,
  },
  backtest: {
    summary: 'Judge the last merged pull requests: which of them a policy would have stopped',
    load: async () => (await import('./history/backtest.ts')).backtest,
  },
} satisfies Commands;
