import { posix } from 'node:path';
import { addressOf } from './pages.ts';

/** The four front doors, and what belongs to each. */
const NAVIGATION: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'You opened a pull request',
    [
      ['docs/guide-author.md', 'Guide'],
      ['docs/override.md', 'Override a rule'],
    ],
  ],
  [
    'You write the policy',
    [
      ['docs/guide-policy.md', 'Guide'],
      ['docs/cookbook.md', 'Cookbook'],
      ['docs/rules.md', 'Rules'],
      ['docs/schema.md', 'Schema'],
      ['docs/observe.md', 'Observe a rule'],
      ['docs/prove.md', 'Test a policy'],
      ['docs/agents.md', 'Agents'],
      ['docs/migrate.md', 'From policy-bot or Mergeable'],
    ],
  ],
  [
    'You run it',
    [
      ['docs/guide-operator.md', 'Guide'],
      ['docs/connect-github.md', 'Connect GitHub'],
      ['docs/connect-gitea.md', 'Connect Gitea or Forgejo'],
      ['docs/operations.md', 'Operations'],
      ['docs/platforms.md', 'Ingresses and platforms'],
      ['docs/alerts.md', 'Alerts'],
      ['docs/sizing.md', 'Sizing'],
      ['docs/forges.md', 'How it reads a forge'],
      ['docs/commands.md', 'Commands'],
      ['docs/settings.md', 'Settings'],
      ['docs/metrics.md', 'Metrics'],
      ['charts/gatehouse/README.md', 'Chart'],
      ['docs/performance.md', 'Performance'],
      ['docs/comparison.md', 'Comparison'],
    ],
  ],
  [
    'You change the code',
    [
      ['CONTRIBUTING.md', 'Guide'],
      ['docs/development.md', 'Map of the code'],
      ['test/simulated-forge/README.md', 'Simulated forge'],
      ['SECURITY.md', 'Security'],
      ['CHANGELOG.md', 'Changelog'],
    ],
  ],
];

/** Scripts, styles and the index of the search are the site's own: the browser refuses every other address. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** A whole page around what Markdown made. `page` is its path in the repository. */
export function inShell(content: string, page: string): string {
  const up = '../'.repeat(page.split('/').length - 1);
  const title = /<h1[^>]*>(.*?)<\/h1>/.exec(content)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? 'Gatehouse';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}pagefind/pagefind-ui.css">
<link rel="stylesheet" href="${up}site.css">
<script src="${up}pagefind/pagefind-ui.js" defer></script>
<script src="${up}search.js" defer></script>
</head>
<body>
<header><a href="${up}index.html">Gatehouse</a><a href="${up}docs/index.html">Documentation</a><div id="search"></div></header>
<div class="columns">
<nav aria-label="Pages">${navigation(page)}</nav>
<main data-pagefind-body>
${content}</main>
</div>
</body>
</html>
`;
}

function navigation(page: string): string {
  const groups = NAVIGATION.map(([reader, pages]) => {
    const links = pages.map(([path, name]) => {
      const current = path === page ? ' aria-current="page"' : '';
      return `<li><a href="${posix.relative(posix.dirname(page), addressOf(path))}"${current}>${name}</a></li>`;
    });
    const open = pages.some(([path]) => path === page) ? ' open' : '';
    return `<details${open}><summary>${reader}</summary><ul>${links.join('')}</ul></details>`;
  });
  return groups.join('');
}
