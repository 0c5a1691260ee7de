import { shorten } from '../../common/shorten.ts';
import type { CodeOwnersDialect } from '../../forges/port/forges.ts';
import type { Facts } from '../facts.ts';
import { MAX_CODE_OWNERS_LENGTH, MAX_GLOB_LENGTH, MAX_PATTERN_LENGTH } from '../limits.ts';
import { compilePattern, expressionFault, type Pattern } from '../matching/pattern.ts';
import { quotedList, say, type Text } from '../text.ts';

/** Whose a path is. */
interface Owned {
  /** As CODEOWNERS writes them: `@login`, `@organisation/team` or an e-mail address. Empty: nobody's. */
  readonly owners: readonly string[];
  /** The patterns of the lines that name these owners. */
  readonly patterns: readonly string[];
}

/** What is wrong with a line. */
export interface CodeOwnersFault {
  readonly line: number;
  readonly what: Text;
}

export type CodeOwners =
  | { readonly kind: 'read'; readonly ownersOf: (path: string) => Owned; readonly faults: readonly CodeOwnersFault[] }
  /** What it says is not known, which is not the same as a change without owners. `why` follows "a CODEOWNERS file". */
  | { readonly kind: 'unusable'; readonly why: Text };

/** Lines that no forge can use are skipped, as the forges do, and named. */
export function readCodeOwners(text: string, dialect: CodeOwnersDialect): CodeOwners {
  if (text.length > MAX_CODE_OWNERS_LENGTH) {
    return { kind: 'unusable', why: say`that has more than ${MAX_CODE_OWNERS_LENGTH} characters` };
  }
  const lines: Line[] = [];
  const faults: CodeOwnersFault[] = [];
  for (const [index, written] of text.split('\n').entries()) {
    const read = READERS[dialect](written.trim());
    const line = index + 1;
    switch (read.kind) {
      case 'unreadable':
        return {
          kind: 'unusable',
          why: say`with a pattern in line ${line} that Gatehouse cannot read: ${read.pattern}`,
        };
      case 'skipped':
        faults.push({ line, what: say`${read.what}, so the line is skipped` });
        break;
      case 'owners': {
        lines.push(read);
        const odd = read.owners.filter((owner) => !OWNERS[dialect].test(owner));
        faults.push(
          ...(odd.length === 0 ? [] : [{ line, what: say`${quotedList(odd.map(short), 3)} cannot be an owner` }]),
        );
      }
    }
  }
  return { kind: 'read', ownersOf: FINDERS[dialect](lines), faults };
}

/** How many characters of a faulty line are shown. */
const MAX_SHOWN = 60;
const short = (text: string) => shorten(text, MAX_SHOWN);

interface Line {
  readonly written: string;
  readonly pattern: Pattern;
  readonly negated: boolean;
  readonly owners: readonly string[];
}

type ReadLine =
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'owners' } & Line)
  /** The forge cannot use it either. `what` it is. */
  | { readonly kind: 'skipped'; readonly what: Text }
  /** The forge may be able to use it. */
  | { readonly kind: 'unreadable'; readonly pattern: string };

const READERS: Readonly<Record<CodeOwnersDialect, (line: string) => ReadLine>> = {
  github: readGithubLine,
  gitea: readGiteaLine,
};

const OWNERS: Readonly<Record<CodeOwnersDialect, RegExp>> = {
  github: /^@[^\s@/]+(?:\/[^\s@/]+)?$|^[^\s@]+@[^\s@]+$/,
  gitea: /^@?[^\s@/]+(?:\/[^\s@/]+)?$/,
};

const FINDERS: Readonly<Record<CodeOwnersDialect, (lines: readonly Line[]) => (path: string) => Owned>> = {
  github: lastOwners,
  gitea: allOwners,
};

/** The last line that matches counts, and one without owners takes ownership away. */
function lastOwners(lines: readonly Line[]): (path: string) => Owned {
  const fromLast = lines.toReversed();
  return (path) => {
    const line = fromLast.find(({ pattern }) => pattern.matches(path));
    return { owners: line?.owners ?? [], patterns: line === undefined ? [] : [line.written] };
  };
}

/** The owners of all lines that match. */
function allOwners(lines: readonly Line[]): (path: string) => Owned {
  return (path) => {
    const matching = lines.filter(({ pattern, negated }) => pattern.found(path) !== negated);
    return {
      owners: [...new Set(matching.flatMap(({ owners }) => owners))],
      patterns: matching.map(({ written }) => written),
    };
  };
}

/**
 * GitHub: patterns much as in .gitignore, without `!`, `[ ]` and `\#`.
 * https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
function readGithubLine(line: string): ReadLine {
  if (line === '' || line.startsWith('#')) {
    return { kind: 'empty' };
  }
  const words = line.replace(/\s#.*$/, '').match(/(?:\\.|[^\s\\])+/g) ?? [];
  const [written = '', ...owners] = words;
  if (written === '' || /^!|^\\#|[[\]]/.test(written)) {
    return { kind: 'skipped', what: say`${short(written || line)} is no pattern` };
  }
  const expression = written.length > MAX_GLOB_LENGTH ? undefined : githubExpression(written.replaceAll('\\ ', ' '));
  return expression === undefined || expressionFault(expression) !== undefined
    ? { kind: 'unreadable', pattern: written }
    : { kind: 'owners', written, pattern: compilePattern(expression), negated: false, owners };
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
 * Gitea and Forgejo: an expression put between `^` and `$`, or `!` and one for everything else.
 * https://docs.gitea.com/usage/repository/code-owners
 */
function readGiteaLine(line: string): ReadLine {
  const [written, ...owners] = giteaWords(line);
  if (written === undefined) {
    return { kind: 'empty' };
  }
  if (owners.length === 0) {
    return { kind: 'skipped', what: say`${short(written)} has no owner` };
  }
  const negated = written.startsWith('!');
  const expression = `^${negated ? written.slice(1) : written}$`;
  if (expression.length > MAX_PATTERN_LENGTH) {
    return { kind: 'unreadable', pattern: written };
  }
  const fault = expressionFault(expression);
  if (fault !== undefined) {
    return FAULTS_EVERYWHERE.test(fault)
      ? { kind: 'skipped', what: say`${short(written)} is no regular expression` }
      : { kind: 'unreadable', pattern: written };
  }
  return { kind: 'owners', written, pattern: compilePattern(expression), negated, owners };
}

/** What no engine takes. Gitea's has lookahead and more, which RE2 does not have: that is no fault of the line. */
const FAULTS_EVERYWHERE = /^not a valid RE2 pattern: (?:missing closing|unexpected \)|trailing backslash)/;

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
  const codeOwners = readCodeOwners(facts.codeOwners.text, facts.codeOwners.dialect);
  if (codeOwners.kind === 'unusable') {
    return [];
  }
  const teams = new Set<string>();
  for (const file of facts.changedFiles.files) {
    for (const path of file.previousPath === undefined ? [file.path] : [file.path, file.previousPath]) {
      for (const owner of codeOwners.ownersOf(path).owners) {
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
