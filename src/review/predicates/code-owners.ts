import { shorten } from '../../common/shorten.ts';
import type { Facts } from '../../facts/table.ts';
import type { CodeOwnersDialect } from '../../forges/port/forges.ts';
import { MAX_CODE_OWNERS_LENGTH, MAX_GLOB_LENGTH, MAX_PATTERN_LENGTH } from '../limits.ts';
import { fromGiteaExpression } from '../matching/gitea-expression.ts';
import { compilePattern, expressionFault, type Pattern } from '../matching/pattern.ts';
import { quotedList, say, type Text } from '../text.ts';

/** Owners of a path. */
interface Owned {
  /** As CODEOWNERS writes them: `@login`, `@organisation/team` or an e-mail address. */
  readonly owners: readonly string[];
  /** Other names in these lines. Their approval does not count. */
  readonly invalid: readonly string[];
  /** The patterns of the lines that name these owners. */
  readonly patterns: readonly string[];
}

/** What is wrong with a line. */
export interface CodeOwnersFault {
  readonly line: number;
  readonly what: Text;
}

export type CodeOwners =
  | {
      readonly kind: 'read';
      /** Each of them has to approve. Empty: the path has no owners. */
      readonly ownersOf: (path: string) => readonly Owned[];
      readonly faults: readonly CodeOwnersFault[];
    }
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
        const owners = read.names.filter((name) => OWNERS[dialect].test(name));
        const invalid = read.names.filter((name) => !OWNERS[dialect].test(name));
        lines.push({ ...read, owners, invalid });
        if (invalid.length > 0) {
          faults.push({ line, what: say`${quotedList(invalid.map(short), 3)} cannot be an owner` });
        }
      }
    }
  }
  return { kind: 'read', ownersOf: FINDERS[dialect](lines), faults };
}

/** How many characters of a faulty line are shown. */
const MAX_SHOWN = 60;
const short = (text: string) => shorten(text, MAX_SHOWN);

interface WrittenLine {
  readonly written: string;
  readonly pattern: Pattern;
  readonly negated: boolean;
  /** What follows the pattern. */
  readonly names: readonly string[];
}

type Line = WrittenLine & Omit<Owned, 'patterns'>;

type ReadLine =
  | { readonly kind: 'empty' }
  | ({ readonly kind: 'owners' } & WrittenLine)
  /** The forge cannot use it either. `what` it is. */
  | { readonly kind: 'skipped'; readonly what: Text }
  /** The forge may be able to use it. */
  | { readonly kind: 'unreadable'; readonly pattern: string };

const READERS: Readonly<Record<CodeOwnersDialect, (line: string) => ReadLine>> = {
  github: readGithubLine,
  gitea: (line) => readExpressionLine(line, giteaExpression),
  forgejo: (line) => readExpressionLine(line, forgejoExpression),
};

const EXPRESSION_OWNERS = /^@?[^\s@/]+(?:\/[^\s@/]+)?$/;

const OWNERS: Readonly<Record<CodeOwnersDialect, RegExp>> = {
  github: /^@[^\s@/]+(?:\/[^\s@/]+)?$|^[^\s@]+@[^\s@]+$/,
  gitea: EXPRESSION_OWNERS,
  forgejo: EXPRESSION_OWNERS,
};

const FINDERS: Readonly<Record<CodeOwnersDialect, (lines: readonly Line[]) => (path: string) => readonly Owned[]>> = {
  github: lastOwners,
  gitea: allOwners,
  forgejo: allOwners,
};

/**
 * The last line that matches counts, and one without owners takes ownership away. Whether GitHub skips a line with a
 * name that cannot be an owner is not certain: it counts, and so does the line that would count without it.
 */
