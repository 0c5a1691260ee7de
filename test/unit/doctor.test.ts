import { type Check, type Context, ok, type Result, runCheck, type Site } from '../../src/commands/doctor/check.ts';
import { REQUIRED_STATUS } from '../../src/commands/doctor/forge.ts';
import { WEBHOOK_CHECKS } from '../../src/commands/doctor/webhook.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import type { Hook, HookList, Inspection, RequiredStatus } from '../../src/forges/port/inspection.ts';
import type { ReviewWorkers } from '../../src/review/workers/review-workers.ts';
import test from '../helpers/test.ts';

/** Where acme/widgets was found on a forge that tells these things. */
function contextOf(
  name: Forge['name'],
  inspection: Partial<Inspection>,
  settings: object = {},
  webhookUrl?: string,
): Context {
  const repository = { name: 'acme/widgets', defaultBranch: 'main', archived: false, mayWrite: 'yes' };
  const site = { forge: { name, inspection }, settings, repository } as unknown as Site;
  return {
    ...{ configuration: [], databaseUrl: undefined, pool: undefined, redisUrl: undefined, site, webhookUrl },
    ...{ workers: {} as ReviewWorkers, asked: 'acme/widgets', lacks: '', extras: [], eventsFor: [], hooks: [] },
    found: site as NonNullable<Context['found']>,
  };
}

async function requiredStatus(
  required: readonly RequiredStatus[],
  { forge = 'github', statusContext = 'gatehouse/{base}', appId }: Readonly<Record<string, string | undefined>> = {},
) {
  const protection = async () => ({ required, hasMergeQueue: false });
  const credentials = appId === undefined ? { kind: 'token' } : { kind: 'app', appId };
  const context = contextOf(forge as Forge['name'], { protection }, { statusContext, credentials });
  const [result] = await runCheck(REQUIRED_STATUS, context);
  return result ?? ok('');
}

test('a required status is right by its exact name and its source', async (t) => {
  const name = 'gatehouse/main';
  const gitea = { forge: 'gitea' };
  const app = { appId: '7' };
  t.is((await requiredStatus([{ context: name }])).result, 'ok');
  t.is((await requiredStatus([{ context: 'Gatehouse/Main' }])).result, 'ok');
  t.is((await requiredStatus([{ context: 'Gatehouse/Main' }], gitea)).result, 'wrong');
  t.is((await requiredStatus([{ context: 'gatehouse/*' }], gitea)).result, 'wrong');
  t.is((await requiredStatus([{ context: name, appId: '7' }], app)).result, 'ok');
  t.regex((await requiredStatus([{ context: name }], app)).message, /from any source: choose the App/);
  t.is((await requiredStatus([{ context: name }, { context: name, appId: '8' }], app)).result, 'wrong');
  t.is((await requiredStatus([{ context: name, appId: '8' }])).result, 'wrong');
  t.is((await requiredStatus([{ context: 'gatehouse' }], { statusContext: 'gatehouse' })).result, 'ok');
  t.is((await requiredStatus([])).result, 'wrong');
});

test('a status that is not required is told with those that are, and what to do', async (t) => {
  const none = await requiredStatus([]);
  t.is(none.message, 'gatehouse/main is not required on main: Gatehouse cannot block merges');
  t.regex(none.action ?? '', /^require gatehouse\/main there/);
  const others = await requiredStatus([{ context: 'ci' }, { context: 'gatehouse/master' }]);
  t.regex(others.message, /^gatehouse\/main is not required on main, which requires ci, gatehouse\/master: /);
});

const HOOK: Hook = {
  place: 'repository',
  url: 'https://gatehouse.example.com/webhook',
  active: 'yes',
  contentType: 'json',
  events: ['push'],
  hasSecret: 'unknown',
};

const listed = (...hooks: readonly Hook[]): readonly HookList[] => [{ place: 'repository', kind: 'listed', hooks }];

async function webhook(lists: readonly HookList[], url?: string) {
  const missingEvents = (events: readonly string[]) => ['push', 'pull'].filter((event) => !events.includes(event));
  const context = contextOf('gitea', { hooks: { lists: async () => lists, missingEvents } }, {}, url);
  const found: (readonly Result[])[] = [];
  for (const check of WEBHOOK_CHECKS) {
    found.push(await runCheck(check, context));
  }
  const [settings = [], events = []] = found;
  return {
    settings: settings.map(({ result }) => result),
    events: events[0]?.result,
    said: `${settings[0]?.message} → ${settings[0]?.action}`,
    hooks: context.hooks,
  };
}

