import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Middleware } from 'koa';
import { refuse, type WebhookState } from './refusal.ts';

/** The signing keys, in the order in which they are tried. Two while one replaces the other. */
export interface SigningSecrets {
  readonly current: string;
  readonly previous: string | undefined;
}

const HEADER = 'x-hub-signature-256';
const SHAPE = /^sha256=[0-9a-f]{64}$/;

/**
 * Refuses a request whose signature cannot be right, whatever its body, before the body is read:
 * none, more than one, or not `sha256=` and 64 lower-case hexadecimal digits. Joined values have a
 * comma and fail the shape. The shape also keeps the comparison sound: `Buffer.from(…, 'hex')`
 * truncates silently and `timingSafeEqual` throws on unequal lengths.
 */
export function requireSignature(): Middleware<WebhookState> {
  return async (ctx, next) => {
    const values = ctx.req.headersDistinct[HEADER] ?? [];
    const [signature] = values;
    if (signature === undefined) {
      refuse(ctx, 'signature_missing');
    } else if (values.length > 1 || !SHAPE.test(signature)) {
      refuse(ctx, 'signature_malformed');
    } else {
      ctx.state.digest = Buffer.from(signature.slice('sha256='.length), 'hex');
      await next();
    }
  };
}

/**
 * Lets a request pass when its digest is the HMAC-SHA256 of the exact bytes of its body under one of the
 * secrets (RFC 2104; GitHub, "Validating webhook deliveries").
 */
export function verifySignature(
  secrets: SigningSecrets,
  onMatch: (secret: 'current' | 'previous') => void,
): Middleware<WebhookState> {
  return async (ctx, next) => {
    const { digest, bytes } = ctx.state;
    const secret = matchingSecret(secrets, bytes, digest);
    if (secret === undefined) {
      refuse(ctx, 'signature_mismatch');
      return;
    }
    onMatch(secret);
    await next();
  };
}

/** Which secret made the digest, compared in constant time; undefined when none did. `digest` has 32 bytes. */
export function matchingSecret(
  { current, previous }: SigningSecrets,
  bytes: Buffer,
  digest: Buffer,
): 'current' | 'previous' | undefined {
  if (timingSafeEqual(sign(current, bytes), digest)) {
    return 'current';
  }
  if (previous !== undefined && timingSafeEqual(sign(previous, bytes), digest)) {
    return 'previous';
  }
  return undefined;
}

function sign(secret: string, bytes: Buffer): Buffer {
  return createHmac('sha256', secret).update(bytes).digest();
}
