import { existsSync } from 'node:fs';
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const SITE = 'http://site.invalid/';

/**
 * Fails if a link or an image of a built page leads nowhere, or to a heading that is not there. A file of the repository
 * that a page leads to comes along.
 */
export async function checkLinks(output: string, repository: string): Promise<void> {
  const names = (await readdir(output, { recursive: true })).filter((file) => file.endsWith('.html'));
  const pages = new Map(
    await Promise.all(names.map(async (name) => [name, await readPage(join(output, name))] as const)),
  );
  const broken: string[] = [];
  for (const [name, { links }] of pages) {
    for (const { href, pathname, hash } of [...links].map((link) => new URL(link, SITE + name))) {
      const target = decodeURIComponent(pathname).slice(1) || 'index.html';
      if (!href.startsWith(SITE)) {
        continue;
      }
      if (!existsSync(join(output, target)) && !target.endsWith('.html') && existsSync(join(repository, target))) {
        await cp(join(repository, target), join(output, target));
      }
      const anchor = decodeURIComponent(hash.slice(1));
      if (!existsSync(join(output, target)) || (anchor !== '' && !pages.get(target)?.anchors.has(anchor))) {
        broken.push(`${name}: /${target}${hash}`);
      }
    }
  }
  if (broken.length > 0) {
    throw new Error(`these links lead nowhere:\n${broken.join('\n')}`);
  }
}

async function readPage(path: string) {
  const html = await readFile(path, 'utf8');
  const tags = [...html.matchAll(/<(?:a|img|link|script|source)\b[^>]*>/g)].join('');
  return {
    links: new Set([...tags.matchAll(/ (?:href|src|srcset)="([^" ]+)/g)].map(([, link = '']) => link)),
    anchors: new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)),
  };
}
