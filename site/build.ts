import { cp, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import Eleventy from '@11ty/eleventy';
import * as pagefind from 'pagefind';
import { makeMarkdown } from './markdown.ts';
import { addressOf, FILES, listPages, ROOT } from './pages.ts';
import { type Schema, schemaPage } from './schema-page.ts';
import { inShell } from './shell.ts';

const HERE = relative(process.cwd(), import.meta.dirname);

/** Builds the site into a folder, which is emptied first: the pages, the files that they link to, and the index of the search. */
export async function buildSite(output: string): Promise<void> {
  await rm(output, { recursive: true, force: true });
  const pages = await readPages();
  const eleventy = new Eleventy(HERE, output, {
    quietMode: true,
    configPath: false,
    config(config) {
      config.setTemplateFormats('md');
      config.setLibrary('md', makeMarkdown());
      for (const [path, content] of pages) {
        // Markdown alone: the braces of Helm and of JSON in the pages are no template.
        const data = { permalink: addressOf(path), templateEngineOverride: 'md' };
        config.addTemplate(path.replace(/\.md$/, '.page.md'), content, data);
      }
      config.addTransform('shell', function shell(content) {
        const address = relative(output, this.page.outputPath);
        return inShell(content, [...pages.keys()].find((page) => addressOf(page) === address) ?? address);
      });
    },
  });
  await eleventy.write();
  for (const file of FILES) {
    await cp(join(ROOT, file), join(output, file), { recursive: true });
  }
  for (const file of ['site.css', 'search.js']) {
    await cp(join(import.meta.dirname, file), join(output, file));
  }
  await indexPages(output);
}

/** By their paths in the repository. The page of the schema is made here. */
async function readPages(): Promise<ReadonlyMap<string, string>> {
  const pages = (await listPages()).map(async (path) => [path, await readFile(join(ROOT, path), 'utf8')] as const);
  const schema: Schema = JSON.parse(await readFile(join(ROOT, 'docs/gatehouse.schema.json'), 'utf8'));
  return new Map([...(await Promise.all(pages)), ['docs/schema.md', schemaPage(schema)]]);
}

async function indexPages(output: string): Promise<void> {
  const { index, errors } = await pagefind.createIndex({ forceLanguage: 'en' });
  if (index === undefined) {
    throw new Error(`the search has no index: ${errors.join('; ')}`);
  }
  await index.addDirectory({ path: output });
  await index.writeFiles({ outputPath: join(output, 'pagefind') });
  await pagefind.close();
}