test('the webhook of Gatehouse is the one with the URL that is given', async (t) => {
  const lists = listed(HOOK, { ...HOOK, url: 'https://ci.example.com/webhook' });
  t.is((await webhook(lists)).hooks.length, 2);
  t.deepEqual((await webhook(lists, HOOK.url)).hooks, [HOOK]);
  const withPassword = { ...HOOK, url: 'https://user:word@gatehouse.example.com/webhook?key=1' };
  t.is((await webhook(listed(withPassword), HOOK.url)).hooks.length, 1);
  t.is((await webhook(listed({ ...HOOK, url: 'https://ci.example.com/gatehouse/webhook' }))).hooks.length, 1);
});

test('the events of several webhooks count together, but not of one that is off', async (t) => {
  const pull = { ...HOOK, events: ['pull'] };
  t.is((await webhook(listed(HOOK, pull))).events, 'ok');
  const withLeftover = await webhook(listed(HOOK, { ...pull, active: 'no' }));
  t.is(withLeftover.events, 'wrong');
  t.deepEqual(withLeftover.settings, ['ok'], 'a webhook that is off beside one that is on is no fault');
});

test('that there is no webhook is known only where all places are listed', async (t) => {
  const hidden = { place: 'instance', kind: 'hidden' } as const;
  t.deepEqual((await webhook(listed())).settings, ['wrong']);
  t.deepEqual((await webhook([...listed(), hidden])).settings, ['unknown']);
});

const TO_HOOK = 'to https://gatehouse.example.com/webhook';
const NO_HOOK = 'none points to https://<host of the door>/webhook';
const ADD_HOOK = 'add one to https://<host of the door>/webhook, or correct the URL';

for (const [what, hooks, said] of [
  ['inactive', [{ ...HOOK, active: 'no' }], `the webhook of the repository, ${TO_HOOK} is inactive → activate it`],
  [
    'of another content type',
    [{ ...HOOK, contentType: 'form' }],
    `the webhook of the repository, ${TO_HOOK} does not send JSON: its deliveries are refused with 415 → set its content type to application/json`,
  ],
  ['deleted', [], `${NO_HOOK} → ${ADD_HOOK}`],
  [
    'to another path',
    [{ ...HOOK, url: 'https://gatehouse.example.com/webhooks' }],
    `${NO_HOOK}; others point to gatehouse.example.com → ${ADD_HOOK}`,
  ],
  [
    'of another service, whose path may be a secret',
    [{ ...HOOK, url: 'https://chat.example.com/hooks/1234' }],
    `${NO_HOOK}; others point to chat.example.com → ${ADD_HOOK}`,
  ],
] satisfies readonly (readonly [string, readonly Hook[], string])[]) {
  test(`a webhook that is ${what} is told with what to do`, async (t) => {
    const found = await webhook(listed(...hooks));
    t.deepEqual(found.settings, ['wrong']);
    t.is(found.said, said);
    t.is(found.events, hooks[0]?.url === HOOK.url ? 'wrong' : 'skipped');
  });
}

test('a webhook that leads elsewhere than asked is told with both', async (t) => {
  const elsewhere = 'https://elsewhere.example.com/webhook';
  t.is(
    (await webhook(listed(HOOK), elsewhere)).said,
    `none points to ${elsewhere}; others point to gatehouse.example.com → add one to ${elsewhere}, or correct the URL`,
  );
});

test('a check that hangs or fails is one result', async (t) => {
  const context = contextOf('gitea', {});
  const run = (work: Check['run'], limitMs?: number) => runCheck({ title: 'any', run: work }, context, limitMs);
  t.is((await run(() => new Promise<never>(() => {}), 1))[0]?.result, 'wrong');
  const failing = (kind: ForgeError['kind']) => async () => {
    throw new ForgeError(kind, 'GET /any: the forge said something');
  };
  const results = await Promise.all(
    (['refused', 'rate-limited', 'unavailable'] as const).map((kind) => run(failing(kind))),
  );
  t.deepEqual(
    results.map(([result]) => result?.result),
    ['unknown', 'unknown', 'wrong'],
  );
  t.deepEqual(await run(async () => ok('well')), [ok('well')]);
});
