/** The limit: node:http that reads the body, checks the HMAC, and stores nothing. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { announce, SECRET } from './announce.ts';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const digest = `sha256=${createHmac('sha256', SECRET).update(Buffer.concat(chunks)).digest('hex')}`;
    const given = Buffer.from(String(request.headers['x-hub-signature-256']));
    const good = given.length === digest.length && timingSafeEqual(given, Buffer.from(digest));
    response.writeHead(good ? 200 : 401, { 'Content-Length': 2 }).end('ok');
  });
});
announce(server);