function lastOwners(lines: readonly Line[]): (path: string) => readonly Owned[] {
  const fromLast = lines.toReversed();
  return (path) => {
    const matching = fromLast.filter(({ pattern }) => pattern.matches(path));
    const certain = matching.findIndex(({ invalid }) => invalid.length === 0);
    return withOwners(
      matching
        .slice(0, certain === -1 ? matching.length : certain + 1)
        .map(({ written, owners, invalid }) => ({ owners, invalid, patterns: [written] })),
    );
  };
}

/** The owners of all lines that match. */
function allOwners(lines: readonly Line[]): (path: string) => readonly Owned[] {
  return (path) => {
    const matching = lines.filter(({ pattern, negated }) => pattern.found(path) !== negated);
    return withOwners([
      {
        owners: [...new Set(matching.flatMap(({ owners }) => owners))],
        invalid: [...new Set(matching.flatMap(({ invalid }) => invalid))],
        patterns: matching.map(({ written }) => written),
      },
    ]);
  };
}

/** A path whose lines name only those who cannot be owners still needs an owner: somebody has to correct CODEOWNERS. */
function withOwners(owned: readonly Owned[]): readonly Owned[] {
  const valid = owned.filter(({ owners }) => owners.length > 0);
  return valid.length > 0 ? valid : owned.filter(({ invalid }) => invalid.length > 0).slice(0, 1);
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
  const [written = '', ...names] = words;
  if (written === '' || /^!|^\\#|[[\]]/.test(written)) {
    return { kind: 'skipped', what: say`${short(written || line)} is no pattern` };
  }
  const expression = written.length > MAX_GLOB_LENGTH ? undefined : githubExpression(written.replaceAll('\\ ', ' '));
  return expression === undefined || expressionFault(expression) !== undefined
    ? { kind: 'unreadable', pattern: written }
    : { kind: 'owners', written, pattern: compilePattern(expression), negated: false, names };
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
 * Gitea and Forgejo: an expression for the whole path, or `!` and one for all other paths.
 * https://docs.gitea.com/usage/repository/code-owners
 */
function readExpressionLine(line: string, expressionOf: (pattern: string) => string | undefined): ReadLine {
  const [written, ...names] = expressionWords(line);
  if (written === undefined) {
    return { kind: 'empty' };
  }
  if (names.length === 0) {
    return { kind: 'skipped', what: say`${short(written)} has no owner` };
  }
  const negated = written.startsWith('!');
  const expression = written.length > MAX_PATTERN_LENGTH ? undefined : expressionOf(written.slice(negated ? 1 : 0));
  if (expression === undefined) {
    return { kind: 'unreadable', pattern: written };
  }
  const fault = expressionFault(expression);
  if (fault !== undefined) {
    return FAULTS_EVERYWHERE.test(fault)
      ? { kind: 'skipped', what: say`${short(written)} is no regular expression` }
      : { kind: 'unreadable', pattern: written };
  }
  return { kind: 'owners', written, pattern: compilePattern(expression), negated, names };
}

/** https://github.com/go-gitea/gitea/blob/v1.26.0/models/issues/pull.go */
function giteaExpression(pattern: string): string | undefined {
  return fromGiteaExpression(`^${pattern.replace(/^\//, '')}$`);
}

/**
 * Forgejo runs Go's own engine, which is RE2. There no path matches a pattern that begins with a slash, which cannot be
 * what its author means, and may change as it did in Gitea.
 */
function forgejoExpression(pattern: string): string | undefined {
  return pattern.startsWith('/') ? undefined : `^${pattern}$`;
}

/** What no engine takes. Lookahead and more, which only Gitea's has, is no fault of the line. */
const FAULTS_EVERYWHERE = /^not a valid RE2 pattern: (?:missing closing|unexpected \)|trailing backslash)/;

/** A backslash takes the next character as it is: `\#`, `\ `, and `\\.` for the expression `\.`. */
function expressionWords(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:\\[\s\S]|[^ \t#\\])+|#.*/g)) {
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
      for (const owner of codeOwners.ownersOf(path).flatMap(({ owners }) => owners)) {
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
