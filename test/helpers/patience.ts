/**
 * How many times as long as in production the stores and the forge may take, unless a test is about that limit: they
 * share the machine with all other tests.
 */
export const PATIENCE = 10;
