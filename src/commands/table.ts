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
    summary: 'Bring the database schema up to date; any number may run at once',
    load: async () => (await import('./migrate.ts')).migrate,
  },
  setup: {
    summary: 'Connect Gatehouse to a forge, and write the settings that it runs with',
    load: async () => (await import('./setup/setup.ts')).setup,
  },
  ...POLICY_COMMANDS,
  doctor: {
    summary: 'Check the configuration, the stores, the forge, and how a repository is set up',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  deliveries: {
    summary: 'List the webhooks that were acknowledged',
    load: async () => (await import('./records/deliveries.ts')).deliveries,
  },
  audit: {
    summary: 'Print the record of verdicts: of a pull request, or since a time',
    load: async () => (await import('./records/audit.ts')).audit,
  },
  merges: {
    summary: 'Print what was merged, by whom, and whether it had passed; and what was pushed directly',
    load: async () => (await import('./records/merges.ts')).merges,
  },
  report: {
    summary: 'Print which rules fail most, are overridden most, and take longest to hold',
    load: async () => (await import('./records/report.ts')).report,
  },
  replay: {
    summary: 'Queue the review of a delivery again, or all failed reviews: --dead-letters',
    load: async () => (await import('./records/replay.ts')).replay,
  },
  resync: {
    summary: 'Queue a resync of all repositories, or of those named, to find what lost webhooks missed',
    load: async () => (await import('./resync.ts')).resync,
  },
  send: {
    summary: 'Sign a payload and send it, to test the settings',
    load: async () => (await import('./send.ts')).send,
  },
};
