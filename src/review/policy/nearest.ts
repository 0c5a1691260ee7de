import { closestMatch } from 'leven';

/** Longer words are not a misspelling of an expected one. */
const MAX_WORD_LENGTH = 40;

/** The word that a misspelt one most likely means; undefined when none is near. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  if (word.length > MAX_WORD_LENGTH) {
    return undefined;
  }
  const candidates = new Map(words.map((candidate) => [normalized(candidate), candidate]));
  const wanted = normalized(word);
  // A third of the word may be wrong; two letters swapped count as two mistakes, which a word of four may have.
  const maxDistance = Math.max(wanted.length < 4 ? 1 : 2, Math.floor(wanted.length / 3));
  return candidates.get(closestMatch(wanted, [...candidates.keys()], { maxDistance }) ?? '');
}

function normalized(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}
