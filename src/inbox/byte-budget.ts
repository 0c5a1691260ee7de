/**
 * Bounds the bytes of the bodies in memory, from when they arrive until they are answered.
 * Large bodies may hold at most half of it: a few slow uploads cannot shut out ordinary deliveries,
 * which are 20 to 30 KB.
 */
export interface ByteBudget {
  /** Holds nothing yet. Release exactly once. */
  open(): Reservation;
  readonly held: number;
}

export interface Reservation {
  /** Takes what is missing to so many bytes. False when there is no room for it; what was held is kept. */
  growTo(bytes: number): boolean;
  release(): void;
}

const LARGE_BODY_BYTES = 1024 * 1024;
/** A request costs memory beside its body's, so that a flood of small ones is bounded too. */
const MIN_RESERVATION_BYTES = 16 * 1024;

export function makeByteBudget(limit: number, onChange: (held: number) => void): ByteBudget {
  let held = 0;
  let heldByLarge = 0;

  function open(): Reservation {
    let own = 0;
    const large = (bytes: number) => (bytes > LARGE_BODY_BYTES ? bytes : 0);

    function set(bytes: number): void {
      held += bytes - own;
      heldByLarge += large(bytes) - large(own);
      own = bytes;
      onChange(held);
    }

    function growTo(bytes: number): boolean {
      const total = Math.max(bytes, MIN_RESERVATION_BYTES);
      if (total <= own) {
        return true;
      }
      if (held + total - own > limit || heldByLarge + large(total) - large(own) > limit / 2) {
        return false;
      }
      set(total);
      return true;
    }

    return { growTo, release: () => set(0) };
  }

  return {
    open,
    get held() {
      return held;
    },
  };
}
