import { basename } from 'node:path';
import { FORGE_NAMES, type ForgeName } from '../../src/forges/port/forges.ts';

/** For what is read and written of a forge, and what Gatehouse does in another way for each. */
export const ALL_FORGES = FORGE_NAMES;

/** Half of the files have GitHub's dialect, which most of Gatehouse's users have and which differs from the two others. */
const TURNS: readonly ForgeName[] = ['github', 'gitea', 'github', 'forgejo'];

const CHOICE = process.env['TEST_FORGES'] ?? '';
if (!['', 'all'].includes(CHOICE)) {
  throw new Error(`TEST_FORGES is "${CHOICE}"; it must be "all", or unset`);
}

/**
 * The forge of a file whose stories tell what Gatehouse does with facts that are equal on every forge: each file another
 * one. With `TEST_FORGES=all`, as in the nightly run, all of them. `among`: those that the stories can be told on.
 */
export function forgesOf(url: string, among: readonly ForgeName[] = ALL_FORGES): readonly ForgeName[] {
  const sum = [...basename(url)].reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0);
  const turns = TURNS.filter((name) => among.includes(name));
  const turn = turns[sum % turns.length];
  return CHOICE === 'all' || turn === undefined ? among : [turn];
}

/** For what is read of Gitea and Forgejo by the same code: one of them, and both with `TEST_FORGES=all`. */
export const GITEAS: readonly Exclude<ForgeName, 'github'>[] = CHOICE === 'all' ? ['gitea', 'forgejo'] : ['gitea'];
export const CLIENTS: readonly ForgeName[] = ['github', ...GITEAS];
