import type { CodeOwnersDialect } from '../../forges/port/forges.ts';
import type { Facts } from '../facts.ts';
import { MAX_CODE_OWNERS_LENGTH, MAX_GLOB_LENGTH, MAX_PATTERN_LENGTH } from '../limits.ts';
import { compilePattern, expressionFault, type Pattern } from '../matching/pattern.ts';

/** The owners of a path, as CODEOWNERS writes them: `@login`, `@organisation/team` or an e-mail address. */
export type OwnersOf = (path: string) => readonly string[];

/**
 * Undefined when the file, or a pattern in it, is too large to be used: what it says is then not known, which is not
 * the same as a change without owners. Invalid lines are skipped, as the forges do.
 */
export function readCodeOwners(text: string, dialect: CodeOwnersDialect): OwnersOf | undefined {
  if (text.length > MAX_CODE_OWNERS_LENGTH) {
    return undefined;
  }
  const lines = text.split('\n').map((line) => line.trim());
  return READERS[dialect](lines);
}

const READERS: Readonly<Record<CodeOwnersDialect, (lines: readonly string[]) => OwnersOf | undefined>> = {
  github: githubOwners,
  gitea: giteaOwners,
};

/**
 * GitHub: patterns much as in .gitignore, without `!`, `[ ]` and `\#`; the last line that matches counts, and one
 * without owners takes ownership away.
 * https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
function githubOwners(lines: readonly string[]): OwnersOf | undefined {
  const rules: { readonly pattern: Pattern; readonly owners: readonly string[] }[] = [];
  for (const line of lines) {
    if (line === '' || line.startsWith('#')) {
      continue;
    }
    const words = line.replace(/\s#.*$/, '').match(/(?:\\.|[^\s\\])+/g) ?? [];
    const [pattern = '', ...owners] = words;
    if (pattern === '' || /^!|^\\#|[[\]]/.test(pattern)) {
      continue;
    }
    if (pattern.length > MAX_GLOB_LENGTH) {
      return undefined;
    }
    const expression = githubExpression(pattern.replaceAll('\\ ', ' '));
    if (expressionFault(expression) === undefined) {
      rules.push({ pattern: compilePattern(expression), owners });
    }
  }
  rules.reverse();
  return (path) => rules.find(({ pattern }) => pattern.matches(path))?.owners ?? [];
}

function githubExpression(pattern: string): string {
  const anchored = /\/./.test(pattern);
  const folder = pattern.endsWith('/');
  const segments = pattern.split('/').filter((segment) => segment !== '');
  let expression = anchored ? '' : '(?:[^/]+/)*';
  segments.forEach((segment, index) => {
    const last = index === segments.length - 1;
    if (segment === '**') {
      expression += last ? '(?s:.+)' : '(?:[^/]+/)*';
    } else {
      expression += withinSegment(segment) + (last ? '' : '/');
    }
  });
  const last = segments.at(-1);
  if (last === '**') {
    return expression;
  }
  if (folder) {
    return `${expression}/(?s:.+)`;
  }
  // `docs/*` is the files in docs, but a name is the file or everything in the folder of that name.
  return last === '*' && anchored ? expression : `${expression}(?:/(?s:.+))?`;
}

function withinSegment(segment: string): string {
  return [...segment]
    .map((character) => {
      if (character === '*') {
        return '[^/]*';
      }
      if (character === '?') {
        return '[^/]';
      }
      return /\w/.test(character) ? character : `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
    })
    .join('');
}

/**
 * Gitea and Forgejo: an expression put between `^` and `$`, or `!` and one for everything else; the owners of all lines
 * that match. https://docs.gitea.com/usage/repository/code-owners
 */
function giteaOwners(lines: readonly string[]): OwnersOf | undefined {
  const rules: { readonly pattern: Pattern; readonly negated: boolean; readonly owners: readonly string[] }[] = [];
  for (const line of lines) {
    const [first = '', ...owners] = giteaWords(line);
    if (owners.length === 0) {
      continue;
    }
    const negated = first.startsWith('!');
    const expression = `^${negated ? first.slice(1) : first}$`;
    if (expression.length > MAX_PATTERN_LENGTH) {
      return undefined;
    }
    if (expressionFault(expression) !== undefined) {
      continue;
    }
    rules.push({ pattern: compilePattern(expression), negated, owners });
  }
  return (path) => [
    ...new Set(rules.filter(({ pattern, negated }) => pattern.found(path) !== negated).flatMap(({ owners }) => owners)),
  ];
}

/** A backslash takes the next character as it is: `\#`, `\ `, and `\\.` for the expression `\.`. */
function giteaWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:\\[\s\S]|[^\s#\\])+|#.*/g)) {
    if (word.startsWith('#')) {
      break;
    }
    words.push(word.replace(/\\([\s\S])/g, '$1'));
  }
  return words;
}

/** The teams that own something in the change, without `@` and in lower case, sorted: which have to be read too. */
export function ownerTeams(facts: Facts): readonly string[] {
  if (facts.codeOwners.kind !== 'file') {
    return [];
  }
  const ownersOf = readCodeOwners(facts.codeOwners.text, facts.codeOwners.dialect);
  if (ownersOf === undefined) {
    return [];
  }
  const teams = new Set<string>();
  for (const file of facts.changedFiles.files) {
    for (const path of file.previousPath === undefined ? [file.path] : [file.path, file.previousPath]) {
      for (const owner of ownersOf(path)) {
        if (isTeam(owner)) {
          teams.add(bareOwner(owner));
        }
      }
    }
  }
  return [...teams].sort();
}

/** A team is `@organisation/team`. An e-mail address, which may also hold a slash, is not. */
export function isTeam(owner: string): boolean {
  return /^@?[\w.-]+\/[\w.-]+$/.test(owner);
}

/** Without `@`, in lower case: as logins and teams are compared. */
export function bareOwner(owner: string): string {
  return owner.replace(/^@/, '').toLowerCase();
}
