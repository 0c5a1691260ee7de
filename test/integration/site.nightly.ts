import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import MiniSearch from 'minisearch';
import { build } from 'vitepress';
import { SEARCH } from '../../site/search.ts';
import { execute } from '../helpers/execute.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** In the repository, where its packages are found. */
const folder = join(ROOT, 'dist', `site-test-${process.pid}`);
const site = join(folder, 'built');
await execute('npm', ['run', '--silent', 'docs:build', '--', '--outDir', site], { cwd: ROOT });

const read = (file: string) => readFileSync(join(site, file), 'utf8');
const linksIn = (html = '') => [...html.matchAll(/ (?:href|src|srcset)="([^"]*)"/g)].map(([, link = '']) => link);

test.after.always(() => rm(folder, { recursive: true, force: true }));

test('every page is in the sidebar, but for those that the header leads to', (t) => {
  const [sidebar] = /<nav [^>]*id="VPSidebarNav"[\s\S]*?<\/nav>/.exec(read('docs/rules.html')) ?? [];
  const listed = linksIn(sidebar);
  const left = globSync('**/*.html', { cwd: site }).filter((page) => !listed.includes(`/${page}`));
  t.deepEqual(left.toSorted(), ['404.html', 'README.html', 'docs/README.html', 'index.html']);
});

test('files that pages link to are in the site', (t) => {
  for (const file of ['docs/gatehouse.schema.json', 'docs/pull-request-dark.png', 'site/favicon.svg']) {
    t.true(existsSync(join(site, file)), file);
  }
});

test('no page of the site loads anything from elsewhere, and the browser would refuse it', (t) => {
  for (const page of globSync('**/*.html', { cwd: site })) {
    const tags = [...read(page).matchAll(/<(?:script|img|source|link|iframe)\b[^>]*>/g)].join('');
    const elsewhere = linksIn(tags).filter((link) => /^(?:[a-z]+:)?\/\//.test(link));
    t.deepEqual(elsewhere, [], page);
    t.true(read(page).includes(`content="default-src 'none'; script-src 'self' `), page);
  }
  for (const style of globSync('**/*.css', { cwd: site })) {
    t.notRegex(read(style), /@import|url\(["']?(?:https?:)?\/\//, style);
  }
});

test('the page of the schema has every key of the policy', (t) => {
  const keys = new Set<string>();
  const schema = JSON.parse(read('docs/gatehouse.schema.json'), (_, value) => {
    for (const key of Object.keys(value?.properties ?? {})) {
      keys.add(key);
    }
    return value;
  });
  t.is(schema.$id, 'https://www.schemastore.org/gatehouse.json');
  t.true(keys.size > 50, `${keys.size} keys`);
  const page = read('docs/schema.html');
  for (const key of keys) {
    t.true(new RegExp(`<code>(?:[a-z_.[\\]]+\\.)?${key}</code>`).test(page), key);
  }
});

test('a search shows the right section first', async (t) => {
  const [chunk = ''] = globSync('assets/chunks/@localSearchIndexroot.*.js', { cwd: site });
  const { default: index } = await import(pathToFileURL(join(site, chunk)).href);
  const search = MiniSearch.loadJSON(index, { fields: ['title', 'titles', 'text'], searchOptions: SEARCH });
  for (const [words, section] of [
    ['two reviewers', '/docs/cookbook.html#two-reviewers'],
    ['stale approvals', '/docs/rules.html#approvals'],
    ['monorepo', '/docs/rules.html#files'],
    ['GHES', '/docs/connect-github.html#github-enterprise-server'],
  ]) {
    t.is(search.search(words ?? '')[0]?.id, section, words);
  }
});

/** A site of other files, with the configuration of this one. */
async function siteOf(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const config = `import config from '${ROOT}site/.vitepress/config.ts';\nexport default { ...config, head: [], themeConfig: {} };\n`;
  for (const [file, content] of Object.entries({ 'site/.vitepress/config.mts': config, ...files })) {
    await mkdir(dirname(join(folder, name, file)), { recursive: true });
    await writeFile(join(folder, name, file), content);
  }
  return join(folder, name, 'site');
}

test('a link that leads nowhere fails the build, and so does a missing anchor', async (t) => {
  const text = '# Some words\n\n[b](b.md) [file](../none.json) [anchor](#none) [its](b.md#none) ![](none.png)\n';
  const rest = '[fine](b.md#its-words) [fine](../package.json)\n';
  const root = await siteOf('broken', {
    'site/index.md': '',
    'docs/a.md': text + rest,
    'docs/b.md': '# Its words\n',
    'package.json': '{}',
  });
  const error = await t.throwsAsync(build(root));
  t.deepEqual(error?.message.split('\n').slice(1).toSorted(), [
    'docs/a.html: /docs/a.html#none',
    'docs/a.html: /docs/b.html#none',
    'docs/a.html: /docs/none.png',
    'docs/a.html: /none.json',
  ]);
});

test('npm run docs serves this machine alone, and nothing that git ignores', async (t) => {
  const secrets = ['gatehouse-secret.yaml', '.dev/stores.env'];
  const root = await siteOf('served', {
    'a.md': '# A\n',
    ...Object.fromEntries(secrets.map((file) => [file, 'secret'])),
  });
  const docs = spawn(join(ROOT, 'node_modules/.bin/vitepress'), ['dev', root], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  docs.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  try {
    await until(() => /Local:.*\//.test(printed));
    const addresses = stripVTControlCharacters(printed).match(/http\S+/g) ?? [];
    t.is(addresses.length, 1);
    t.regex(addresses[0] ?? '', /^http:\/\/127\.0\.0\.1:\d+\/$/);
    t.is((await fetch(`${addresses[0]}a.html`)).status, 200);
    for (const secret of secrets) {
      t.is((await fetch(`${addresses[0]}${secret}`)).status, 403, secret);
    }
  } finally {
    docs.kill();
  }
});
