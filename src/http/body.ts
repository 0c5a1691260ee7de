import { finished } from 'node:stream/promises';
import type { Middleware, ParameterizedContext } from 'koa';
import { koaBody } from 'koa-body';
import type { ByteBudget, Reservation } from '../inbox/byte-budget.ts';
import { makeArrivalWatch, type WatchArrival } from './body-arrival.ts';
import { type Refusal, refuse, type WebhookState } from './refusal.ts';

/**
 * Bodies up to so many times the limit are hashed and thrown away: what makes them large is a text of the author, who
 * must not decide by that whether Gatehouse hears that something has changed.
 */
const HASHED_FACTOR = 4;

/**
 * Reads the exact bytes of the body, of any type, since a signature covers bytes and not what they mean. The length
 * header may refuse a body, but only counting admits it. Room in `budget` is taken for bytes that have arrived and are
 * kept, not for those announced, and held until the request is answered.
 */
export function readBody(limit: number, budget: ByteBudget): Middleware<WebhookState> {
  const watchArrival = makeArrivalWatch();
  const readWhole = makeWholeReader(limit);

  return async (ctx, next) => {
    const declared = declaredLength(ctx.req.headers['content-length']) ?? 0;
    if (declared > HASHED_FACTOR * limit) {
      refuseTooLarge(ctx, limit);
      return;
    }
    const room = budget.open();
    try {
      ctx.state.isTooLarge = declared > limit;
      const reader = ctx.state.isTooLarge ? readAway(ctx) : readWhole(ctx);
      const failure = await receive(ctx, reader, room, watchArrival);
      if (failure !== undefined) {
        // The rest is read and thrown away, so that the connection can be used again or closed.
        ctx.req.resume();
        if (failure === 'too_large') {
          refuseTooLarge(ctx, limit);
        } else {
          refuse(ctx, failure);
        }
        return;
      }
      await next();
    } finally {
      room.release();
    }
  };
}

type Context = ParameterizedContext<WebhookState>;

/** Begun with the request. */
interface Reader {
  /** How many bytes are held with this chunk. */
  take(chunk: Buffer): number;
  /** The bytes to keep, once all have come. Its error has the status 413 when they are too many. */
  readonly bytes: Promise<Buffer>;
}

function makeWholeReader(limit: number): (ctx: Context) => Reader {
  const read = koaBody({
    json: false,
    urlencoded: false,
    text: true,
    textTypes: [OPAQUE],
    textLimit: limit,
    // Without an encoding koa-body's text is the Buffer that came; with one it would be decoded.
    encoding: '',
  });

  async function bytesOf(ctx: Context): Promise<Buffer> {
    await read(ctx, async () => {});
    // A request without a body has nothing to read: zero bytes.
    const bytes = Buffer.isBuffer(ctx.request.body) ? ctx.request.body : Buffer.alloc(0);
    ctx.state.signature.update(bytes);
    return bytes;
  }

  return (ctx) => {
    // koa-body chooses its reader by the type and inflates by the coding. Here both are judged
    // after the signature, from the raw headers, which this leaves as they came.
    ctx.req.headers['content-type'] = OPAQUE;
    delete ctx.req.headers['content-encoding'];
    let received = 0;
    return {
      take(chunk) {
        received += chunk.length;
        return received;
      },
      bytes: bytesOf(ctx),
    };
  };
}

function readAway(ctx: Context): Reader {
  return {
    take(chunk) {
      ctx.state.signature.update(chunk);
      return 0;
    },
    bytes: finished(ctx.req).then(() => Buffer.alloc(0)),
  };
}

/** Leaves the bytes in the state. Gives the reason when there are none, or when there is no room for them. */
async function receive(
  ctx: Context,
  reader: Reader,
  room: Reservation,
  watchArrival: WatchArrival,
): Promise<Refusal | undefined> {
  if (ctx.req.headers.expect !== undefined) {
    ctx.res.writeContinue();
  }
  const refused = Promise.withResolvers<Refusal>();
  const arrival = watchArrival((reason) => {
    // Its body may never end, so the connection cannot be used again.
    ctx.set('Connection', 'close');
    refused.resolve(reason);
  });
  let received = 0;
  ctx.req.on('data', (chunk: Buffer) => {
    received += chunk.length;
    arrival.progress(received);
    if (!room.growTo(reader.take(chunk))) {
      refused.resolve('overloaded');
    }
  });
  const read = keepBytes(ctx, reader.bytes);
  try {
    // With its listeners go the bytes that they hold, which would stay until the sender hangs up.
    return await Promise.race([refused.promise.finally(() => ctx.req.removeAllListeners()), read]);
  } finally {
    arrival.end();
  }
}

async function keepBytes(ctx: Context, bytes: Promise<Buffer>): Promise<Refusal | undefined> {
  try {
    ctx.state.bytes = await bytes;
    return undefined;
  } catch (error) {
    return error instanceof Error && 'status' in error && error.status === 413 ? 'too_large' : 'aborted';
  }
}

const OPAQUE = 'application/octet-stream';

/** Node's parser has already refused what is not a decimal number or contradicts itself. */
function declaredLength(header: string | undefined): number | undefined {
  return header === undefined ? undefined : Number(header);
}

export function refuseTooLarge(ctx: Context, limit: number): void {
  refuse(ctx, 'too_large', `The body is larger than the limit of ${limit} bytes.`);
}
