import type { Middleware, ParameterizedContext } from 'koa';
import { koaBody } from 'koa-body';
import type { ByteBudget, Reservation } from '../inbox/byte-budget.ts';
import { makeArrivalWatch, type WatchArrival } from './body-arrival.ts';
import { type Refusal, refuse, type WebhookState } from './refusal.ts';

/**
 * Reads the exact bytes of the body, of any type, since a signature covers bytes and not what they mean.
 * The length header may refuse a body, but only counting admits it. Room in `budget` is taken for bytes that have
 * arrived, not for those announced, and held until the request is answered.
 */
export function readBody(limit: number, budget: ByteBudget): Middleware<WebhookState> {
  const watchArrival = makeArrivalWatch();
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
    const room = budget.open();
    try {
      const failure = await readInto(ctx, read, room, watchArrival);
      if (failure !== undefined) {
        // The rest is read and thrown away, so that the connection can be used again or closed.
        ctx.req.resume();
        refuse(ctx, failure, failure === 'too_large' ? tooLarge(limit) : undefined);
        return;
      }
      await next();
    } finally {
      room.release();
    }
  };
}

/** Leaves the bytes in the state. Gives the reason when there are none, or when there is no room for them. */
async function readInto(
  ctx: ParameterizedContext<WebhookState>,
  read: Middleware,
  room: Reservation,
  watchArrival: WatchArrival,
): Promise<Refusal | undefined> {
  // koa-body chooses its reader by the type and inflates by the coding. Here both are judged
  // after the signature, from the raw headers, which this leaves as they came.
  ctx.req.headers['content-type'] = OPAQUE;
  delete ctx.req.headers['content-encoding'];
  if (ctx.req.headers.expect !== undefined) {
    ctx.res.writeContinue();
  }

  const refused = Promise.withResolvers<Refusal>();
  const arrival = watchArrival((reason) => {
    // Its body may never end, so the connection cannot be used again.
    ctx.set('Connection', 'close');
    refused.resolve(reason);
  });
  const reading = readAll(ctx, read);
  let received = 0;
  ctx.req.on('data', (chunk: Buffer) => {
    received += chunk.length;
    arrival.progress(received);
    if (!room.growTo(received)) {
      refused.resolve('overloaded');
    }
  });
  try {
    return await Promise.race([refused.promise.finally(() => ctx.req.removeAllListeners('data')), reading]);
  } finally {
    arrival.end();
  }
}

async function readAll(ctx: ParameterizedContext<WebhookState>, read: Middleware): Promise<Refusal | undefined> {
  try {
    await read(ctx, async () => {});
  } catch (error) {
    return error instanceof Error && 'status' in error && error.status === 413 ? 'too_large' : 'aborted';
  }
  // A request without a body has nothing to read: zero bytes.
  ctx.state.bytes = Buffer.isBuffer(ctx.request.body) ? ctx.request.body : Buffer.alloc(0);
  return undefined;
}

const OPAQUE = 'application/octet-stream';

/** Node's parser has already refused what is not a decimal number or contradicts itself. */
function declaredLength(header: string | undefined): number | undefined {
  return header === undefined ? undefined : Number(header);
}

function tooLarge(limit: number): string {
  return `The body is larger than the limit of ${limit} bytes.`;
}
