import { FORGE_NAMES, type ForgeName } from '../../src/forges/port/forges.ts';

/**
 * The forges of most tests. To Gatehouse, Forgejo is a Gitea except for what {@link EVERY_FORGE} is for; its headers,
 * hooks, settings and paths have tests of their own.
 */
export const FORGES: readonly ForgeName[] = ['github', 'gitea'];
/** For what differs on Forgejo: drafts, comments at lines, statuses without webhooks, and the number of requests. */
export const EVERY_FORGE = FORGE_NAMES;
