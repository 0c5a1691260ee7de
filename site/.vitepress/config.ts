import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { anchorOf } from '../anchor.ts';
import { checkLinks } from '../links.ts';
import { SEARCH } from '../search.ts';
import { readSidebar } from '../sidebar.ts';

/** Scripts, styles and the index of the search are the site's own: the browser refuses every other address. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** What git ignores, such as the secrets that `gatehouse setup` writes, is not served. */
const HIDDEN = readFileSync(new URL('../../.gitignore', import.meta.url), 'utf8')
  .split('\n')
  .filter((pattern) => !['', 'node_modules/', 'dist/'].includes(pattern))
  .map((pattern) => `**/${pattern.replace(/\/$/, '/**')}`);

/** The pages are the Markdown files of the repository, at the same paths, so that links between them stay as they are. */
export default defineConfig({
  title: 'Gatehouse',
  description: 'Self-hosted pull request review by the rules in your repository',
  lang: 'en',
  head: [
    ['meta', { 'http-equiv': 'Content-Security-Policy', content: POLICY }],
    ['link', { rel: 'icon', href: '/site/favicon.svg', type: 'image/svg+xml' }],
  ],
  srcDir: '..',
  srcExclude: ['dist/**', 'release/**', '**/snapshots/**'],
  rewrites: { 'site/index.md': 'index.md' },
  outDir: '../dist/site',
  cacheDir: '../dist/site-cache',
  markdown: {
    anchor: { slugify: anchorOf },
    // No forge reads attributes in braces, and a rule at the end of a line looks like them.
    attrs: { disable: true },
    languageAlias: { promql: 'sql' },
  },
  vite: { server: { host: '127.0.0.1', fs: { deny: ['**/.git/**', ...HIDDEN] } } },
  // Images are the files that the Markdown names, as on a forge.
  vue: { template: { transformAssetUrls: { tags: {}, includeAbsolute: false } } },
  // They are checked with the anchors, in the pages as they are built.
  ignoreDeadLinks: true,
  buildEnd: ({ outDir, srcDir }) => checkLinks(outDir, srcDir),
  themeConfig: {
    logo: '/site/favicon.svg',
    nav: [
      { text: 'Overview', link: '/README.md' },
      { text: 'All pages', link: '/docs/README.md' },
    ],
    sidebar: readSidebar(),
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: { searchOptions: SEARCH } } },
    notFound: {
      quote: 'No page has this address. Search for it, or look among all pages.',
      linkText: 'Go to the front page',
    },
  },
});
