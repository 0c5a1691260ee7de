/** Of everything that is drawn by chance in a test run: `HOSTILE_SEED=7 npm test -- …` repeats what the seed 7 did. */
export const HOSTILE_SEED = Number(process.env['HOSTILE_SEED'] ?? 1);
/** `HOSTILE_GITHUB=1`: every simulated GitHub answers what the real one may answer, drawn by that seed. */
export const SEED_OF_ALL = process.env['HOSTILE_GITHUB'] === undefined ? undefined : HOSTILE_SEED;
