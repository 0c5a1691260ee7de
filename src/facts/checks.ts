import * as z from 'zod';
import type { Check, Checks } from '../forges/port/checks.ts';
import type { Forge } from '../forges/port/forge.ts';
import { contextKey, sameContext, statusContext } from '../forges/port/status-context.ts';
import { type AtForge, defineFact, type Permission, type Webhook } from './fact.ts';
import { flag, oneOf, text } from './given.ts';

const UNREAD: Checks = { checks: [], suites: [], complete: false };

const check = z.strictObject(
  {
    name: text.describe('Its name.'),
    state: text.optional().describe('As the forge names it. Default: success.'),
    by: text.optional().describe('Who reported it: a login, or the slug of an App. Default: ci.'),
    kind: oneOf('status', 'check-run').optional().describe('Default: status.'),
  },
  { error: 'a check, such as { name: build }' },
);

const suite = z.strictObject(
  {
    by: text.describe('Its App, as name[bot]. The check runs by the same are in it.'),
    state: text.optional().describe('queued (without runs), pending (in progress), or its result. Default: success.'),
  },
  { error: "a check suite, such as { by: 'ci[bot]', state: queued }" },
);

/** Its payload names the commit itself. */
const STATUS: Webhook = {
  event: 'status',
  actions: 'any action',
  starts: 'asking',
  commitAt: ['sha'],
};

const PERMISSIONS: readonly Permission[] = [
  { key: 'checks', access: 'read', title: 'Checks', of: 'repository' },
  // Which workflow a check run is of.
  { key: 'actions', access: 'read', title: 'Actions', of: 'repository' },
];

function onGitea(sendsStatuses: boolean): AtForge {
  const webhook = { ...STATUS, subscription: { name: 'status', title: 'Commit Status' } };
  return { permissions: [], webhooks: sendsStatuses ? [webhook] : [] };
}

/**
 * What others reported about the head. Neither what Gatehouse's own account reported counts, nor a status that this
 * replaced, nor one that has the name of the one that shows this verdict, whoever set it: a verdict must not depend on
 * itself. Others may use a name that Gatehouse gives to the status for another base branch.
 */
export const checks = defineFact({
  name: 'checks',
  unread: UNREAD,
  unreadAs: 'checks',
  unreadAfter: ['refused', 'invalid'],
  dependsOn: [],
  read: async ({ forge, pullRequest: { repository, head, base }, statusContext: template }) =>
    othersAmong(forge, await forge.checks(repository, head.sha), statusContext(template, base.branch)),
  change: 'unseen',
  forges: {
    github: {
      permissions: PERMISSIONS,
      webhooks: [
        { ...STATUS, subscription: { name: 'status', title: 'Status' } },
        {
          event: 'check_run',
          // The other actions of a run, which people cause, report nothing yet.
          actions: ['created', 'completed'],
          starts: 'asking',
          commitAt: ['check_run', 'head_sha'],
          subscription: { name: 'check_run', title: 'Check run' },
        },
        {
          event: 'check_suite',
          // It has ended, or begins once more.
          actions: ['completed', 'requested', 'rerequested'],
          starts: 'asking',
          commitAt: ['check_suite', 'head_sha'],
          subscription: { name: 'check_suite', title: 'Check suite' },
        },
      ],
    },
    gitea: onGitea(true),
    forgejo: onGitea(false),
  },
  given: {
    shape: {
      checks: z.array(check, { error: 'a list of checks' }).optional().describe('Newest first. Default: none.'),
      suites: z
        .array(suite, { error: 'a list of check suites' })
        .optional()
        .describe('Check suites, on GitHub, in addition to their runs. Default: none.'),
      checks_complete: flag.optional().describe('false: there are more checks, which could not be read.'),
    },
    of({ checks: given = [], suites = [], checks_complete: complete = true }) {
      const checks = given.map(({ name, state = 'success', by = 'ci', kind = 'status' }) => ({
        kind,
        name,
        reporter: by,
        state,
      }));
      const runs = checks.filter(({ kind }) => kind === 'check-run');
      return {
        checks,
        suites: suites.map(({ by, state = 'success' }) => ({
          reporter: by,
          state,
          runs: runs.filter(({ reporter }) => reporter === by).map((run) => run.state),
        })),
        complete,
      };
    },
  },
});

/** `own`: the name of the commit status that shows the verdict. */
async function othersAmong(forge: Forge, read: Checks, own: string): Promise<Checks> {
  const self = await forge.self();
  const isOthers = ({ reporter }: Pick<Check, 'reporter'>) => reporter.toLowerCase() !== self.toLowerCase();
  const keyOf = ({ kind, name }: Check) => JSON.stringify([kind, contextKey(forge.name, name)]);
  const newest = new Map(read.checks.toReversed().map((one) => [keyOf(one), one]));
  // Such as what the account said that Gatehouse had before.
  const isReplaced = (one: Check) => one.kind === 'status' && !isOthers(newest.get(keyOf(one)) ?? one);
  const counts = (one: Check) => !isReplaced(one) && isOthers(one) && !sameContext(forge.name, own, one.name);
  return { ...read, checks: read.checks.filter(counts), suites: read.suites.filter(isOthers) };
}
