import { createHash } from 'node:crypto';
import type { Location } from '../predicates/predicate.ts';

const FINGERPRINT_LENGTH = 32;

/** A place found, with a name for it that does not change when lines move. */
export interface FingerprintedLocation extends Location {
  /** 32 hexadecimal digits. */
  readonly fingerprint: string;
}

/**
 * Names what a rule found by the rule, the path, what the line says and how many the same were before it, and not by
 * its number: lines inserted above must not make an old finding look new.
 */
export function fingerprinted(ruleId: string, locations: readonly Location[]): readonly FingerprintedLocation[] {
  const seen = new Map<string, number>();
  return locations.map((location) => {
    const what = JSON.stringify([ruleId, location.path, location.digest ?? location.text ?? null]);
    const before = seen.get(what) ?? 0;
    seen.set(what, before + 1);
    const hash = createHash('sha256').update(`${what}#${before}`).digest('hex');
    return { ...location, fingerprint: hash.slice(0, FINGERPRINT_LENGTH) };
  });
}
