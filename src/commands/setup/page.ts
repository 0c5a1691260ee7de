import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { escapeMarkup } from '../../common/escape-markup.ts';
import { reasonOf } from '../failures.ts';

/** How long the page is there: the time to sign in, read and press two buttons. */
const MAX_OPEN_MS = 600_000;
const LINGER_MS = 2_000;
const LOOPBACK = '127.0.0.1';
/** 256 bits. */
const SECRET_BYTES = 32;
const MAX_CODE_CHARACTERS = 200;

export interface ManifestForm {
  /** Where the form is posted, by the state that comes back with the code. */
  action(state: string): string;
  /** By the address that GitHub sends the browser back to. */
  manifest(redirectUrl: string): object;
}

export interface PageResult<T> {
  readonly value: T;
  /** What to do next, for the browser: a sentence, and a link. */
  readonly say: string;
  readonly link: { readonly url: string; readonly text: string };
}

export interface ManifestPage<T> {
  /** To be opened in a browser on this machine. Nobody else can guess it. */
  readonly url: string;
  readonly port: number;
  /** What the exchange gave. Rejects when it failed, or when the time is over. */
  readonly result: Promise<T>;
  close(): void;
}

/** Calls `over` after a time; returns what stops it. */
export type StartTimer = (over: () => void, ms: number) => () => void;

const realTimer: StartTimer = (over, ms) => {
  const timer = setTimeout(over, ms);
  return () => clearTimeout(timer);
};

/**
 * The page with the button that sends the manifest to GitHub, and the address that GitHub sends the browser back to. It
 * belongs to the command and never to the service: it is on the loopback address, at a random port and path, takes one
 * code with the right state, and is gone after that, or after ten minutes. It has no script.
 */
export async function openManifestPage<T>(
  form: ManifestForm,
  exchange: (code: string) => Promise<PageResult<T>>,
  startTimer: StartTimer = realTimer,
): Promise<ManifestPage<T>> {
  const state = randomBytes(SECRET_BYTES).toString('base64url');
  // Other users of this machine reach the port, too. Without the path they see neither the page nor the state.
  const path = `/${randomBytes(SECRET_BYTES).toString('base64url')}`;
  const result = Promise.withResolvers<T>();
  let used = false;

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => result.reject(error));
  });
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = `${LOOPBACK}:${port}`;
  const action = form.action(state);

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, html: string) => sendPage(response, status, html, new URL(action).origin);
    const url = URL.parse(request.url ?? '', `http://${host}`);
    // A name that resolves to this address would let a web page read this one.
    if (request.headers.host !== host) {
      return send(421, 'This address is not served here.');
    }
    if (request.method !== 'GET' || url === null) {
      return send(405, 'Only GET is answered.');
    }
    if (same(url.pathname, path)) {
      return used ? send(410, USED) : send(200, formPage(action, form.manifest(`http://${host}/registered`)));
    }
    if (url.pathname !== '/registered') {
      return send(404, 'There is no such page. The terminal shows the right address.');
    }
    if (!same(url.searchParams.get('state') ?? '', state)) {
      return send(403, 'The state is wrong: this request did not start at the button of this page. Nothing was done.');
    }
    if (used) {
      return send(410, USED);
    }
    const code = url.searchParams.get('code') ?? '';
    if (!/^[\w.-]+$/.test(code) || code.length > MAX_CODE_CHARACTERS) {
      return send(400, 'The code is missing.');
    }
    used = true;
    // From here on the App exists: only the exchange may end this now.
    stopTimer();
    try {
      const { value, say, link } = await exchange(code);
      // A browser that does not read its answer keeps nobody from saving the App.
      result.resolve(value);
      return await send(200, `${escapeMarkup(say)} <a href="${escapeMarkup(link.url)}">${escapeMarkup(link.text)}</a>`);
    } catch (error) {
      result.reject(error);
      return await send(502, `The App could not be read from GitHub: ${escapeMarkup(reasonOf(error))} ${DELETE_IT}`);
    }
  }

  const close = () => {
    stopTimer();
    server.close();
    // The last answer is still on its way; browsers also keep connections that they may need.
    setTimeout(() => server.closeAllConnections(), LINGER_MS).unref();
  };
  const stopTimer = startTimer(() => {
    result.reject(new Error('the page was not used within 10 minutes: run gatehouse setup again'));
  }, MAX_OPEN_MS);
  return { url: `http://${host}${path}`, port, result: result.promise.finally(close), close };
}

const DELETE_IT = 'If GitHub shows the App in its settings, delete it there, and run gatehouse setup again.';
const USED = 'This page was used already. The terminal shows the result.';

/** In constant time, whatever the lengths. */
function same(left: string, right: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}

/** Resolves when all of it was sent. */
async function sendPage(response: ServerResponse, status: number, html: string, formOrigin: string): Promise<void> {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; form-action ${formOrigin}; frame-ancestors 'none'; base-uri 'none'`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // No other site may see the path of this page.
    'referrer-policy': 'strict-origin',
    connection: 'close',
  });
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse setup</title><p>${html}</p></html>\n`,
  );
  // However it ended: a browser that went away changes nothing.
  await new Promise<void>((resolve) => response.once('close', () => resolve()));
}

function formPage(action: string, manifest: object): string {
  return (
    'This registers a GitHub App for Gatehouse. Sign in to GitHub in this browser first. GitHub then shows what the App may do, and asks for its name.' +
    `</p><form method="post" action="${escapeMarkup(action)}">` +
    `<input type="hidden" name="manifest" value="${escapeMarkup(JSON.stringify(manifest))}">` +
    '<button type="submit">Register the App at GitHub</button></form><p>'
  );
}
