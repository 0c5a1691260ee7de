import type { Middleware } from 'koa';
import { koaBody } from 'koa-body';
import type { ByteBudget } from '../inbox/byte-budget.ts';
import { refuse, type WebhookState } from './refusal.ts';

/**
 * Reads the exact bytes of the body, of any type, since a signature covers bytes and not what they mean.
 * The length header may refuse a body, but only counting admits it; room in `budget` is held from
 * before the first byte until the request is answered.
 */
export function readBody(limit: number, budget: ByteBudget): Middleware<WebhookState> {
  const read = koaBody({
    json: false,
    urlencoded: false,
    text: true,
    textTypes: [OPAQUE],
    textLimit: limit,
    // Without an encoding koa-body's text is the Buffer that came; with one it would be decoded.
    encoding: '',
  });

  return async (ctx, next) => {
    const declared = declaredLength(ctx.req.headers['content-length']);
    if (declared !== undefined && declared > limit) {
      refuse(ctx, 'too_large', tooLarge(limit));
      return;
    }
    const room = budget.reserve(declared ?? limit);
    if (room === undefined) {
      refuse(ctx, 'overloaded');
      return;
    }
    try {
      // koa-body chooses its reader by the type and inflates by the coding. Here both are judged
      // after the signature, from the raw headers, which this leaves as they came.
      ctx.req.headers['content-type'] = OPAQUE;
      delete ctx.req.headers['content-encoding'];
      const failure = await read(ctx, async () => {}).catch((error: unknown) => error);
      if (failure !== undefined) {
        const tooMuch = failure instanceof Error && 'status' in failure && failure.status === 413;
        if (tooMuch) refuse(ctx, 'too_large', tooLarge(limit));
        else refuse(ctx, 'aborted');
        return;
      }
      // A request without a body has nothing to read: zero bytes.
      ctx.state.bytes = Buffer.isBuffer(ctx.request.body) ? ctx.request.body : Buffer.alloc(0);
      await next();
    } finally {
      room.release();
    }
  };
}

const OPAQUE = 'application/octet-stream';

/** Node's parser has already refused what is not a decimal number or contradicts itself. */
function declaredLength(header: string | undefined): number | undefined {
  return header === undefined ? undefined : Number(header);
}

function tooLarge(limit: number): string {
  return `The body is larger than the ${limit} bytes that are accepted here.`;
}
