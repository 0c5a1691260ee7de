import type { Hook, HookAnswer, HookList, HookPlace } from '../../forges/port/inspection.ts';
import { REFUSAL_ADVICE } from '../../jobs/resync/recover-deliveries.ts';
import { type Finding, ok, skipped, unknown, wrong } from './finding.ts';

/** What was read of the webhooks of a repository. */
export interface WebhookFacts {
  readonly repository: string;
  /** The forge, as people write it. */
  readonly forge: string;
  readonly lists: readonly HookList[];
  /** What `--url` says; without it, each that ends in /webhook counts as Gatehouse's. */
  readonly expectedUrl: string | undefined;
  readonly missingEvents: (events: readonly string[]) => readonly string[];
  /** When the newest webhook of the repository was stored; undefined: none is, or the database cannot be read. */
  readonly lastStored: Date | undefined;
}

export const WEBHOOK_CHECKS = ['webhook', 'webhook events', 'webhook answers', 'webhook secret'] as const;
const AFTER_WEBHOOK = WEBHOOK_CHECKS.slice(1);

const PLACES: Readonly<Record<HookPlace, string>> = {
  app: 'the App',
  repository: 'the repository',
  owner: 'its owner',
  instance: 'the whole forge',
};

/** Which webhooks are Gatehouse's, as far as they can be listed. */
export function gatehouseHooks({ lists, expectedUrl }: Pick<WebhookFacts, 'lists' | 'expectedUrl'>): readonly Hook[] {
  return listed(lists).filter(({ url }) =>
    expectedUrl === undefined ? pathOf(url) === '/webhook' : shown(url) === shown(expectedUrl),
  );
}

function listed(lists: readonly HookList[]): readonly Hook[] {
  return lists.flatMap((list) => (list.kind === 'listed' ? list.hooks : []));
}

/** Whether there is a webhook, and whether it is as it must be; its answers are judged by {@link judgeAnswers}. */
export function judgeHooks(facts: WebhookFacts): readonly Finding[] {
  const hooks = gatehouseHooks(facts);
  if (hooks.length === 0) {
    return [noHook(facts), ...skipped(AFTER_WEBHOOK, 'no webhook was found')];
  }
  const active = hooks.filter((hook) => hook.active !== false);
  const events = [...new Set(active.flatMap((hook) => hook.events))];
  const missing = facts.missingEvents(events);
  return [
    ...hooks.map(judgeSettings),
    missing.length === 0
      ? ok('webhook events', 'all that are needed')
      : wrong('webhook events', `missing: ${missing.join(', ')}`, 'add them to the webhook'),
  ];
}

function judgeSettings({ place, url, active, contentType, hasSecret }: Hook): Finding {
  const what = `of ${PLACES[place]}, to ${shown(url)}`;
  if (active === false) {
    return wrong('webhook', `the webhook ${what} is inactive`, 'activate it');
  }
  if (contentType !== 'json') {
    const message = `the webhook ${what} does not send JSON: its deliveries are refused with 415`;
    return wrong('webhook', message, 'set its content type to application/json');
  }
  if (hasSecret === false) {
    const message = `the webhook ${what} has no secret: its deliveries are refused with 401`;
    return wrong('webhook', message, 'give it the secret of WEBHOOK_SECRET');
  }
  return ok('webhook', what);
}

function noHook({ repository, lists, expectedUrl, lastStored }: WebhookFacts): Finding {
  const all = listed(lists);
  const target = expectedUrl === undefined ? 'https://<host of the door>/webhook' : shown(expectedUrl);
  const near = all.find(({ url }) => isNear(url, expectedUrl));
  if (near !== undefined) {
    const message = `the webhook of ${PLACES[near.place]} goes to ${shown(near.url)}`;
    return wrong('webhook', message, `set its URL to ${target}`);
  }
  const add = `add one to ${target}`;
  const hidden = lists.flatMap(({ place, kind }) => (kind === 'hidden' ? [PLACES[place]] : []));
  if (hidden.length === 0) {
    const others = all.length === 0 ? '' : `; there are others, to ${hostsOf(all)}`;
    return wrong('webhook', `none leads to Gatehouse${others}`, add);
  }
  const seen = lists.flatMap(({ place, kind }) => (kind === 'listed' ? [PLACES[place]] : []));
  const without = seen.length === 0 ? '' : `${seen.join(' and ')} has none to Gatehouse, and `;
  const message = `cannot be checked: ${without}these credentials may not list those of ${hidden.join(', ')}`;
  return unknown('webhook', `${message}. ${storedText(repository, lastStored)}`, `if there is none, ${add}`);
}

