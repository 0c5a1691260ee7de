import type { Middleware } from 'koa';
import { refuse, type WebhookState } from './refusal.ts';
import { checkSignature, type SigningSecrets } from './signature-check.ts';

const HEADER = 'x-hub-signature-256';
const SHAPE = /^sha256=[0-9a-f]{64}$/;

/**
 * Refuses a request whose signature cannot be right, whatever its body, before the body is read:
 * none, more than one, or not `sha256=` and 64 lower-case hexadecimal digits. Joined values have a
 * comma and fail the shape. The shape also keeps the comparison sound: `Buffer.from(…, 'hex')`
 * truncates silently and `timingSafeEqual` throws on unequal lengths.
 */
export function requireSignature(secrets: SigningSecrets): Middleware<WebhookState> {
  return async (ctx, next) => {
    const values = ctx.req.headersDistinct[HEADER] ?? [];
    const [signature] = values;
    if (signature === undefined) {
      refuse(ctx, 'signature_missing');
    } else if (values.length > 1 || !SHAPE.test(signature)) {
      refuse(ctx, 'signature_malformed');
    } else {
      ctx.state.signature = checkSignature(secrets, Buffer.from(signature.slice('sha256='.length), 'hex'));
      await next();
    }
  };
}

/**
 * Lets a request pass when its digest is the HMAC-SHA256 of the exact bytes of its body under one of the
 * secrets (RFC 2104; GitHub, "Validating webhook deliveries").
 */
export function verifySignature(onMatch: (secret: 'current' | 'previous') => void): Middleware<WebhookState> {
  return async (ctx, next) => {
    const secret = ctx.state.signature.match();
    if (secret === undefined) {
      refuse(ctx, 'signature_mismatch');
      return;
    }
    onMatch(secret);
    await next();
  };
}
