import { type Commits, makeCommits } from './driver/commits.ts';
import { makePullRequests, type PullRequests } from './driver/pull-requests.ts';
import { makeRepositories, type Repositories } from './driver/repositories.ts';
import { makeReviews, type Reviews } from './driver/reviews.ts';
import { makeSettings, type Settings } from './driver/settings.ts';
import { makeStage } from './driver/stage.ts';
import { makeStatuses, type Statuses } from './driver/statuses.ts';
import { makeWebhook, type Webhook, type WebhookEvent, type WebhookParts } from './webhooks.ts';
import type { World } from './world.ts';

/** What people do on a forge, for stories to tell, and what there is to see. Repositories are `owner/name`. */
export interface Driver extends Repositories, Commits, PullRequests, Reviews, Statuses, Settings {
  /** What the forge would send of it now. */
  webhook(repository: string, event: WebhookEvent, details: DeliveryDetails): Webhook;
  /** Sends it, as the forge would, until it is acknowledged. Throws for another answer than 200 or 503. */
  deliver(url: string, repository: string, event: WebhookEvent, details: DeliveryDetails): Promise<void>;
  /** The same, of a webhook that was made before. */
  send(url: string, webhook: Webhook): Promise<void>;
}

/** Door and forge may share one process on a busy machine, so what was answered 503 is sent again. */
const MAX_REDELIVERIES = 5;

type DeliveryDetails = Pick<WebhookParts, 'secret' | 'hookId' | 'deliveryId'>;

export function makeDriver(
  world: World,
  forge: WebhookParts['forge'],
  url: string,
  complete?: WebhookParts['complete'],
): Driver {
  const stage = makeStage(world, forge);
  const webhook: Driver['webhook'] = (repository, event, details) =>
    makeWebhook(world, stage.find(repository), event, { forge, web: url, complete, ...details });
  return {
    ...makeRepositories(stage),
    ...makeCommits(stage),
    ...makePullRequests(stage),
    ...makeReviews(stage),
    ...makeStatuses(stage),
    ...makeSettings(stage),
    webhook,
    deliver: (to, repository, event, details) => send(to, webhook(repository, event, details)),
    send,
  };
}

async function send(url: string, { headers, body }: Webhook): Promise<void> {
  let response = await fetch(url, { method: 'POST', headers, body });
  for (let again = 0; response.status === 503 && again < MAX_REDELIVERIES; again++) {
    response = await fetch(url, { method: 'POST', headers, body });
  }
  if (response.status !== 200) {
    throw new Error(`the door answered ${response.status}: ${await response.text()}`);
  }
}
