/**
 * What a forge may leave open. Words, so that no `if`, `!` or `??` can read what it did not say as a no: a missing word
 * is none.
 */
export type YesNo = 'yes' | 'no' | 'unknown';

export function yesNo(answer: boolean | null | undefined): YesNo {
  return typeof answer === 'boolean' ? (answer ? 'yes' : 'no') : 'unknown';
}
