import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
};

/** Serves a folder on this machine only. */
export function serveFolder(folder: string, port: number): Promise<Server> {
  const server = createServer(async ({ url = '/' }, response) => {
    try {
      const path = normalize(decodeURIComponent(new URL(url, 'http://localhost').pathname));
      const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
      const body = await readFile(file);
      response.setHeader('Content-Type', TYPES[extname(file)] ?? 'text/plain; charset=utf-8').end(body);
    } catch {
      response.writeHead(404).end('Not found\n');
    }
  });
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server));
  return promise;
}
