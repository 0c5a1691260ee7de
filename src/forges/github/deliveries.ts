import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import type { DeliveryRecovery, FailedDelivery, RepositoryHook } from '../port/delivery-recovery.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askAll, write } from './request.ts';
import * as shapes from './shapes.ts';

type Delivery = z.output<typeof shapes.deliveries>[number];

/** An App has one webhook for all; with a token there is one a repository, and each keeps its own list. */
export function makeDeliveryRecovery(client: GitHubClient): DeliveryRecovery {
  async function listOf(hook: RepositoryHook | undefined) {
    if (client.kind === 'app') {
      return { octokit: client.own, path: '/app/hook/deliveries', parameters: {} };
    }
    if (hook === undefined) {
      throw new ForgeError('invalid', 'a repository and a hook are needed to list deliveries');
    }
    return {
      octokit: await client.forRepository(hook.repository),
      path: '/repos/{owner}/{repo}/hooks/{hook_id}/deliveries',
      parameters: { ...repositoryAddress(hook.repository), hook_id: hook.hookId },
    };
  }

  return {
    scope: client.kind === 'app' ? 'app' : 'repository',

    async failedDeliveries(since, hook) {
      const { octokit, path, parameters } = await listOf(hook);
      const route = `GET ${path}`;
      const isOlder = (delivery: Delivery) => Date.parse(delivery.delivered_at) < since.getTime();
      // Newest first: the first page that reaches back far enough is the last one needed.
      const enough = (seen: readonly Delivery[]) => seen.some(isOlder);
      const listed = requireFound(await askAll(octokit, route, parameters, shapes.deliveries, enough), route);
      return failuresIn(
        listed.filter((delivery) => !isOlder(delivery)),
        hook,
      );
    },

    async redeliver(delivery) {
      const { octokit, path, parameters } = await listOf(delivery.hook);
      await write(octokit, `POST ${path}/{delivery_id}/attempts`, { ...parameters, delivery_id: delivery.id });
    },
  };
}

/** One entry a guid, of its newest attempt, and none for a guid that got through in the end. */
function failuresIn(newestFirst: readonly Delivery[], hook: RepositoryHook | undefined): readonly FailedDelivery[] {
  const accepted = new Set(newestFirst.filter(wasAccepted).map((delivery) => delivery.guid));
  const failed = new Map<string, FailedDelivery>();
  for (const { id, guid, event, delivered_at, status_code } of newestFirst) {
    if (!accepted.has(guid) && !failed.has(guid)) {
      failed.set(guid, { id, guid, event, status: status_code, deliveredAt: delivered_at, ...(hook ? { hook } : {}) });
    }
  }
  return [...failed.values()].reverse();
}

function wasAccepted(delivery: Delivery): boolean {
  return delivery.status_code >= 200 && delivery.status_code < 300;
}
