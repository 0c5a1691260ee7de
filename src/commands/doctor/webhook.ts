import type { Hook, HookList } from '../../forges/port/inspection.ts';
import { type Check, type Context, needed, ok, type Result, unknown, wrong } from './check.ts';

export const WEBHOOK_CHECKS: readonly Check[] = [
  { title: 'webhook', run: checkWebhook },
  { title: 'webhook events', run: checkEvents },
];

async function checkWebhook(context: Context): Promise<Result | readonly Result[]> {
  const { forge, repository } = needed(context.found, context.lacks);
  const { webhookUrl } = context;
  const lists = await forge.inspection.hooks.lists(repository.name);
  const all = lists.flatMap((list) => (list.kind === 'listed' ? list.hooks : []));
  const own = all.filter(({ url }) =>
    webhookUrl === undefined ? URL.parse(url)?.pathname.endsWith('/webhook') : shown(url) === shown(webhookUrl),
  );
  // One that is off beside one that is on is a leftover.
  const active = own.filter((hook) => hook.active !== 'no');
  context.hooks = active.length > 0 ? active : own;
  const target = webhookUrl === undefined ? 'https://<host of the door>/webhook' : shown(webhookUrl);
  return context.hooks.length > 0 ? context.hooks.map(judgeSettings) : noHook(lists, all, target);
}

function judgeSettings({ place, url, active, contentType, hasSecret }: Hook): Result {
  const what = `of the ${place}, to ${shown(url)}`;
  if (active === 'no') {
    return wrong(`the webhook ${what} is inactive`, 'activate it');
  }
  if (contentType !== 'json') {
    const message = `the webhook ${what} does not send JSON: its deliveries are refused with 415`;
    return wrong(message, 'set its content type to application/json');
  }
  if (hasSecret === 'no') {
    const message = `the webhook ${what} has no secret: its deliveries are refused with 401`;
    return wrong(message, 'give it the secret of WEBHOOK_SECRET');
  }
  return ok(what);
}

function noHook(lists: readonly HookList[], others: readonly Hook[], target: string): Result {
  const hidden = lists.flatMap(({ place, kind }) => (kind === 'hidden' ? [`the ${place}`] : []));
  // Only their hosts: the path of another service's webhook can be a secret.
  const hosts = [...new Set(others.map(({ url }) => URL.parse(url)?.host ?? 'an invalid URL'))].join(', ');
  const seen = `none points to ${target}${hosts && `; others point to ${hosts}`}`;
  return hidden.length === 0
    ? wrong(seen, `add one to ${target}, or correct the URL`)
    : unknown(
        `cannot be checked: these credentials cannot list the webhooks of ${hidden.join(', ')}`,
        `if there is none, add one to ${target}`,
      );
}

/** The events of several count together. */
async function checkEvents({ found, lacks, hooks, eventsFor }: Context): Promise<Result> {
  const { forge } = needed(found, lacks);
  needed(hooks[0], 'no webhook was found');
  const events = hooks.flatMap((hook) => hook.events);
  const missing = forge.inspection.hooks.missingEvents(events, eventsFor);
  return missing.length === 0
    ? ok('all that are needed')
    : wrong(`missing: ${missing.join(', ')}`, 'add them to the webhook');
}

/** Without user, password and query. */
function shown(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'an invalid URL' : `${parsed.origin}${parsed.pathname}`;
}
