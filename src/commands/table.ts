import { POLICY_COMMANDS } from './policy-commands.ts';
import type { Commands } from './program.ts';

/** All commands by their names, in the order of the help. */
export const COMMANDS: Commands = {
  serve: {
    summary: 'Receive webhooks; with --with-worker also review in the same process',
    load: async () => (await import('./serve.ts')).serve,
  },
  work: {
    summary: 'Review pull requests',
    load: async () => (await import('./serve.ts')).work,
  },
  migrate: {
    summary: 'Update the database schema; safe to run in parallel',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  setup: {
    summary: 'Connect Gatehouse to a forge, and write its settings',
    load: async () => (await import('./setup/setup.ts')).setup,
  },
  ...POLICY_COMMANDS,
  doctor: {
    summary: 'Check the configuration, the stores, the forge, and how a repository is set up',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  deliveries: {
    summary: 'List acknowledged webhooks',
    load: async () => (await import('./records/deliveries.ts')).deliveries,
  },
  audit: {
    summary: 'Print the recorded verdicts, of a pull request or since a time',
    load: async () => (await import('./records/audit.ts')).audit,
  },
  merges: {
    summary: 'Print what was merged, by whom, whether it had passed, and what was pushed directly',
    load: async () => (await import('./records/merges.ts')).merges,
  },
  report: {
    summary: 'Print which rules fail most, are overridden most, and take longest to hold',
    load: async () => (await import('./records/report.ts')).report,
  },
  replay: {
    summary: 'Requeue the review of a delivery, or with --dead-letters all failed reviews',
    load: async () => (await import('./records/replay.ts')).replay,
  },
  resync: {
    summary: 'Queue a resync of all repositories, or a review of all pull requests in those you name',
    load: async () => (await import('./resync.ts')).resync,
  },
  send: {
    summary: 'Sign a payload and send it, to test the settings',
    load: async () => (await import('./send.ts')).send,
  },
};
