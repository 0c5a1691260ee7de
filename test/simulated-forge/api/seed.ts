/** By which tests draw: `TEST_SEED=7 npm test -- …` draws others, and repeats what seed 7 has found. */
export const SEED = Number(process.env['TEST_SEED'] ?? 1);
if (!Number.isInteger(SEED)) {
  throw new Error(`TEST_SEED is "${process.env['TEST_SEED']}"; it must be a whole number`);
}
/** `HOSTILE_GITHUB=1`: every simulated GitHub answers what the real one may answer, drawn by that seed. */
export const SEED_OF_ALL = process.env['HOSTILE_GITHUB'] === undefined ? undefined : SEED;

/** Numbers from 0 to under 1, the same for the same start. Mulberry32. */
export function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
