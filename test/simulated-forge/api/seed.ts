/** By which tests draw: `TEST_SEED=7 npm test -- …` draws others, and repeats what seed 7 has found. */
export const SEED = Number(process.env['TEST_SEED'] ?? 1);
if (!Number.isInteger(SEED)) {
  throw new Error(`TEST_SEED is "${process.env['TEST_SEED']}"; it must be a whole number`);
}
/** `HOSTILE_GITHUB=1`: every simulated GitHub answers what the real one may answer, drawn by that seed. */
export const SEED_OF_ALL = process.env['HOSTILE_GITHUB'] === undefined ? undefined : SEED;
