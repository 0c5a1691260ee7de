import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { escapeMarkup } from '../../common/escape-markup.ts';
import { type AppWishes, manifestOf, registrationUrl } from '../../forges/setup/github-manifest.ts';

/** How long the page is there: the time to sign in, read and press two buttons. */
const MAX_OPEN_MS = 600_000;
const CODE = /^[\w-]{1,200}$/;

/** Aborts after a time. */
type StartTimer = (ms: number) => AbortSignal;

/**
 * The page with the button that sends the manifest to GitHub, and the address that GitHub sends the browser back to. It
 * belongs to the command and never to the service: it is on the loopback address, takes one code with the right state,
 * and is gone after that, or after ten minutes: then the code rejects.
 */
export async function openManifestPage(wishes: AppWishes, startTimer: StartTimer = AbortSignal.timeout) {
  // Other users of this machine reach the port, too. The page shows the state, so its path is as secret.
  const state = randomBytes(32).toString('base64url');
  const action = registrationUrl(wishes, state);
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; form-action ${new URL(action).origin}; frame-ancestors 'none'; base-uri 'none'`,
    'cache-control': 'no-store',
    // No other site may see the path of this page.
    'referrer-policy': 'strict-origin',
    connection: 'close',
  };
  const code = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const [status, html] = answerTo(URL.parse(request.url ?? '', origin));
    response.writeHead(status, headers);
    response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Gatehouse setup</title>${html}</html>\n`);
  });
  // A connection that a browser keeps for later must not keep the command running.
  server.on('connection', (socket) => socket.unref());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function answerTo(url: URL | null): readonly [status: number, html: string] {
    if (!server.listening) {
      return [410, 'This page was already used. The terminal shows the result.'];
    }
    if (url?.pathname === `/${state}`) {
      return [200, formPage(action, manifestOf(wishes, `${origin}/registered`))];
    }
    if (url?.pathname !== '/registered') {
      return [404, 'There is no such page. The terminal shows the right address.'];
    }
    if (url.searchParams.get('state') !== state) {
      return [403, 'The state is wrong: this request did not start at the button of this page. Nothing was done.'];
    }
    const found = url.searchParams.get('code') ?? '';
    if (!CODE.test(found)) {
      return [400, 'The code is missing.'];
    }
    code.resolve(found);
    server.close();
    return [200, 'GitHub has registered the App. The terminal has the next step.'];
  }

  startTimer(MAX_OPEN_MS).addEventListener('abort', () => {
    code.reject(new Error('no one used the page within 10 minutes: run gatehouse setup again'));
    server.close();
  });
  return { url: `${origin}/${state}`, code: code.promise };
}

function formPage(action: string, manifest: object): string {
  return `<p>This registers a GitHub App for Gatehouse. Sign in to GitHub in this browser first. GitHub then shows what the App may do, and asks for its name.</p>
<form method="post" action="${escapeMarkup(action)}">
<input type="hidden" name="manifest" value="${escapeMarkup(JSON.stringify(manifest))}">
<button type="submit">Register the App at GitHub</button></form>`;
}
