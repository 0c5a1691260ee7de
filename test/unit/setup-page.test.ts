import { request } from 'node:http';
import test from 'ava';
import { openManifestPage, type StartTimer } from '../../src/commands/setup/page.ts';
import { until } from '../helpers/until.ts';

const FORGE = 'https://git.example.com';
const form = {
  action: (state: string) => `${FORGE}/settings/apps/new?state=${state}`,
  manifest: (redirectUrl: string) => ({ name: '"><script>alert(1)</script>', redirect_url: redirectUrl }),
};

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** With any Host header, which `fetch` does not allow. */
function ask(url: string, options: { readonly host?: string; readonly method?: string } = {}): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { host = new URL(url).host, method = 'GET' } = options;
  const sent = request(url, { method, headers: { host } }, async (response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of response) {
      chunks.push(chunk);
    }
    resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() });
  });
  sent.on('error', reject).end();
  return promise;
}

async function open(startTimer?: StartTimer) {
  const codes: string[] = [];
  const exchange = async (code: string) => {
    codes.push(code);
    if (code === 'bad') {
      throw new Error('the code <b>is</b> old');
    }
    return { value: `app of ${code}`, say: 'Registered.', link: { url: `${FORGE}/apps/a`, text: 'Install' } };
  };
  const page = await openManifestPage(form, exchange, startTimer);
  const { body, headers, status } = await ask(page.url);
  const state = /action="[^"]*state=([^"]+)"/.exec(body)?.[1] ?? '';
  const back = (code: string, withState = state) =>
    `http://127.0.0.1:${page.port}/registered?code=${code}&state=${withState}`;
  return { page, codes, body, headers, status, state, back };
}

test('the page has one form for the forge, no script, and forbids all else', async (t) => {
  const { page, body, headers, status, state } = await open();
  t.is(status, 200);
  t.true(state.length >= 43, 'a state of 256 bits');
  t.is(
    headers['content-security-policy'],
    `default-src 'none'; form-action ${FORGE}; frame-ancestors 'none'; base-uri 'none'`,
  );
  t.is(headers['cache-control'], 'no-store');
  t.false(/<script/i.test(body));
  const manifest = /name="manifest" value="([^"]*)"/.exec(body)?.[1]?.replaceAll('&quot;', '"') ?? '';
  t.is(
    JSON.parse(manifest.replaceAll('&lt;', '<').replaceAll('&gt;', '>')).redirect_url,
    `http://127.0.0.1:${page.port}/registered`,
  );
  page.close();
});

test('a code with the right state is exchanged once, and the page is gone', async (t) => {
  const { page, codes, back } = await open();
  const answers = await Promise.all([ask(back('first')), ask(back('second')).catch(() => undefined)]);
  t.is(answers[0].status, 200);
  t.true(answers[0].body.includes(`<a href="${FORGE}/apps/a">Install</a>`));
  t.not(answers[1]?.status, 200);
  t.is(await page.result, 'app of first');
  t.deepEqual(codes, ['first']);
  await t.throwsAsync(() => ask(back('third')), undefined, 'nothing listens any more');
});

test('a code with a wrong state, or with none, is not exchanged', async (t) => {
  const { page, codes, state, back } = await open();
  const wrong = `${state.slice(0, -1)}${state.endsWith('A') ? 'B' : 'A'}`;
  for (const other of [wrong, '', state.slice(1), `${state}x`, 'ä']) {
    t.is((await ask(back('stolen', encodeURIComponent(other)))).status, 403, other);
  }
  t.is(await ask(back('')).then(({ status }) => status), 400, 'no code');
  t.deepEqual(codes, []);
  t.is((await ask(back('right'))).status, 200, 'the right one still counts');
  t.is(await page.result, 'app of right');
});

test('a request for another host is refused', async (t) => {
  const { page, codes, back } = await open();
  for (const host of ['evil.example', `evil.example:${page.port}`, `localhost:${page.port}`, '127.0.0.1']) {
    for (const url of [page.url, back('code')]) {
      const { status, body } = await ask(url, { host });
      t.is(status, 421, host);
      t.false(body.includes('manifest'));
    }
  }
  t.deepEqual(codes, []);
  page.close();
});

test('the page is at a path that nobody can guess, and answers GET only', async (t) => {
  const { page, codes, back } = await open();
  t.true(new URL(page.url).pathname.length >= 43);
  t.is((await ask(`http://127.0.0.1:${page.port}/`)).status, 404);
  t.is((await ask(back('code'), { method: 'POST' })).status, 405);
  t.is((await ask(page.url, { method: 'POST' })).status, 405);
  t.deepEqual(codes, []);
  page.close();
});

test('the page is gone when its time is over', async (t) => {
  let over = () => {};
  let ms = 0;
  const { page, codes, back } = await open((callback, after) => {
    over = callback;
    ms = after;
    return () => {};
  });
  t.is(ms, 600_000);
  over();
  over();
  await t.throwsAsync(() => page.result, { message: /10 minutes.*run gatehouse setup again/ });
  await t.throwsAsync(() => ask(back('late')));
  t.deepEqual(codes, []);
});

test('once the code is there, the time does not end the exchange', async (t) => {
  const events: string[] = [];
  const exchanged = Promise.withResolvers<void>();
  const page = await openManifestPage(
    form,
    async () => {
      events.push('exchange');
      await exchanged.promise;
      return { value: 'app', say: 'Done.', link: { url: FORGE, text: 'Install' } };
    },
    () => () => events.push('timer stopped'),
  );
  const state = /state=([^"]+)"/.exec((await ask(page.url)).body)?.[1] ?? '';
  const answered = ask(`http://127.0.0.1:${page.port}/registered?code=c&state=${state}`);
  await until(() => events.includes('exchange'));
  t.deepEqual(events.slice(0, 2), ['timer stopped', 'exchange']);
  exchanged.resolve();
  t.is(await page.result, 'app');
  t.is((await answered).status, 200);
});

test('a failed exchange is shown in the browser, escaped, and ends the page', async (t) => {
  const { page, back } = await open();
  const failed = t.throwsAsync(() => page.result, { message: 'the code <b>is</b> old' });
  const { status, body } = await ask(back('bad'));
  t.is(status, 502);
  t.true(body.includes('the code &lt;b&gt;is&lt;/b&gt; old If GitHub shows the App in its settings, delete it there'));
  await failed;
});
