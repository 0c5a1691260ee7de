import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { buildSite } from '../../site/build.ts';
import { addressOf, listPages } from '../../site/pages.ts';
import { schemaPage } from '../../site/schema-page.ts';
import { serveFolder } from '../../site/serve.ts';
import test from '../helpers/test.ts';

const folder = await mkdtemp(join(tmpdir(), 'gatehouse-site-'));
await buildSite(folder);
const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => posix.relative(folder, posix.join(entry.parentPath, entry.name)));
const pages = new Map(
  await Promise.all(
    files
      .filter((file) => file.endsWith('.html'))
      .map(async (file) => [file, await readFile(join(folder, file), 'utf8')] as const),
  ),
);

const valuesOf = (html: string, attribute: string) =>
  [...html.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  );

test.after.always(() => rm(folder, { recursive: true, force: true }));

test('the site has every document, and the schema', async (t) => {
  const addresses = [...(await listPages()), 'docs/schema.md'].map(addressOf);
  t.deepEqual([...pages.keys()].toSorted(), addresses.toSorted());
});

test('no link of the site leads nowhere, and no anchor is missing', (t) => {
  let links = 0;
  for (const [page, html] of pages) {
    for (const link of ['href', 'src', 'srcset'].flatMap((attribute) => valuesOf(html, attribute))) {
      if (!/^[a-z]+:/.test(link)) {
        const [path = '', anchor] = decodeURIComponent(link).split('#');
        const target = path === '' ? page : posix.join(posix.dirname(page), path);
        t.true(files.includes(target), `${page}: ${link}`);
        t.true(
          anchor === undefined || valuesOf(pages.get(target) ?? '', 'id').includes(anchor),
          `${page}: ${link} has no such heading`,
        );
        links++;
      }
    }
  }
  t.true(links > 1000, `${links} links`);
});

test('no page of the site loads anything from elsewhere', (t) => {
  for (const [page, html] of pages) {
    const loaded = [...html.matchAll(/<(?:script|img|source|link|iframe)\b[^>]*>/g)].flatMap(([tag]) =>
      ['src', 'srcset', 'href'].flatMap((attribute) => valuesOf(tag, attribute)),
    );
    t.deepEqual(
      loaded.filter((address) => /^(?:[a-z]+:)?\/\//.test(address)),
      [],
      page,
    );
    t.true(html.includes(`content="default-src 'none'; script-src 'self' `), page);
  }
});

test('every page but the index of a folder is in the navigation', (t) => {
  const [, index = ''] = /<nav [^>]*>([\s\S]*?)<\/nav>/.exec(pages.get('index.html') ?? '') ?? [];
  const shown = valuesOf(index, 'href');
  const left = [...pages.keys()].filter((page) => !shown.includes(page));
  t.deepEqual(left.filter((page) => !page.startsWith('test/')).toSorted(), [
    'CODE_OF_CONDUCT.html',
    'docs/index.html',
    'index.html',
  ]);
});

test('the search has an index of every page', async (t) => {
  const entry = JSON.parse(await readFile(join(folder, 'pagefind/pagefind-entry.json'), 'utf8'));
  t.is(entry.languages.en.page_count, pages.size);
});

test('the page of the schema has every key of the policy', (t) => {
  const page = schemaPage({
    definitions: {
      rule: {
        required: ['id'],
        properties: {
          id: { type: 'string', description: 'Its name.' },
          level: { enum: ['error', 'warn'] },
          require: { $ref: '#/definitions/condition' },
          approvals: { anyOf: [{ type: 'integer' }, { type: 'object', properties: { from: { type: 'string' } } }] },
        },
      },
    },
  });
  t.regex(page, /^## A rule$/m);
  t.regex(page, /^\| `id` \| string; required \| Its name\. \|$/m);
  t.regex(page, /^\| `level` \| `error`, `warn` \|/m);
  t.regex(page, /^\| `require` \| \[a condition\]\(#a-condition\) \|/m);
  t.regex(page, /^\| `approvals\.from` \| string \|/m);
  for (const key of ['approvals.unknown_authors', 'added_lines', 'author_trailers']) {
    t.true(pages.get('docs/schema.html')?.includes(`<code>${key}</code>`), key);
  }
});

test('the server of the site gives no file outside its folder', async (t) => {
  const server = await serveFolder(folder, 0);
  const { address, port } = server.address() as AddressInfo;
  t.is(address, '127.0.0.1');
  for (const [path, status] of [
    ['/', 200],
    ['/docs/', 200],
    ['/docs/rules.html', 200],
    ['/none.html', 404],
    ['/%2e%2e/%2e%2e/etc/passwd', 404],
    ['/..%2f..%2f..%2f..%2fetc/passwd', 404],
    ['/%', 404],
  ] as const) {
    t.is((await fetch(`http://127.0.0.1:${port}${path}`)).status, status, path);
  }
  server.close();
  server.closeAllConnections();
});
