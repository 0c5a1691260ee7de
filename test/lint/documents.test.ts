import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anchorOf } from '../../site/anchor.ts';
import test from '../helpers/test.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const inRoot = (await readdir(ROOT)).filter((name) => name.endsWith('.md'));
const inDocs = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
const DOCUMENTS = [...inRoot, ...inDocs, 'charts/gatehouse/README.md', 'test/simulated-forge/README.md'];

const withoutCode = (markdown: string) => markdown.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** References without a definition, such as `[text][name]`. */
function undefinedReferencesIn(markdown: string): readonly string[] {
  const text = withoutCode(markdown);
  const defined = new Set([...text.matchAll(/^\[([^\]]+)\]: \S+$/gm)].map(([, name]) => name));
  return [...text.matchAll(/\]\[([^\]]+)\]/g)].map(([, name = '']) => name).filter((name) => !defined.has(name));
}

/** Where links within the repository lead: Markdown's, and those of images. */
function linksIn(markdown: string): readonly string[] {
  const text = withoutCode(markdown);
  return [...text.matchAll(/\]\(([^)\s]+)\)/g), ...text.matchAll(/\b(?:src|srcset)="([^"]+)"/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The names that a forge gives to headings. */
function anchorsIn(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.*)$/gm)];
  return new Set(headings.map(([, heading = '']) => anchorOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))));
}

test('every link of the documents within the repository leads somewhere', async (t) => {
  t.deepEqual((await Promise.all(DOCUMENTS.map(brokenIn))).flat(), []);
});

async function brokenIn(document: string): Promise<readonly string[]> {
  const markdown = await readFile(join(ROOT, document), 'utf8');
  const links = linksIn(markdown);
  const lead = await Promise.all(links.map((link) => leadsSomewhere(document, link)));
  const broken = [...links.filter((_, index) => !lead[index]), ...undefinedReferencesIn(markdown)];
  return broken.map((link) => `${document}: ${link}`);
}

async function leadsSomewhere(document: string, link: string): Promise<boolean> {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(ROOT, document) : join(ROOT, dirname(document), path);
  if (!existsSync(target)) {
    return false;
  }
  return anchor === undefined || !target.endsWith('.md') || anchorsIn(await readFile(target, 'utf8')).has(anchor);
}

test('links and anchors are found', (t) => {
  const markdown = '## The `a` and *b*: c’s\n[x](docs/a.md#b) `[no](no.md)` [y](https://a.test) <img src="c.png">\n';
  t.deepEqual(linksIn(markdown), ['docs/a.md#b', 'c.png']);
  t.deepEqual([...anchorsIn(markdown)], ['the-a-and-b-cs']);
  t.deepEqual(undefinedReferencesIn('[a][b] [c][d]\n\n[b]: x.md\n'), ['d']);
});

/** Relative to the root. */
const files = ['src', 'test', 'bench', 'release'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length)),
);
const folders = new Set(files.map((file) => dirname(file)));

/** What the map has in backticks. Paths in src mostly begin after it. */
const named = [...readFileSync(join(ROOT, 'docs/development.md'), 'utf8').matchAll(/`([^`\n]+)`/g)].map(
  ([, code = '']) => code.replace(/^src\//, ''),
);

test('the map of the code names every folder of src and at the top of test, and no file that is not there', (t) => {
  const tops = [...folders].flatMap((folder) => /^test\/[^/]+/.exec(folder) ?? []);
  const inSrc = [...folders].flatMap((folder) => (folder.startsWith('src/') ? [folder.slice('src/'.length)] : []));
  t.deepEqual(
    tops.filter((top) => !named.includes(top)),
    [],
  );
  t.deepEqual(
    inSrc.filter((folder) => !named.some((path) => `${path}/`.startsWith(`${folder}/`))),
    [],
  );
  const gone = named
    .filter((path) => /^[\w./-]+\.ts$/.test(path))
    .filter((path) => !files.some((file) => `/${file}`.endsWith(`/${path}`)));
  t.deepEqual(gone, []);
});
