import * as z from 'zod';
import type { Check, CheckSuites, Checks } from '../forges/port/checks.ts';
import type { Forge } from '../forges/port/forge.ts';
import { isContextOf } from '../forges/port/status-context.ts';
import { type AtForge, defineFact, type Permission, type Webhook } from './fact.ts';
import { flag, oneOf, text } from './given.ts';

/** Whether all checks matter, and with them check suites. */
type Part = 'suites';

const UNREAD: Checks = { checks: [], complete: false };

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
const STATUS: Webhook<Part> = {
  event: 'status',
  actions: 'any action',
  starts: 'asking',
  commitAt: ['sha'],
};

const PERMISSION: Permission = { key: 'checks', access: 'read', title: 'Checks', of: 'repository' };

function onGitea(sendsStatuses: boolean): AtForge<Part> {
  const webhook = { ...STATUS, subscription: { name: 'status', title: 'Commit Status' } };
  return { permissions: [], webhooks: sendsStatuses ? [webhook] : [] };
}

/** Whose checks are read, and how Gatehouse's own are told apart from those of others. */
interface OthersChecks {
  readonly repository: string;
  readonly sha: string;
  readonly statusContext: string;
}

/**
 * What others reported about the head. Neither what Gatehouse's own account reported counts, nor a status that has the
 * name of Gatehouse's own, whoever set it: a verdict must not depend on itself.
 */
export const checks = defineFact({
  name: 'checks',
  unread: UNREAD,
  unreadAs: 'checks',
  unreadAfter: ['refused', 'invalid'],
  dependsOn: [],
  read: ({ forge, pullRequest: { repository, head }, statusContext }, parts: readonly Part[]) =>
    readOthersChecks(forge, { repository, sha: head.sha, statusContext }, parts),
  change: {
    noticedBy: 'digest',
    plain: plainChecks,
    readAgain: ({ forge, repository, headSha: sha, statusContext, once }, parts) =>
      once(JSON.stringify([repository, sha, parts]), () =>
        readOthersChecks(forge, { repository, sha, statusContext }, parts),
      ),
  },
  forges: {
    github: {
      permissions: [PERMISSION],
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
          for: 'suites',
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
        .describe('Check suites, of GitHub, beside their runs. Default: none.'),
      checks_complete: flag.optional().describe('false: there are more checks, which could not be read.'),
    },
    of({ checks: given = [], suites = [], checks_complete: complete = true }) {
      const bySuite: CheckSuites = {
        suites: suites.map(({ by, state = 'success' }) => ({ id: by, reporter: by, state })),
        runs: given
          .filter(({ kind }) => kind === 'check-run')
          .map(({ name, state = 'success', by = 'ci' }) => ({
            kind: 'check-run',
            name,
            reporter: by,
            state,
            suite: by,
          })),
      };
      const listed = given.map(({ name, state = 'success', by = 'ci', kind = 'status' }) => ({
        kind,
        name,
        reporter: by,
        state,
      }));
      return { checks: listed, complete, bySuite };
    },
  },
});

async function readOthersChecks(
  forge: Forge,
  { repository, sha, statusContext }: OthersChecks,
  parts: readonly Part[],
): Promise<Checks> {
  const [self, { checks: all, complete, bySuite }] = await Promise.all([
    forge.self(),
    forge.checks(repository, sha, { suites: parts.includes('suites') }),
  ]);
  const isOthers = ({ reporter }: { readonly reporter: string }) => reporter.toLowerCase() !== self.toLowerCase();
  const counts = (one: Check) => isOthers(one) && !isContextOf(statusContext, one.name);
  return {
    checks: all.filter(counts),
    complete,
    ...(bySuite && { bySuite: { suites: bySuite.suites.filter(isOthers), runs: bySuite.runs.filter(counts) } }),
  };
}

function plainChecks({ checks: all, complete, bySuite }: Checks): unknown {
  const listed = all.map(({ kind, name, reporter, state }) => JSON.stringify([kind, name, reporter, state])).sort();
  const grouped = bySuite && [
    bySuite.suites.map(({ id, reporter, state }) => JSON.stringify([id, reporter, state])).sort(),
    bySuite.runs.map((run) => JSON.stringify([run.suite, run.name, run.reporter, run.state])).sort(),
  ];
  return [complete, listed, ...(grouped === undefined ? [] : [grouped])];
}
