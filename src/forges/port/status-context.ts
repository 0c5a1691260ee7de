import { hash } from 'node:crypto';
import { FORGES, type ForgeName } from './forges.ts';
import { NOT_IN_STATUSES } from './postings.ts';

/** GitHub's and Gitea's limit for the name of a commit status. */
const MAX_STATUS_CONTEXT_LENGTH = 255;
const DIGEST_CHARACTERS = 16;

/**
 * The name of the commit status of pull requests into a branch: the template with the branch in the place of `{base}`.
 * One that would be too long is cut and ends in a digest, so that two long branches still have two names.
 */
export function statusContext(template: string, branch: string): string {
  const context = spelled(template.replaceAll('{base}', () => branch));
  if (context.length <= MAX_STATUS_CONTEXT_LENGTH) {
    return context;
  }
  const digest = hash('sha256', context.toLowerCase()).slice(0, DIGEST_CHARACTERS);
  return `${context.slice(0, MAX_STATUS_CONTEXT_LENGTH - DIGEST_CHARACTERS - 1)}-${digest}`;
}

/** With code points for what forges do not take. No branch has a colon in its name, so no two get the same one. */
function spelled(name: string): string {
  const spell = (character: string) => `:${(character.codePointAt(0) ?? 0).toString(16)}:`;
  return name.replaceAll(NOT_IN_STATUSES, spell);
}

/** The same for all names that a forge takes for one. */
export function contextKey(forge: ForgeName, context: string): string {
  return FORGES[forge].statusNamesIgnoreCase ? context.toLowerCase() : context;
}

export function sameContext(forge: ForgeName, left: string, right: string): boolean {
  return contextKey(forge, left) === contextKey(forge, right);
}

/** Whether Gatehouse gives this name to the status of pull requests into some branch. */
export function isContextOf(template: string, context: string): boolean {
  const [start = '', ...others] = spelled(template).toLowerCase().split('{base}');
  const end = others.at(-1);
  const name = context.toLowerCase();
  if (end === undefined) {
    return name === start;
  }
  const branchCharacters = name.length - start.length - end.length;
  return (
    name.startsWith(start) &&
    branchCharacters > 0 &&
    // One that was cut ends in a digest.
    (name.endsWith(end) || name.length === MAX_STATUS_CONTEXT_LENGTH)
  );
}
