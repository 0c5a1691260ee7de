import { makeCommits } from './driver/commits.ts';
import { makePullRequests } from './driver/pull-requests.ts';
import { makeRepositories } from './driver/repositories.ts';
import { makeReviews } from './driver/reviews.ts';
import { makeSettings } from './driver/settings.ts';
import { makeStage } from './driver/stage.ts';
import { makeStatuses } from './driver/statuses.ts';
import { makeWebhook, type Webhook, type WebhookEvent, type WebhookParts } from './webhooks.ts';
import type { World } from './world.ts';

/** Door and forge may share one process on a busy machine, so what was answered 503 is sent again. */
const MAX_REDELIVERIES = 5;

type DeliveryDetails = Pick<WebhookParts, 'secret' | 'hookId' | 'deliveryId'>;

/** What people do on a forge, for stories to tell, and what there is to see. Repositories are `owner/name`. */
export function makeDriver(
  world: World,
  forge: WebhookParts['forge'],
  url: string,
  complete?: WebhookParts['complete'],
) {
  const stage = makeStage(world, forge);
  const webhook = (repository: string, event: WebhookEvent, details: DeliveryDetails): Webhook =>
    makeWebhook(world, stage.find(repository), event, { forge, web: url, complete, ...details });
  return {
    ...makeRepositories(stage),
    ...makeCommits(stage),
    ...makePullRequests(stage),
    ...makeReviews(stage),
    ...makeStatuses(stage),
    ...makeSettings(stage),
    webhook,
    deliver: (to: string, repository: string, event: WebhookEvent, details: DeliveryDetails): Promise<void> =>
      send(to, webhook(repository, event, details)),
    send,
  };
}

/** Sends it, as the forge would, until it is acknowledged. Throws for another answer than 200 or 503. */
async function send(url: string, { headers, body }: Webhook): Promise<void> {
  let response = await fetch(url, { method: 'POST', headers, body });
  for (let again = 0; response.status === 503 && again < MAX_REDELIVERIES; again++) {
    response = await fetch(url, { method: 'POST', headers, body });
  }
  if (response.status !== 200) {
    throw new Error(`the door answered ${response.status}: ${await response.text()}`);
  }
}
