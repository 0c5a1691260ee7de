import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { isObject } from '../common/is-object.ts';
import { withTimeout } from '../common/timeout.ts';
import { eventLabel, installationIn, interpretEvent } from '../forges/interpret-event.ts';
import type { PayloadInstallation } from '../forges/port/events.ts';
import { FORGES, type ForgeName } from '../forges/port/forges.ts';
import { type ReviewRequest, requestedReview } from '../forges/port/review-requests.ts';
import type { ByteBudget } from '../inbox/byte-budget.ts';
import type { Inbox } from '../inbox/inbox.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { subjectAttributes, type Tracing } from '../tracing/tracing.ts';
import { readBody, refuseTooLarge } from './body.ts';
import { REFUSAL_REASONS, type Refusal, refuse, type WebhookState } from './refusal.ts';
import { requireSignature, verifySignature } from './signature.ts';
import type { SigningSecrets } from './signature-check.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

export interface WebhookOptions {
  readonly secrets: SigningSecrets;
  readonly forge: ForgeName;
  /** Bytes. */
  readonly bodyLimit: number;
  readonly budget: ByteBudget;
  readonly inbox: Inbox<ReviewRequest>;
  /**
   * Unless one waits already. `appeared`: repositories that Gatehouse sees again; empty where it has to list those first
   * that the credentials may write to. Absent: nothing is known.
   */
  readonly requestResync: (appeared?: readonly string[]) => Promise<void>;
  /** Whether a commit status of this name is Gatehouse's own. */
  readonly isOwnContext: (context: string) => boolean;
  /** Which installation of the App sent an accepted delivery. Must not throw or wait. */
  readonly onInstallation: (installation: PayloadInstallation) => void;
  /** True once no delivery may be taken any more. */
  readonly isClosed: () => boolean;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly log: Log;
}

/** `POST /webhook`: verified, committed, and only then acknowledged. */
export function addWebhookRoute(router: Router, options: WebhookOptions): void {
  // A counter that is absent until its first increment hides that increment from rate().
  for (const reason of REFUSAL_REASONS) {
    options.metrics.rejections.inc({ reason }, 0);
  }
  for (const secret of ['current', 'previous']) {
    options.metrics.secretMatches.inc({ secret }, 0);
  }
  router.post(
    '/webhook',
    countRefusals(options),
    requireSignature(options.secrets),
    readBody(options.bodyLimit, options.budget),
    verifySignature((secret) => options.metrics.secretMatches.inc({ secret })),
    traceDelivery(options.tracing),
    resyncIfTooLarge(options),
    acknowledge(options),
  );
}

/**
 * After the signature: nobody else may fill the collector. A `traceparent` of the request is not used, for the same
 * reason: proxies pass on whatever a sender writes.
 */
function traceDelivery(tracing: Tracing): Middleware<WebhookState> {
  return (ctx, next) => {
    const attributes = { 'http.request.method': 'POST', 'http.route': '/webhook' };
    return tracing.run({ name: 'POST /webhook', kind: 'server', attributes }, async (span) => {
      ctx.state.traceparent = span.traceparent;
      await next();
      const { about, refusal } = ctx.state;
      span.set({
        'http.response.status_code': ctx.status,
        'gatehouse.delivery': about.delivery,
        'gatehouse.event': about.event === undefined ? undefined : eventLabel(about.event),
        ...subjectAttributes(about.repository, about.pullRequest),
      });
      if (refusal !== undefined) {
        span.fail(refusal);
      }
    });
  };
}

/** Counts and logs what was not acknowledged, and refuses everything once the door is closed. */
function countRefusals({ forge, metrics, log, isClosed }: WebhookOptions): Middleware<WebhookState> {
  return async (ctx, next) => {
    ctx.state.about = { delivery: identifier(ctx.req.headersDistinct, FORGES[forge].headers.delivery) };
    if (isClosed()) {
      refuse(ctx, 'draining');
    } else {
      await next();
    }
    const { refusal } = ctx.state;
    if (refusal === undefined) {
      return;
    }
    metrics.rejections.inc({ reason: refusal });
    const { requestId: request, about } = ctx.state;
    log.info({ request, ...about, reason: refusal, status: ctx.status }, 'a webhook was refused');
  };
}

/** Less than the 5 seconds that Gitea waits for an answer. It may be queued all the same. */
const RESYNC_TIMEOUT_MS = 4_000;

