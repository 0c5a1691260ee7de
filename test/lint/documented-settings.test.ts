import { readFile } from 'node:fs/promises';
import { hookEvents } from '../../src/forges/gitea/hook-events.ts';
import { APP_EVENTS, APP_PERMISSIONS } from '../../src/forges/github/app-permissions.ts';
import test from '../helpers/test.ts';

/** What the documents tell people to set by hand is what the program sets and checks. */
const read = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const github = await read('connect-github.md');
const gitea = await read('connect-gitea.md');

function byHand(page: string): string {
  const [, text = ''] = page.split('\n## By hand\n');
  return text.split('\n## ')[0] ?? '';
}

/** The rows below the header that begins with `first`, each a list of its cells. */
function table(text: string, first: string): readonly (readonly string[])[] {
  const lines = text.split('\n').map((line) => line.trim());
  const start = lines.findIndex((line) => line.startsWith(`| ${first} |`));
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  const cells = (line: string) => line.split('|').slice(1, -1);
  return start < 0 ? [] : lines.slice(start + 2, end).map((line) => cells(line).map((cell) => cell.trim()));
}

test('the App has the permissions and the events that docs/connect-github.md lists', (t) => {
  const permissions = APP_PERMISSIONS.map(({ of, title, access }) => [
    `${of === 'repository' ? 'Repository' : 'Organisation'}: ${title}`,
    access === 'read' ? 'read' : 'read and write',
  ]);
  t.deepEqual(
    table(byHand(github), 'Permission').map(([name, access]) => [name, access]),
    permissions,
  );
  t.deepEqual(
    table(byHand(github), 'Event').map(([name, purpose]) => [name, purpose === 'every review']),
    APP_EVENTS.map((event) => [event.title, event.for === 'every-review']),
  );
});

test('a webhook of Gitea or Forgejo has the events that docs/connect-gitea.md lists', (t) => {
  const named = [...byHand(gitea).matchAll(/\*\*([^*]+)\*\*/g)].map(([, name = '']) => name.replaceAll(/\s+/g, ' '));
  const titles = hookEvents('gitea').map(({ title }) => title);
  t.deepEqual(named.toSorted(), titles.toSorted());
  const onForgejo = hookEvents('forgejo').map(({ title }) => title);
  t.deepEqual(
    titles.filter((title) => !onForgejo.includes(title)),
    ['Commit Status'],
  );
});
