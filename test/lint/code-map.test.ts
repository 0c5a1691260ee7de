import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from '../helpers/test.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

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

test('the map of the code names every folder of src', (t) => {
  const missing = [...folders]
    .filter((folder) => folder.startsWith('src/'))
    .map((folder) => folder.slice('src/'.length))
    .filter((folder) => !named.some((path) => `${path}/`.startsWith(`${folder}/`)));
  t.deepEqual(missing, []);
});

test('the map of the code names every folder at the top of test', (t) => {
  const tops = new Set([...folders].flatMap((folder) => /^test\/[^/]+/.exec(folder) ?? []));
  t.deepEqual(
    [...tops].filter((top) => !named.includes(top)),
    [],
  );
});

test('the map of the code names no file that is not there', (t) => {
  const gone = named
    .filter((path) => /^[\w./-]+\.ts$/.test(path))
    .filter((path) => !files.some((file) => `/${file}`.endsWith(`/${path}`)));
  t.deepEqual(gone, []);
});
