import { requireFound } from '../answer.ts';
import type { DeliveryRecovery } from '../port/delivery-recovery.ts';
import type { GitHubClient } from './client.ts';
import { askAll, send, undefinedIfInvalid } from './request.ts';
import { type Attempt, deliveries } from './shapes.ts';

const ROUTE = '/app/hook/deliveries';
/** What came before these is left to the resync. */
const MAX_LISTED = 10_000;

export function makeDeliveryRecovery({ own }: GitHubClient): DeliveryRecovery {
  return {
    async failed(since) {
      const isOlder = (attempt: Attempt) => Date.parse(attempt.delivered_at) < since.getTime();
      const enough = (seen: readonly Attempt[]) => seen.length >= MAX_LISTED || seen.some(isOlder);
      const isAccepted = ({ status_code }: Attempt) => status_code >= 200 && status_code < 300;
      const listed = requireFound(await askAll(own, `GET ${ROUTE}`, {}, deliveries, enough), ROUTE);
      return [...Map.groupBy(listed, ({ guid }) => guid).values()].flatMap((all) => {
        const [newest, first] = [all[0], all.at(-1)];
        return newest === undefined || !first || first.redelivery || isOlder(first) || all.some(isAccepted)
          ? []
          : [{ id: newest.id, status: newest.status_code, attempts: all.length, firstSentAt: first.delivered_at }];
      });
    },
    redeliver: async ({ id }) =>
      (await send(own, `POST ${ROUTE}/{id}/attempts`, { id }).catch(undefinedIfInvalid)) !== undefined,
  };
}
