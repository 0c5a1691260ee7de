import { shorten } from '../../common/shorten.ts';
import type { CodeOwnersDialect } from '../../forges/port/forges.ts';
import { MAX_CODE_OWNERS_SEGMENT, MAX_PATTERN_LENGTH } from '../limits.ts';
import { makeExpressionIndex, type PathExpression, parsePathExpression } from '../matching/expression-index.ts';
import { fromGiteaExpression } from '../matching/gitea-expression.ts';
import { makePathTree, type PathPattern, parsePathPattern } from '../matching/path-tree.ts';
import { expressionFault } from '../matching/pattern.ts';
import { say, type Text } from '../text.ts';

/** How a forge reads the lines of CODEOWNERS, whose patterns become this. */
export interface Dialect<Pattern> {
  readonly wordsOf: (line: string) => readonly string[];
  readonly owner: RegExp;
  /** What can only be meant for an owner, also if it is misspelt. */
  readonly ownerAlone: RegExp;
  readonly everyPath: Pattern;
  readonly readPattern: (written: string, names: readonly string[]) => ReadPattern<Pattern>;
  /** `patternOf` a line that was added. */
  readonly makeIndex: (patternOf: (line: number) => Pattern | undefined) => LineIndex<Pattern>;
  /** Whether all lines that match are as one, or each is for itself. */
  readonly areJoined: boolean;
}

interface LineIndex<Pattern> {
  /** `settles`: where only the last line counts, none before it does. Lines come in their order. */
  add(pattern: Pattern, line: number, settles: boolean): void;
  /** The lines that count for each path. */
  matching(paths: readonly string[]): readonly (readonly number[])[];
}

type ReadPattern<Pattern> =
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  /** The forge cannot use it either. `what` it is. */
  | { readonly kind: 'skipped'; readonly what: Text }
  /** The forge may be able to use it. */
  | { readonly kind: 'unreadable' };

const UNREADABLE = { kind: 'unreadable' } as const;

/** How many characters of a faulty line are shown. */
const MAX_SHOWN = 60;
export const short = (text: string) => shorten(text, MAX_SHOWN);

/**
 * GitHub: patterns much as in .gitignore, without `!`, `[ ]` and `\#`. A login has letters, digits and single hyphens;
 * that of a managed user ends in `_` and a short code, and some old ones end in a hyphen.
 * https://docs.github.com/en/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
 */
export const GITHUB: Dialect<PathPattern> = {
  wordsOf: (line) => (line.startsWith('#') ? [] : (line.replace(/(?<!\\)\s#.*$/s, '').match(/(?:\\.|\S)+/gs) ?? [])),
  owner: /^@[a-z\d]+(?:-[a-z\d]+)*-?(?:_[a-z\d]+)?(?:\/[\w-]+)?$|^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d-]+(?:\.[a-z\d-]+)*$/i,
  // `@types/`, `@scope/pkg/**` and `@file.ts` are paths, and so are `icon@2x.png`, `pkg@1.2.tgz` and `getty@tty1.service`.
  ownerAlone:
    /^@+[\p{L}\p{N}_-]*(?:\[bot\]|\/[\p{L}\p{N}_-]+)?\.?$|^[\w.+-]+@(?!\d)[\w-]+(?:\.[\w-]+)+(?<!\.(?:mount|path|service|slice|socket|target|timer))$/u,
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
  makeIndex: () => makePathTree(),
  areJoined: false,
};

/**
 * Gitea and Forgejo: an expression for the whole path, or `!` and one for all other paths. `sourceOf` is without what
 * the forge ignores of it, and `compiled` what our engine takes; undefined where that may mean something else.
 * https://docs.gitea.com/usage/repository/code-owners
 */
function makeExpressionDialect(
  sourceOf: (pattern: string) => string | undefined,
  compiled: (source: string) => string | undefined,
): Dialect<PathExpression> {
  return {
    wordsOf: expressionWords,
    owner: /^@?[\w.-]+(?:\/[\w.-]+)?$/,
    ownerAlone: /^@+[\p{L}\p{N}_.-]*(?:\/[\p{L}\p{N}_.-]+)?$/u,
    everyPath: { negated: false, prefix: '', compiled: () => '' },
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
      const pattern = { ...parsed, negated, compiled: () => compiled(source) ?? '' };
      return parsed.matches === undefined
        ? readExpression(compiled(source), pattern, written)
        : { kind: 'pattern', pattern };
    },
    makeIndex: makeExpressionIndex,
    areJoined: true,
  };
}

function readExpression(
  expression: string | undefined,
  pattern: PathExpression,
  written: string,
): ReadPattern<PathExpression> {
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

export const EXPRESSIONS: Readonly<Record<Exclude<CodeOwnersDialect, 'github'>, Dialect<PathExpression>>> = {
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
