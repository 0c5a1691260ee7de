/**
 * The answer to a question that a forge may leave open. In words, so that nothing reads what was not told as a no: an
 * absent key, null and `false` all fail the same test.
 */
export type YesNo = 'yes' | 'no' | 'unknown';

export function yesNo(answer: boolean | null | undefined): YesNo {
  return typeof answer === 'boolean' ? (answer ? 'yes' : 'no') : 'unknown';
}
