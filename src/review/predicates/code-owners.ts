import { LRUCache } from 'lru-cache';
import { shorten } from '../../common/shorten.ts';
import type { Facts } from '../../facts/table.ts';
import { type CodeOwnersDialect, MAX_CODE_OWNERS_BYTES } from '../../forges/port/forges.ts';
import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { MAX_CODE_OWNERS_SEGMENT, MAX_PATTERN_LENGTH } from '../limits.ts';
import { type ExpressionLine, matchingLines, parsePathExpression } from '../matching/expression-lines.ts';
import { fromGiteaExpression } from '../matching/gitea-expression.ts';
import { makePathTree, type PathPattern, parsePathPattern } from '../matching/path-tree.ts';
import { expressionFault } from '../matching/pattern.ts';
import { quotedList, say, type Text } from '../text.ts';
import { pathsOf } from './files.ts';

/** Owners of a path. */
export interface Owned {
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

type FindOwners = (paths: readonly string[]) => readonly (readonly Owned[])[];

interface ReadCodeOwners {
  readonly kind: 'read';
  /** Each of them has to approve. Empty: the path has no owners. Of the same lines it is the same object. */
  readonly ownersOf: (path: string) => readonly Owned[];
  /** The same of many paths, which is faster. */
  readonly ownersOfEach: FindOwners;
  readonly faults: readonly CodeOwnersFault[];
}

/** What an unusable one says is not known, which is not the same as a change without owners. `why` follows "a CODEOWNERS file". */
type CodeOwners = ReadCodeOwners | { readonly kind: 'unusable'; readonly why: Text };

/** Characters of the texts that are kept: one of the largest, or many others. */
const MAX_KEPT_CHARACTERS = 4_000_000;
const makeKept = () =>
  new LRUCache<string, CodeOwners>({ maxSize: MAX_KEPT_CHARACTERS, sizeCalculation: (_, text) => 1 + text.length });
const KEPT: Readonly<Record<CodeOwnersDialect, LRUCache<string, CodeOwners>>> = {
  github: makeKept(),
  gitea: makeKept(),
  forgejo: makeKept(),
};

/** Lines that no forge can use are skipped, as the forges do, and named. Each rule and each review bring the same text. */
export function readCodeOwners(text: string, dialect: CodeOwnersDialect): CodeOwners {
  const kept = KEPT[dialect];
  const known = kept.get(text);
  if (known !== undefined) {
    return known;
  }
  const read = compileCodeOwners(text, dialect);
  kept.set(text, read);
  return read;
}

function compileCodeOwners(text: string, dialect: CodeOwnersDialect): CodeOwners {
  if (Buffer.byteLength(text) > MAX_CODE_OWNERS_BYTES) {
    return { kind: 'unusable', why: say`that is larger than ${MAX_CODE_OWNERS_BYTES} bytes` };
  }
  // As of a file in UTF-16.
  if (text.includes('\0')) {
    return { kind: 'unusable', why: say`that is no text in UTF-8` };
  }
  return dialect === 'github' ? compileLines(text, GITHUB) : compileLines(text, EXPRESSIONS[dialect]);
}

/** How lines are read whose patterns become this. */
interface Dialect<Pattern> {
  readonly wordsOf: (line: string) => readonly string[];
  readonly owner: RegExp;
  /** What can only be meant for an owner, also if it is misspelt. */
  readonly ownerAlone: RegExp;
  readonly everyPath: Pattern;
  readonly readPattern: (written: string, names: readonly string[]) => ReadPattern<Pattern>;
  readonly finderOf: (lines: readonly Line<Pattern>[]) => FindOwners;
}

type Line<Pattern> = Owned & { readonly pattern: Pattern };

type ReadPattern<Pattern> =
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  /** The forge cannot use it either. `what` it is. */
  | { readonly kind: 'skipped'; readonly what: Text }
  /** The forge may be able to use it. */
  | { readonly kind: 'unreadable' };

function compileLines<Pattern>(text: string, dialect: Dialect<Pattern>): CodeOwners {
  const lines: Line<Pattern>[] = [];
  const faults: CodeOwnersFault[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const [written, ...names] = dialect.wordsOf(line.trim());
    if (written === undefined) {
      continue;
    }
    const fault = (what: Text) => faults.push({ line: index + 1, what });
    if (isOwnerAlone(written, dialect)) {
      // Of what these people are the owners is not known, which must not make a change green.
      lines.push({ pattern: dialect.everyPath, owners: [], invalid: [written, ...names], patterns: [written] });
      fault(say`${short(written)} is read as an owner, and no pattern stands before it`);
      continue;
    }
    const read = written.includes(UNDECODED) ? UNREADABLE : dialect.readPattern(written, names);
    if (read.kind === 'unreadable') {
      const why = say`with a pattern in line ${index + 1} that Gatehouse cannot read: ${written}`;
      return { kind: 'unusable', why };
    }
    if (read.kind === 'skipped') {
      fault(say`${read.what}, so the line is skipped`);
      continue;
    }
    const unique = [...new Map(names.map((name) => [bareOwner(name), name])).values()];
    const owners = unique.filter((name) => dialect.owner.test(name));
    const invalid = unique.filter((name) => !dialect.owner.test(name));
    lines.push({ pattern: read.pattern, owners, invalid, patterns: [written] });
    if (invalid.length > 0) {
      fault(say`${quotedList(invalid.map(short), 3)} cannot be an owner`);
    }
  }
  const ownersOfEach = dialect.finderOf(lines);
  return { kind: 'read', ownersOf: (path) => ownersOfEach([path])[0] ?? [], ownersOfEach, faults };
}

const UNREADABLE = { kind: 'unreadable' } as const;
/** What bytes become that are not UTF-8. */
const UNDECODED = '\ufffd';

function isOwnerAlone(word: string, { ownerAlone }: Pick<Dialect<unknown>, 'ownerAlone'>): boolean {
  const parts = word.split(/[,;\uff0c\uff1b]/).filter((part) => part !== '');
  return parts.length > 0 && parts.every((part) => ownerAlone.test(part));
}

/** How many characters of a faulty line are shown. */
const MAX_SHOWN = 60;
const short = (text: string) => shorten(text, MAX_SHOWN);

/**
 * GitHub: patterns much as in .gitignore, without `!`, `[ ]` and `\#`. A login has letters, digits and single hyphens;
 * that of a managed user ends in `_` and a short code, and some old ones end in a hyphen.
 * https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
const GITHUB: Dialect<PathPattern> = {
  wordsOf: (line) => (line.startsWith('#') ? [] : (line.replace(/(?<!\\)\s#.*$/s, '').match(/(?:\\.|\S)+/gs) ?? [])),
  owner: /^@[a-z\d]+(?:-[a-z\d]+)*-?(?:_[a-z\d]+)?(?:\/[\w-]+)?$|^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d-]+(?:\.[a-z\d-]+)*$/i,
  // `@types/`, `@scope/pkg/**` and `@file.ts` are paths, and so is `icon@2x.png`.
  ownerAlone: /^@+[\p{L}\p{N}_-]*(?:\[bot\]|\/[\p{L}\p{N}_-]+)?\.?$|^[\w.+-]+@(?!\d+x\.)[\w-]+(?:\.[\w-]+)+$/u,
  everyPath: { segments: ['**'], itself: false, below: true },
  readPattern(written) {
    const pattern = /^!|^\\#|[[\]]/.test(written) ? undefined : parsePathPattern(written);
    if (pattern === undefined) {
      return { kind: 'skipped', what: say`${short(written)} is no pattern` };
    }
    return pattern.segments.some((segment) => segment.length > MAX_CODE_OWNERS_SEGMENT)
      ? UNREADABLE
      : { kind: 'pattern', pattern };
  },
  finderOf: lastOwners,
};

/**
 * The last line that matches counts, and one without owners takes ownership away. Whether GitHub skips a line with a
 * name that cannot be an owner is not certain: it counts, and so does the line that would count without it.
 */
function lastOwners(lines: readonly Line<PathPattern>[]): FindOwners {
  const tree = makePathTree();
  for (const [index, { pattern, invalid }] of lines.entries()) {
    tree.add(pattern, index, invalid.length === 0);
  }
  return (paths) => paths.map((path) => withOwners(tree.lastMatching(path).flatMap((line) => lines[line] ?? [])));
}

/** The owners of all lines that match. */
function allOwners(lines: readonly Line<ExpressionLine>[]): FindOwners {
  const patterns = lines.map(({ pattern }) => pattern);
  return (paths) => {
    const known = new Map<string, readonly Owned[]>();
    return matchingLines(patterns, paths).map((found) => {
      const key = found.join();
      const owned = known.get(key) ?? withOwners([joined(found.flatMap((line) => lines[line] ?? []))]);
      known.set(key, owned);
      return owned;
    });
  };
}

function joined(lines: readonly Owned[]): Owned {
  return {
    owners: [...new Set(lines.flatMap(({ owners }) => owners))],
    invalid: [...new Set(lines.flatMap(({ invalid }) => invalid))],
    patterns: lines.flatMap(({ patterns }) => patterns),
  };
}

/** A path whose lines name only those who cannot be owners still needs an owner: somebody has to correct CODEOWNERS. */
function withOwners(owned: readonly Owned[]): readonly Owned[] {
  const valid = owned.filter(({ owners }) => owners.length > 0);
  return valid.length > 0 ? valid : owned.filter(({ invalid }) => invalid.length > 0).slice(0, 1);
}

/**
 * Gitea and Forgejo: an expression for the whole path, or `!` and one for all other paths. `sourceOf` is without what
 * the forge ignores of it, and `compiled` what our engine takes; undefined where that may mean something else.
 * https://docs.gitea.com/usage/repository/code-owners
 */
function makeExpressionDialect(
  sourceOf: (pattern: string) => string | undefined,
  compiled: (source: string) => string | undefined,
): Dialect<ExpressionLine> {
  return {
    wordsOf: expressionWords,
    owner: /^@?[\w.-]+(?:\/[\w.-]+)?$/,
    ownerAlone: /^@+[\p{L}\p{N}_.-]*(?:\/[\p{L}\p{N}_.-]+)?$/u,
    everyPath: { ...parsePathExpression(''), matches: () => true, negated: false, expression: () => '' },
    readPattern(written, names) {
      if (names.length === 0) {
        return { kind: 'skipped', what: say`${short(written)} has no owner` };
      }
      const negated = written.startsWith('!');
      const source = written.length > MAX_PATTERN_LENGTH ? undefined : sourceOf(written.slice(negated ? 1 : 0));
      if (source === undefined) {
        return UNREADABLE;
      }
      const parsed = parsePathExpression(source);
      const line = { ...parsed, negated, expression: () => compiled(source) ?? '' };
      return parsed.matches === undefined
        ? readExpression(compiled(source), line, written)
        : { kind: 'pattern', pattern: line };
    },
    finderOf: allOwners,
  };
}

function readExpression(
  expression: string | undefined,
  pattern: ExpressionLine,
  written: string,
): ReadPattern<ExpressionLine> {
  if (expression === undefined) {
    return UNREADABLE;
  }
  const fault = expressionFault(expression);
  if (fault === undefined) {
    return { kind: 'pattern', pattern };
  }
  return FAULTS_EVERYWHERE.test(fault)
    ? { kind: 'skipped', what: say`${short(written)} is no regular expression` }
    : UNREADABLE;
}

const EXPRESSIONS: Readonly<Record<Exclude<CodeOwnersDialect, 'github'>, Dialect<ExpressionLine>>> = {
  // https://github.com/go-gitea/gitea/blob/v1.26.0/models/issues/pull.go
  gitea: makeExpressionDialect(
    (pattern) => pattern.replace(/^\//, ''),
    (source) => fromGiteaExpression(`^${source}$`),
  ),
  // Go's own engine, which is RE2. There no path matches a pattern that begins with a slash, which cannot be what its
  // author means, and may change as it did in Gitea.
  forgejo: makeExpressionDialect(
    (pattern) => (pattern.startsWith('/') ? undefined : pattern),
    (source) => `^${source}$`,
  ),
};

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

/** The changed paths that have owners, by the lines of CODEOWNERS that say so. */
type OwnedFiles = ReadonlyMap<Owned, readonly string[]>;

/** Of the files of a change, which all rules have in common. */
const ownedFilesOf = new WeakMap<readonly ChangedFile[], { readonly by: CodeOwners; readonly owned: OwnedFiles }>();

export function ownedFiles(files: readonly ChangedFile[], by: ReadCodeOwners): OwnedFiles {
  const known = ownedFilesOf.get(files);
  if (known?.by === by) {
    return known.owned;
  }
  const paths = files.flatMap(pathsOf);
  const owned = new Map<Owned, string[]>();
  for (const [index, owners] of by.ownersOfEach(paths).entries()) {
    for (const each of owners) {
      const among = owned.get(each) ?? [];
      among.push(paths[index] ?? '');
      owned.set(each, among);
    }
  }
  ownedFilesOf.set(files, { by, owned });
  return owned;
}

/** The teams that own something in the change, without `@` and in lower case, sorted: which have to be read too. */
export function ownerTeams({ codeOwners, changedFiles }: Facts): readonly string[] {
  const read = codeOwners.kind === 'file' ? readCodeOwners(codeOwners.text, codeOwners.dialect) : undefined;
  if (read?.kind !== 'read') {
    return [];
  }
  const owners = [...ownedFiles(changedFiles.files, read).keys()].flatMap((owned) => owned.owners);
  return [...new Set(owners.filter(isTeam).map(bareOwner))].sort();
}

/** A team is `@organisation/team`. An e-mail address, which may also hold a slash, is not. */
export function isTeam(owner: string): boolean {
  return /^@?[\w.-]+\/[\w.-]+$/.test(owner);
}

/** Without `@`, in lower case: as logins and teams are compared. */
export function bareOwner(owner: string): string {
  return owner.replace(/^@/, '').toLowerCase();
}
