import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

const INDEX = new URL('../docs/README.md', import.meta.url);

interface Group {
  text: string;
  collapsed: boolean;
  items: { text: string; link: string }[];
}

/** The groups of docs/README.md and the links in them, so that there is one list of pages. */
export function readSidebar(): Group[] {
  const [, ...groups] = readFileSync(INDEX, 'utf8').split(/^## /m);
  return groups.map((group) => ({
    text: group.slice(0, group.indexOf('\n')),
    collapsed: false,
    items: [...group.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, text = '', target = '']) => ({
      text: text.charAt(0).toUpperCase() + text.slice(1),
      link: posix.join('/docs', target),
    })),
  }));
}
