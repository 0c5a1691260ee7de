import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts `content` with a key derived from `secret`, bound to this `place`: who can read the store
 * learns nothing, and what they write or move there does not decrypt.
 */
export function seal(content: Buffer, secret: string, place: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyFrom(secret), nonce).setAAD(Buffer.from(place));
  const closed = Buffer.concat([cipher.update(content), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), closed]);
}

/** Undefined for anything that {@link seal} did not make with this secret for this place. */
export function unseal(sealed: Buffer, secret: string, place: string): Buffer | undefined {
  const start = NONCE_BYTES + TAG_BYTES;
  if (sealed.byteLength < start) {
    return undefined;
  }
  const decipher = createDecipheriv(CIPHER, keyFrom(secret), sealed.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(place))
    .setAuthTag(sealed.subarray(NONCE_BYTES, start));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()]);
  } catch {
    return undefined;
  }
}

function keyFrom(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'gatehouse http cache', KEY_BYTES));
}
