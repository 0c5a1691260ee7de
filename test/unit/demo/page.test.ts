import { createHash } from 'node:crypto';
import { type Moment, renderPage } from '../../../demo/page/page.ts';
import test from '../../helpers/test.ts';

const SCRIPT = '<script>alert(1)</script>';

const moment: Moment = {
  when: 'alice opens a pull request.',
  repository: 'acme/widgets',
  number: 7,
  title: 'Negative sizes',
  author: 'alice',
  head: 'negative-sizes',
  base: 'main',
  labels: ['geometry'],
  status: { context: 'gatehouse/main', state: 'failure', description: '1 of 2 rules failed: no-debugging' },
  comments: [],
  files: [
    {
      path: 'src/widget.ts',
      before: 'one\ntwo\n',
      after: 'one\ndebugger;\n',
      comments: [{ author: 'gatehouse', line: 2, body: 'Remove the **debugging** code.' }],
    },
  ],
};

/** What a browser would take for tags. */
const tagsOf = (page: string) => [...page.matchAll(/<[a-z][^>]*>/gi)].map(([tag]) => tag);
const SAFE_TAG = /^<\w+(?: (?:class|colspan|lang|charset|name|content|http-equiv)="[^"]*")*>$/;

test('a script in a title, path, label, line, name or comment is shown as text', (t) => {
  const hostile = `"'>${SCRIPT}<img src=x onerror=alert(1)>`;
  const body = `${hostile}\n\n[link](javascript:alert(1)) ![picture](https://elsewhere.test/a.png)\n\n| ${SCRIPT} |\n|---|\n| ${SCRIPT} |\n\n<details><summary>${SCRIPT}</summary>\n`;
  const page = renderPage([
    {
      ...moment,
      when: hostile,
      repository: hostile,
      title: hostile,
      author: hostile,
      head: hostile,
      base: hostile,
      labels: [hostile],
      status: { context: hostile, state: hostile, description: hostile },
      comments: [{ author: hostile, body }],
      files: [
        { path: hostile, before: hostile, after: `${hostile}\n`, comments: [{ author: hostile, line: 1, body }] },
      ],
    },
  ]);
  for (const tag of tagsOf(page)) {
    t.regex(tag, SAFE_TAG);
    t.notRegex(tag, /^<(?:script|img|a)\b/i);
  }
  t.is(page.split('&lt;script&gt;alert(1)&lt;/script&gt;').length, page.split('alert(1)&lt;/script&gt;').length);
  t.true(page.includes(`<span class="label">&quot;'&gt;&lt;script&gt;alert(1)&lt;/script&gt;`));
});

test('the page loads nothing, runs nothing, and says so in its security policy', (t) => {
  const page = renderPage([
    { ...moment, comments: [{ author: 'g', body: '[a](https://a.test) ![b](https://b.test/b.png)' }] },
  ]);
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
  t.regex(policy, /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'; form-action 'none'$/);
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
  t.true(
    policy.includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`),
    'its own style, and no other',
  );
  t.notRegex(style, /url\(|@import|@font-face/);
  for (const tag of tagsOf(page)) {
    t.regex(tag, SAFE_TAG);
    t.notRegex(tag, /^<(?:script|link|iframe|object|embed|form|base|img|svg)\b/);
  }
});