/** What it tells of, a resync finds: of all due repositories, because nothing was read of it. */
function resyncIfTooLarge({ bodyLimit, requestResync, log }: WebhookOptions): Middleware<WebhookState> {
  return async (ctx, next) => {
    if (!ctx.state.isTooLarge) {
      await next();
      return;
    }
    try {
      await withTimeout(RESYNC_TIMEOUT_MS, requestResync(), () => Promise.reject(new Error('the database is slow')));
    } catch (err) {
      log.error(
        { err },
        'the resync for a webhook that is too large could not be queued: the next one finds its change',
      );
    }
    refuseTooLarge(ctx, bodyLimit);
  };
}

/** What follows a good signature: headers, type, JSON, commit, 200. */
function acknowledge({
  forge,
  inbox,
  requestResync,
  isOwnContext,
  onInstallation,
  metrics,
  log,
}: WebhookOptions): Middleware<WebhookState> {
  return async (ctx) => {
    const names = FORGES[forge].headers;
    const { headersDistinct } = ctx.req;
    const event = identifier(headersDistinct, names.event);
    const deliveryId = identifier(headersDistinct, names.delivery);
    const hookId = names.hook.some((name) => headersDistinct[name]) ? identifier(headersDistinct, names.hook) : '';
    if (event === undefined || deliveryId === undefined || hookId === undefined) {
      refuse(
        ctx,
        'headers',
        `Each of ${joinWithOr(names.event)}, and ${joinWithOr(names.delivery)}, must be given once, in visible ASCII.`,
      );
      return;
    }
    const payload = readPayload(headersDistinct, ctx.state.bytes);
    if (typeof payload === 'string') {
      refuse(ctx, payload);
      return;
    }

    const subject = interpretEvent(event, payload);
    const { repository, pullRequest, resynced, pushedHead: pushed } = subject;
    const review = requestedReview(subject, isOwnContext);
    const origin = { delivery: deliveryId, traceparent: ctx.state.traceparent };
    const job = review && { ...review, ...(review.kind === 'review' && pushed && { pushed }), origin };
    ctx.state.about = { delivery: deliveryId, event, repository, pullRequest };
    const acceptance = await inbox.accept({
      hookId,
      deliveryId,
      event,
      repository: repository ?? null,
      pullRequest: pullRequest ?? null,
      resynced,
      job,
      body: ctx.state.bytes,
    });
    const { outcome } = acceptance;
    metrics.deliveries.inc({ event: eventLabel(event), outcome });
    if (outcome === 'refused') {
      refuse(ctx, acceptance.reason);
      return;
    }
    if (outcome === 'accepted' && acceptance.repeatedBody) {
      metrics.repeatedBodies.inc();
    }
    const installation = installationIn(payload);
    if (installation !== undefined) {
      onInstallation(installation);
    }
    if (outcome === 'accepted' && subject.appeared) {
      // The next round looks at them in any case.
      requestResync(resynced).catch((err: unknown) =>
        log.warn({ err, ...ctx.state.about }, 'a resync could not be queued'),
      );
    }
    log.info({ ...ctx.state.about, outcome }, 'a delivery was acknowledged');
    ctx.body = { received: true };
  };
}

/** The payload, or why there is none. */
function readPayload(headers: NodeJS.Dict<string[]>, bytes: Buffer): Readonly<Record<string, unknown>> | Refusal {
  if (!isIdentity(headers['content-encoding'])) {
    return 'content_encoding';
  }
  if (!isJsonType(headers['content-type'])) {
    return 'content_type';
  }
  return parseJsonObject(bytes) ?? 'not_json';
}

/** Visible ASCII, so that it can be stored, logged and compared without surprises. */
const IDENTIFIER = /^[\x21-\x7e]{1,255}$/;

/**
 * The value of the first of these headers that is present; undefined when none is, or when it is repeated or unusable.
 */
function identifier(headers: NodeJS.Dict<string[]>, names: readonly string[]): string | undefined {
  const present = names.find((name) => headers[name] !== undefined);
  const [value, ...more] = present === undefined ? [] : (headers[present] ?? []);
  return value !== undefined && more.length === 0 && IDENTIFIER.test(value) ? value : undefined;
}

function isIdentity(codings: readonly string[] | undefined): boolean {
  return (codings ?? []).every((coding) => coding.trim().toLowerCase() === 'identity');
}

function joinWithOr(names: readonly string[]): string {
  return names.join(' or ');
}

/**
 * A JSON object, or undefined when the bytes are not one. They must be UTF-8; a byte order mark before
 * them is skipped, as RFC 8259 (section 8.1) allows.
 */
function parseJsonObject(bytes: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the one Content-Type is `application/json`, with or without parameters. */
function isJsonType(values: readonly string[] | undefined): boolean {
  const [value, ...more] = values ?? [];
  return more.length === 0 && /^application\/json\s*(;|$)/i.test(value?.trim() ?? '');
}