/** Probably meant for Gatehouse: the same host, or the same last word. */
function isNear(url: string, expectedUrl: string | undefined): boolean {
  const path = pathOf(url);
  if (expectedUrl === undefined) {
    return /\/webhooks?\/?$/.test(path);
  }
  return path === '/webhook' || URL.parse(url)?.host === URL.parse(expectedUrl)?.host;
}

function storedText(repository: string, lastStored: Date | undefined): string {
  return lastStored === undefined
    ? `The database has no delivery of ${repository}`
    : `The last delivery of ${repository} was accepted at ${lastStored.toISOString()}`;
}

/**
 * `answers`: undefined where nobody, or not these credentials, may read them. `isStored`: undefined where it cannot be
 * told.
 */
export function judgeAnswers(
  { repository, forge, lastStored }: Pick<WebhookFacts, 'repository' | 'forge' | 'lastStored'>,
  answers: readonly HookAnswer[] | 'not-offered' | 'not-allowed',
  isStored: (answer: HookAnswer) => boolean | undefined,
): readonly Finding[] {
  const both = (message: string, action: string) =>
    ['webhook answers', 'webhook secret'].map((check) => unknown(check, `cannot be checked: ${message}`, action));
  if (answers === 'not-offered') {
    const message = `${forge} has no API for the answers to deliveries. ${storedText(repository, lastStored)}`;
    return both(message, 'look at the recent deliveries on the webhook’s page, or send a test delivery');
  }
  if (answers === 'not-allowed') {
    const message = `these credentials may not read the deliveries. ${storedText(repository, lastStored)}`;
    return both(message, 'give the permission Webhooks: read, or look at the recent deliveries on the webhook’s page');
  }
  const [newest] = answers;
  return newest === undefined
    ? both(`${forge} shows no recent delivery`, 'push to a pull request, or redeliver one')
    : [judgeNewest(newest, isStored), judgeSecret(answers, isStored)];
}

function judgeNewest(newest: HookAnswer, isStored: (answer: HookAnswer) => boolean | undefined): Finding {
  const { status, at } = newest;
  const said = status === 0 ? 'got no answer' : `was answered ${status}`;
  if (!isAccepted(status)) {
    const advice = REFUSAL_ADVICE[status] ?? 'check that its URL leads to a door, and that the door is ready';
    return wrong('webhook answers', `the last delivery, at ${at}, ${said}`, advice);
  }
  return isStored(newest) === false
    ? wrong(
        'webhook answers',
        `the last delivery, at ${at}, ${said}, but it is not in this database: something else answers at this URL`,
        'set the URL of this installation’s door',
      )
    : ok('webhook answers', `the last delivery, at ${at}, ${said}`);
}

/** The door has compared signatures where it answered 401, or accepted. */
function judgeSecret(answers: readonly HookAnswer[], isStored: (answer: HookAnswer) => boolean | undefined): Finding {
  const compared = answers.find(
    (answer) => answer.status === UNAUTHORIZED || (isAccepted(answer.status) && isStored(answer) !== false),
  );
  if (compared === undefined) {
    return unknown('webhook secret', 'cannot be checked: no recent delivery reached the check of its signature');
  }
  return compared.status === UNAUTHORIZED
    ? wrong('webhook secret', `the delivery at ${compared.at} was refused with 401`, REFUSAL_ADVICE[UNAUTHORIZED] ?? '')
    : ok('webhook secret', `the signature of the delivery at ${compared.at} was valid`);
}

const UNAUTHORIZED = 401;

function isAccepted(status: number): boolean {
  return status >= 200 && status < 300;
}

function pathOf(url: string): string {
  return URL.parse(url)?.pathname ?? '';
}

function hostsOf(hooks: readonly Hook[]): string {
  // The path of another service's webhook can be a secret.
  return [...new Set(hooks.map(({ url }) => URL.parse(url)?.host ?? 'an invalid URL'))].join(', ');
}

/** Without user, password and query. */
function shown(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'an invalid URL' : `${parsed.origin}${parsed.pathname}`;
}
