import { randomUUID } from 'node:crypto';
import { METHODS } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context, type Middleware, type Next } from 'koa';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import { answerProblem } from './problem.ts';

export interface AppOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  /** True while clients should take their next request elsewhere. */
  readonly isDraining: () => boolean;
}

/** An application with these routes and nothing else: every error is a problem, every request is measured. */
export function makeApp({ log, metrics, isDraining }: AppOptions, addRoutes: (router: Router) => void): Koa {
  // Every method that Node can parse is known to the router, so that a wrong one is 405 and never 501.
  const router = new Router({ strict: true, sensitive: true, methods: [...METHODS] });
  addRoutes(router);

  const app = new Koa();
  // Errors are logged where they are answered; Koa itself would print them to standard error.
  app.silent = true;
  app.use(measure(metrics));
  app.use(identify);
  app.use(problems(log));
  app.use(async (ctx, next) => {
    await next();
    if (isDraining()) {
      ctx.set('Connection', 'close');
    }
  });
  app.use(router.routes());
  app.use(router.allowedMethods());
  return app;
}

const METRIC_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

function measure(metrics: Metrics): Middleware {
  return async (ctx, next) => {
    const stop = metrics.httpRequestSeconds.startTimer();
    const observe = () => {
      stop({
        method: METRIC_METHODS.has(ctx.method) ? ctx.method : 'other',
        // The router names the route's own path, never the caller's.
        route: typeof ctx['routerPath'] === 'string' ? ctx['routerPath'] : 'other',
        // The status that nginx logs for a client that closed the connection early.
        status: ctx.res.headersSent ? ctx.status : 499,
      });
    };
    ctx.res.once('close', observe);
    await next();
  };
}

/** A caller's own request id is kept when it is harmless to print. */
const REQUEST_ID = /^[\w.:/+=-]{1,128}$/;

async function identify(ctx: Context, next: Next): Promise<void> {
  const requested = ctx.get('X-Request-Id');
  ctx.state['requestId'] = REQUEST_ID.test(requested) ? requested : randomUUID();
  ctx.set('X-Request-Id', ctx.state['requestId']);
  await next();
}

const DETAILS: Readonly<Record<number, string>> = {
  404: 'No such path. Webhooks go to /webhook.',
  405: 'This path does not support this method; the Allow header lists those it does.',
};

function problems(log: Log): Middleware {
  return async (ctx, next) => {
    // RFC 9112, section 3.2: a request without Host, or with more than one, is answered 400.
    const hosts = ctx.req.headersDistinct['host']?.length ?? 0;
    if (hosts > 1 || (hosts === 0 && ctx.req.httpVersion === '1.1')) {
      answerProblem(ctx, 400, 'The Host header must be sent once.');
      return;
    }
    try {
      await next();
    } catch (err) {
      const { requestId: request, about } = ctx.state;
      log.error({ err, request, path: ctx.path, ...about }, 'a request failed unexpectedly');
      answerProblem(ctx, 500, 'Internal error. Search the log for the X-Request-Id of this answer.');
    }
    if (ctx.status >= 400 && ctx.body == null) {
      answerProblem(ctx, ctx.status, DETAILS[ctx.status]);
    }
  };
}
