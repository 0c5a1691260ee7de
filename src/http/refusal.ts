import type { ParameterizedContext } from 'koa';
import { answerProblem } from './problem.ts';
import type { SignatureCheck } from './signature-check.ts';

/** What the webhook's middlewares pass to each other. */
export interface WebhookState {
  requestId: string;
  /** Checks the digest that the signature header claims. It has all bytes of the body that was read. */
  signature: SignatureCheck;
  /** The body's exact bytes; none with `isTooLarge`. */
  bytes: Buffer;
  /** The body is over the limit: it was hashed and not kept. */
  isTooLarge: boolean;
  /**
   * What the log says of the delivery, as far as it is known. Unless the signature was good, a stranger may have
   * written it.
   */
  about: {
    delivery?: string | undefined;
    event?: string;
    repository?: string | undefined;
    pullRequest?: number | undefined;
  };
  /** W3C `traceparent` of the delivery's span; absent where nothing is traced. */
  traceparent?: string | undefined;
  /** Set when the request was not acknowledged. */
  refusal?: Refusal;
}

/** Why a webhook request was not acknowledged. Also the values of a metric's label. */
export type Refusal = keyof typeof REFUSALS;

const RETRY_AFTER_SECONDS = 5;

const REFUSALS = {
  signature_missing: [401, 'The X-Hub-Signature-256 header is missing. Set a secret in the webhook’s settings.'],
  signature_malformed: [
    401,
    'The X-Hub-Signature-256 header must be given once, as sha256= and 64 lower-case hexadecimal digits.',
  ],
  signature_mismatch: [401, 'The signature does not match this body and the configured secret.'],
  headers: [400, 'The event or the delivery header is missing, repeated or invalid.'],
  content_type: [
    415,
    'Only application/json is supported. Set the webhook’s content type to application/json in the forge’s settings.',
  ],
  content_encoding: [415, 'The body must not be compressed: only the Content-Encoding identity is supported.'],
  not_json: [400, 'The body is not a JSON object in UTF-8.'],
  too_large: [413, 'The body is too large.'],
  aborted: [400, 'The body did not arrive in full.'],
  slow: [408, 'The body did not arrive in time. Send it again.'],
  overloaded: [503, 'Too many deliveries are in progress. Nothing was stored; send it again.'],
  deadline: [503, 'The delivery could not be stored in time. Send it again.'],
  database: [503, 'The delivery could not be stored. Send it again.'],
  draining: [503, 'This instance is shutting down. Nothing was stored; send it again.'],
} as const satisfies Record<string, readonly [status: number, detail: string]>;

export const REFUSAL_REASONS: readonly string[] = Object.keys(REFUSALS);

export function refuse(ctx: ParameterizedContext<WebhookState>, reason: Refusal, detail?: string): void {
  const [status, defaultDetail] = REFUSALS[reason];
  ctx.state.refusal = reason;
  answerProblem(ctx, status, detail ?? defaultDetail);
  if (status === 401) {
    ctx.set('WWW-Authenticate', 'X-Hub-Signature-256');
  }
  if (status === 503) {
    ctx.set('Retry-After', String(RETRY_AFTER_SECONDS));
  }
}
