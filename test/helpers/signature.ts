import { createHmac } from 'node:crypto';

/**
 * The value of `X-Hub-Signature-256` for a body, as a forge writes it. It shares no code with the product: what checks
 * a signature must not be what makes it.
 */
export function signatureOf(body: Uint8Array | string, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}
