import { createHmac, timingSafeEqual } from 'node:crypto';

/** The signing keys, in the order in which they are tried. Two while one replaces the other. */
export interface SigningSecrets {
  readonly current: string;
  readonly previous: string | undefined;
}

/** Hashes the bytes of a body in the order in which they came. */
export interface SignatureCheck {
  update(bytes: Uint8Array): void;
  /** Which secret made the digest of all bytes; undefined when none did. To be called once. */
  match(): 'current' | 'previous' | undefined;
}

/** Compares in constant time. `digest` has 32 bytes. */
export function checkSignature({ current, previous }: SigningSecrets, digest: Buffer): SignatureCheck {
  const hashes = [
    { secret: 'current', hmac: createHmac('sha256', current) } as const,
    ...(previous === undefined ? [] : [{ secret: 'previous', hmac: createHmac('sha256', previous) } as const]),
  ];
  return {
    update(bytes) {
      for (const { hmac } of hashes) {
        hmac.update(bytes);
      }
    },
    match: () => hashes.find(({ hmac }) => timingSafeEqual(hmac.digest(), digest))?.secret,
  };
}
