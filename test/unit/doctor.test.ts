import test from 'ava';
import { bounded, ok } from '../../src/commands/doctor/finding.ts';
import { judgeRequiredStatus } from '../../src/commands/doctor/required-status.ts';
import { gatehouseHooks, judgeAnswers, judgeHooks } from '../../src/commands/doctor/webhook.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import type { Hook, HookList } from '../../src/forges/port/inspection.ts';

const HOOK: Hook = {
  id: '1',
  place: 'repository',
  url: 'https://gatehouse.example.com/webhook',
  active: true,
  contentType: 'json',
  events: ['push'],
  hasSecret: undefined,
};

const listed = (...hooks: readonly Hook[]): readonly HookList[] => [{ place: 'repository', kind: 'listed', hooks }];

const factsOf = (lists: readonly HookList[], expectedUrl?: string) => ({
  repository: 'acme/widgets',
  forge: 'Gitea',
  lists,
  expectedUrl,
  missingEvents: (events: readonly string[]) => ['push', 'pull'].filter((event) => !events.includes(event)),
  lastStored: undefined,
});

function requiredStatus(
  required: readonly { readonly context: string; readonly appId?: string }[],
  { arePatterns = false, template = 'gatehouse/{base}', appId }: Readonly<Record<string, unknown>> = {},
) {
  const protection = { required, arePatterns: arePatterns === true, hasMergeQueue: false };
  const app = appId === undefined ? {} : { appId: String(appId) };
  const forge = arePatterns === true ? 'gitea' : 'github';
  return judgeRequiredStatus(protection, { forge, branch: 'main', template: String(template), ...app });
}

test('a required status is right by its exact name and its source', (t) => {
  const name = 'gatehouse/main';
  t.is(requiredStatus([{ context: name }]).result, 'ok');
  t.is(requiredStatus([{ context: 'Gatehouse/Main' }]).result, 'ok');
  t.is(requiredStatus([{ context: 'Gatehouse/Main' }], { arePatterns: true }).result, 'wrong');
  t.is(requiredStatus([{ context: name, appId: '7' }], { appId: 7 }).result, 'ok');
  t.regex(requiredStatus([{ context: name }], { appId: 7 }).message, /from any source: choose the App/);
  t.is(requiredStatus([{ context: name }, { context: name, appId: '8' }], { appId: 7 }).result, 'wrong');
  t.is(requiredStatus([{ context: name, appId: '8' }]).result, 'wrong');
  t.is(requiredStatus([{ context: 'gatehouse' }], { template: 'gatehouse' }).result, 'ok');
  t.is(requiredStatus([]).result, 'wrong');
});

test('a required pattern is named, and takes no time whatever it is', (t) => {
  const patterns = { arePatterns: true };
  t.regex(requiredStatus([{ context: 'gatehouse/*' }], patterns).message, /requires the pattern gatehouse\/\*/);
  t.regex(requiredStatus([{ context: '*' }], patterns).message, /requires the pattern \*/);
  const hostile = `${'*a'.repeat(120)}b`;
  t.regex(
    requiredStatus([{ context: hostile }], { ...patterns, template: 'a'.repeat(200) }).message,
    /is not required/,
  );
});

test('the webhook of Gatehouse is the one with the URL that is given', (t) => {
  const other = { ...HOOK, id: '2', url: 'https://ci.example.com/webhook' };
  const lists = listed(HOOK, other);
  t.is(gatehouseHooks({ lists, expectedUrl: undefined }).length, 2);
  t.deepEqual(gatehouseHooks({ lists, expectedUrl: HOOK.url }), [HOOK]);
  const withPassword = { ...HOOK, url: 'https://user:word@gatehouse.example.com/webhook?key=1' };
  t.is(gatehouseHooks({ lists: listed(withPassword), expectedUrl: HOOK.url }).length, 1);
});

test('the events of several webhooks count together, but not of one that is off', (t) => {
  const pull = { ...HOOK, id: '2', events: ['pull'] };
  const events = (...hooks: readonly Hook[]) => judgeHooks(factsOf(listed(...hooks))).at(-1)?.result;
  t.is(events(HOOK, pull), 'ok');
  t.is(events(HOOK, { ...pull, active: false }), 'wrong');
});

test('that there is no webhook is known only where all places are listed', (t) => {
  const hidden = { place: 'instance', kind: 'hidden' } as const;
  const ofWebhook = (lists: readonly HookList[]) => judgeHooks(factsOf(lists))[0];
  t.is(ofWebhook(listed())?.result, 'wrong');
  t.is(ofWebhook([...listed(), hidden])?.result, 'unknown');
  t.is(ofWebhook([...listed({ ...HOOK, url: 'https://gatehouse.example.com/webhooks' }), hidden])?.result, 'wrong');
});

test('a secret is right only where Gatehouse itself accepted a delivery', (t) => {
  const facts = factsOf(listed(HOOK));
  const at = '2026-01-31T12:00:00Z';
  const judge = (statuses: readonly number[], stored: boolean | undefined) =>
    judgeAnswers(
      facts,
      statuses.map((status) => ({ deliveryId: 'any', status, at })),
      () => stored,
    ).map(({ result }) => result);
  t.deepEqual(judge([200], true), ['ok', 'ok']);
  t.deepEqual(judge([200], false), ['wrong', 'unknown']);
  t.deepEqual(judge([401, 200], true), ['wrong', 'wrong']);
  t.deepEqual(judge([200, 401], true), ['ok', 'ok']);
  t.deepEqual(judge([0, 502, 401], true), ['wrong', 'wrong']);
  t.deepEqual(judge([], true), ['unknown', 'unknown']);
  t.deepEqual(
    judgeAnswers(facts, 'not-allowed', () => undefined).map(({ result }) => result),
    ['unknown', 'unknown'],
  );
});

test('a check that hangs or fails is one finding', async (t) => {
  const never = () => new Promise<never>(() => {});
  t.like((await bounded('slow', never, 1))[0], { check: 'slow', result: 'wrong' });
  const failing = (kind: ForgeError['kind']) => async () => {
    throw new ForgeError(kind, 'GET /any: the forge said something');
  };
  const results = await Promise.all(
    (['refused', 'rate-limited', 'unavailable'] as const).map((kind) => bounded('any', failing(kind))),
  );
  t.deepEqual(
    results.map(([finding]) => finding?.result),
    ['unknown', 'unknown', 'wrong'],
  );
  t.deepEqual(await bounded('any', async () => [ok('any', 'well')]), [ok('any', 'well')]);
});
