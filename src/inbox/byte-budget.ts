/**
 * Bounds the bytes of the bodies in memory, from before they are read until they are answered.
 * Large bodies may hold at most half of it: a few slow uploads cannot shut out ordinary deliveries,
 * which are 20 to 30 KB.
 */
export interface ByteBudget {
  /** Undefined when there is no room. Release exactly once. */
  reserve(bytes: number): Reservation | undefined;
  readonly held: number;
}

export interface Reservation {
  release(): void;
}

const LARGE_BODY_BYTES = 1024 * 1024;

export function makeByteBudget(limit: number, onChange: (held: number) => void): ByteBudget {
  let held = 0;
  let heldByLarge = 0;

  function add(bytes: number, large: boolean): void {
    held += bytes;
    if (large) heldByLarge += bytes;
    onChange(held);
  }

  return {
    get held() {
      return held;
    },
    reserve(bytes) {
      const large = bytes > LARGE_BODY_BYTES;
      if (held + bytes > limit || (large && heldByLarge + bytes > limit / 2)) return undefined;
      add(bytes, large);
      return { release: () => add(-bytes, large) };
    },
  };
}
