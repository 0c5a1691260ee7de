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
  /** Sends it, as the forge would. */
  deliver(url: string, repository: string, event: WebhookEvent, details: DeliveryDetails): Promise<Response>;
}

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
    deliver(to, repository, event, details) {
      const { headers, body } = webhook(repository, event, details);
      return fetch(to, { method: 'POST', headers, body });
    },
  };
}
