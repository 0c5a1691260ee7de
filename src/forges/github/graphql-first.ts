import type { Log } from '../optional-redis.ts';
import { ForgeError } from '../port/forge-error.ts';

/**
 * After a query that the forge's schema does not allow (an older GitHub Enterprise Server). It may be upgraded
 * meanwhile.
 */
const REST_AFTER_REFUSAL_MS = 3_600_000;
/** After a query without a usable answer: so that a GraphQL API that hangs does not delay every review. */
const REST_AFTER_FAILURE_MS = 30_000;

/** Reads by GraphQL, else by REST. */
export type GraphqlFirst = <T>(byGraphql: () => Promise<T>, byRest: () => Promise<T>) => Promise<T>;

/**
 * Whatever GraphQL does not answer in full is read by REST: what cannot be read there either is an error of the review,
 * and never taken for something that is not there. A rate limit that both share also stops the REST request, in
 * forge-fetch.ts.
 */
export function makeGraphqlFirst(log: Log | undefined): GraphqlFirst {
  let restUntil = 0;

  return async (byGraphql, byRest) => {
    if (Date.now() < restUntil) {
      return byRest();
    }
    try {
      return await byGraphql();
    } catch (error) {
      if (!(error instanceof ForgeError)) {
        throw error;
      }
      if (error.kind === 'invalid') {
        restUntil = Date.now() + REST_AFTER_REFUSAL_MS;
        log?.warn({ reason: error.message }, 'the forge refused a GraphQL query; for an hour only REST is used');
      } else if (error.kind === 'unavailable' && error.status === undefined) {
        restUntil = Date.now() + REST_AFTER_FAILURE_MS;
        log?.debug({ reason: error.message }, 'no answer to a GraphQL query; REST is used for a while');
      } else {
        log?.debug({ reason: error.message }, 'a GraphQL query failed; REST is used instead');
      }
      return byRest();
    }
  };
}
