import type { ExecutionContext } from 'ava';
import { openManifestPage } from '../../src/commands/setup/page.ts';
import test from '../helpers/test.ts';

const FORGE = 'https://git.example.com';
const WISHES = {
  forgeUrl: FORGE,
  organisation: 'acme',
  webhookUrl: 'https://gatehouse.example.com/"><script>alert(1)</script>',
};

/** Without a connection that is kept for later. */
async function ask(url: string) {
  const response = await fetch(url, { headers: { connection: 'close' } });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

async function open(t: ExecutionContext) {
  const over = new AbortController();
  t.teardown(() => over.abort());
  const times: number[] = [];
  const page = await openManifestPage(WISHES, (ms) => {
    times.push(ms);
    return over.signal;
  });
  page.code.catch(() => {});
  const { body, headers, status } = await ask(page.url);
  const state = /action="[^"]*state=([^"]+)"/.exec(body)?.[1] ?? '';
  const { origin } = new URL(page.url);
  const back = (code: string, withState = state) => `${origin}/registered?code=${code}&state=${withState}`;
  return { page, over, times, origin, body, headers, status, state, back };
}

test('the page has one form for the forge, no script, and forbids all else', async (t) => {
  const { origin, body, headers, status, state } = await open(t);
  t.is(status, 200);
  t.true(state.length >= 43, 'a state of 256 bits');
  t.is(
    headers.get('content-security-policy'),
    `default-src 'none'; form-action ${FORGE}; frame-ancestors 'none'; base-uri 'none'`,
  );
  t.is(headers.get('cache-control'), 'no-store');
  t.false(/<script/i.test(body));
  const manifest = /name="manifest" value="([^"]*)"/.exec(body)?.[1]?.replaceAll('&quot;', '"') ?? '';
  t.is(JSON.parse(manifest.replaceAll('&lt;', '<').replaceAll('&gt;', '>')).redirect_url, `${origin}/registered`);
});

test('a code with the right state is taken once, and the page is gone', async (t) => {
  const { page, back } = await open(t);
  const answers = await Promise.all([ask(back('first')), ask(back('second')).catch(() => undefined)]);
  t.is(answers[0].status, 200);
  t.not(answers[1]?.status, 200);
  t.is(await page.code, 'first');
  await t.throwsAsync(() => ask(back('third')), undefined, 'nothing listens any more');
});

test('a code with a wrong state, or with none, is not taken', async (t) => {
  const { page, state, back } = await open(t);
  const wrong = `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`;
  for (const other of [wrong, '', state.slice(1), `${state}x`, 'ä']) {
    t.is((await ask(back('stolen', encodeURIComponent(other)))).status, 403, other);
  }
  t.is(await ask(back('')).then(({ status }) => status), 400, 'no code');
  t.is((await ask(back('right'))).status, 200, 'the right one still counts');
  t.is(await page.code, 'right');
});

test('the page is at a path that nobody can guess', async (t) => {
  const { page, origin } = await open(t);
  t.true(new URL(page.url).pathname.length >= 43);
  for (const path of ['/', '//', '/registered/x']) {
    const { status, body } = await ask(`${origin}${path}`);
    t.is(status, 404, path);
    t.false(body.includes('manifest'));
  }
});

test('the page is gone when its time is over', async (t) => {
  const { page, over, times, back } = await open(t);
  t.deepEqual(times, [600_000]);
  over.abort();
  await t.throwsAsync(() => page.code, { message: /10 minutes.*run gatehouse setup again/ });
  await t.throwsAsync(() => ask(back('late')));
});
