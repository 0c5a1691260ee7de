import { patternFault } from '../src/review/matching/pattern.ts';

/** A regular expression that Gatehouse can use, or why it cannot. */
export type Translated = { readonly pattern: string } | { readonly fault: string };

/** A pattern of policy-bot, which is written in Go: the same RE2. */
export function fromGo(source: string): Translated {
  const fault = patternFault(source);
  return fault === undefined ? { pattern: source } : { fault };
}

/**
 * What JavaScript reads as something else than RE2 does: `\p` without the flag `u` is the letter, `[[:` a set of
 * these characters. Everything that RE2 refuses is found by {@link patternFault}.
 */
const OTHER_MEANING = /\\(?:[pPAzQECaXxU]|x\{)|\[\[:|\(\?[imsU-]+[:)]/;

/** A pattern of Mergeable. Its flags: `i` unless `regex_flag` says otherwise. */
export function fromJavaScript(source: string, flags: string): Translated {
  if (!/^[ims]*$/.test(flags)) {
    return { fault: `the flag "${flags}" has no equal` };
  }
  // The second of two backslashes is a literal, and begins nothing.
  if (OTHER_MEANING.test(source.replaceAll('\\\\', ''))) {
    return { fault: 'JavaScript and RE2 read it differently' };
  }
  const pattern = `${flags === '' ? '' : `(?${[...new Set(flags)].join('')})`}${source}`;
  const fault = patternFault(pattern);
  return fault === undefined ? { pattern } : { fault };
}

/** A text as a pattern that matches it and nothing else. */
export function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
