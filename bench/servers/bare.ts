/** The limit: node:http that reads the body, checks the HMAC, and stores nothing. */
import { timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { signatureOf } from '../../test/helpers/signature.ts';
import { announce, SECRET } from './announce.ts';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const expected = Buffer.from(signatureOf(Buffer.concat(chunks), SECRET));
    const sent = Buffer.from(String(request.headers['x-hub-signature-256']));
    const good = sent.length === expected.length && timingSafeEqual(sent, expected);
    response.writeHead(good ? 200 : 401, { 'Content-Length': 2 }).end('ok');
  });
});
announce(server);
