/** What the facts' forms in policy tests share: kinds of values, and the ordinary pull request. */

import * as z from 'zod';

export const SHAS = { head: 'b'.repeat(40), old: 'c'.repeat(40), updated: 'd'.repeat(40) };
export const AUTHOR = 'alice';

export const text = z.string({ error: 'text' });
export const flag = z.boolean({ error: 'true or false' });
export const count = z.int({ error: 'a whole number' }).min(0, { error: 'a whole number from 0' });
export const names = z.array(text, { error: 'a list of names' });

export function oneOf<const Values extends readonly string[]>(...values: Values) {
  return z.enum(values, { error: `one of ${values.join(', ')}` });
}

/** When what stands at this place of a list came: a minute after what stands before it. */
export function minute(index: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString();
}
