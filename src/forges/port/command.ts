import { hash } from 'node:crypto';

/** What people tell Gatehouse to do, in the first line of a comment. The door reads it, and the review. */

/** As typed: nothing of it is checked. What is missing is empty. */
export interface OverrideCommand {
  readonly kind: 'override';
  readonly ruleId: string;
  readonly commit: string;
  readonly reason: string;
}

export type Command = OverrideCommand | { readonly kind: 'recheck' } | { readonly kind: 'unknown' };

/** What every command begins with. */
export const COMMAND_WORD = '/gatehouse';

/** Characters of a first line that are looked at: more than the longest command has. */
const MAX_LINE_CHARACTERS = 1_000;
/** A longer comment has no command: so what forges send can be read without its long texts. */
const MAX_COMMENT_CHARACTERS = 10_000;
/** The longest comment with a command, as JSON writes it: six bytes for each character at most. */
export const MAX_COMMAND_JSON_BYTES = 6 * MAX_COMMENT_CHARACTERS;

/**
 * The command of a comment. It begins with the first character of its first line, so that a quotation, a code block
 * (fenced, or by indentation), HTML and anything that cannot be seen before it make it text.
 */
export function commandIn(body: string): Command | undefined {
  if (body.length > MAX_COMMENT_CHARACTERS) {
    return undefined;
  }
  const line = body.slice(0, MAX_LINE_CHARACTERS).split(/[\r\n]/, 1)[0] ?? '';
  if (!/^\/gatehouse(?![\w-])/i.test(line)) {
    return undefined;
  }
  // Phones capitalise the first word, end a line with a full stop, and copy spaces that do not break.
  const [word, verb = '', ruleId = '', commit = '', ...reason] = line.split(/\s+/);
  if (word?.toLowerCase() !== COMMAND_WORD) {
    return { kind: 'unknown' };
  }
  if (verb.toLowerCase() === 'override') {
    return { kind: 'override', ruleId, commit, reason: reason.join(' ').trim() };
  }
  return /^recheck[.!…]*$/i.test(verb) && ruleId === '' ? { kind: 'recheck' } : { kind: 'unknown' };
}

/** The line that a person copies, without its reason. */
export function overrideLine(ruleId: string, commit: string): string {
  return `${COMMAND_WORD} override ${ruleId} ${commit}`;
}

/** The digest of the text of a comment. Line ends may differ between a webhook and the API. */
export function textDigest(body: string): string {
  return hash('sha256', body.replaceAll(/\r\n?/g, '\n').trim());
}
