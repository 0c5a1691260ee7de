/** `npm run docs`: builds the site of the documents into dist/site and serves it; with `--build` it only builds. */
import { join } from 'node:path';
import { buildSite } from './build.ts';
import { ROOT } from './pages.ts';
import { serveFolder } from './serve.ts';

const DEFAULT_PORT = 8000;
const output = join(ROOT, 'dist/site');

await buildSite(output);
process.stdout.write(`built into ${output}\n`);
if (!process.argv.includes('--build')) {
  const port = Number(process.env['PORT'] ?? DEFAULT_PORT);
  await serveFolder(output, port);
  process.stdout.write(`http://127.0.0.1:${port}/\n`);
}
