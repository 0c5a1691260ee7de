/** Of everything that is drawn by chance in a test run: `HOSTILE_SEED=7 npm test -- …` repeats what the seed 7 did. */
export const HOSTILE_SEED = Number(process.env['HOSTILE_SEED'] ?? 1);
