import { globFault } from '../src/review/matching/glob.ts';
import { ask, expressionsOf, malformed, oneOrList, unknownKey } from './dialect.ts';
import { type Findings, quoted } from './findings.ts';
import { ALWAYS, all, any, between, type Formula, not, UNKNOWN } from './formula.ts';
import { flagsOf } from './mergeable-options.ts';
import { foundIn } from './mergeable-subjects.ts';
import { at, flagOf, isMapping, type SourceNode, textOf, textsOf, wholeOf } from './source.ts';

const CHANGED = { status: ['added', 'modified'] };

/** docs/validators/dependent.rst */
export function dependent(node: SourceNode, findings: Findings): Formula {
  const others = node.entries().filter(([key]) => !['do', 'files', 'changed', 'message'].includes(key));
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  const changed = at(node, 'changed');
  const list = changed === undefined ? at(node, 'files') : (at(changed, 'required') ?? at(changed, 'files'));
  const paths = list === undefined ? [] : textsOf(list);
  if (others.length > 0) {
    return UNKNOWN;
  }
  if (list === undefined || paths.length === 0) {
    return malformed(node, 'a mapping with a list of files');
  }
  const each = paths.map((path) => ask(list, findings, 'files', escapedPath(path), CHANGED));
  if (changed === undefined) {
    return any([not(any(each)), all(each)]);
  }
  const file = at(changed, 'file');
  const glob = textOf(file);
  if (file === undefined || glob === undefined) {
    return malformed(changed, 'a mapping with `file`');
  }
  return any([not(asGlob(file, glob, findings, (one) => ask(file, findings, 'files', one, CHANGED))), all(each)]);
}

/** A path as a glob that matches nothing else. */
function escapedPath(path: string): string {
  return path.replace(/[*?[\]{},\\(]/g, '\\$&').replace(/^!/, '\\!');
}

/** A glob of minimatch, where it means the same here. Otherwise anything may match. */
function asGlob(node: SourceNode, glob: string, findings: Findings, build: (glob: string) => Formula): Formula {
  if (!meansTheSame(glob)) {
    findings.lost(node.line, `The glob ${quoted(glob)} is not accepted here`, 'Write another one.');
    return UNKNOWN;
  }
  return build(glob);
}

/** `!` and `#` at the start are for minimatch's own use, and `{1..3}` are numbers. */
function meansTheSame(glob: string): boolean {
  return globFault(glob) === undefined && !/^[!#]|\{[^}]*\.\./.test(glob);
}

/** docs/validators/size.rst. Binary files have no lines there. */
export function size(node: SourceNode, findings: Findings): Formula {
  const others = node.entries().filter(([key]) => !['do', 'lines', 'match', 'ignore'].includes(key));
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  const lines = at(node, 'lines');
  if (lines === undefined || others.length > 0) {
    return others.length > 0 ? UNKNOWN : malformed(node, 'a mapping with `lines`');
  }
  const except = exceptOf(node, findings);
  const options = { ...(except === undefined ? {} : { except }), binary: 'ignore' };
  const names: Readonly<Record<string, string>> = {
    max: 'changed_lines',
    total: 'changed_lines',
    additions: 'additions',
    deletions: 'deletions',
  };
  return all(
    lines.entries().map(([key, inner]): Formula => {
      const name = Object.hasOwn(names, key) ? names[key] : undefined;
      if (name !== undefined) {
        const count = isMapping(inner.value) ? wholeOf(at(inner, 'count')) : wholeOf(inner);
        return count === undefined
          ? malformed(inner, 'a mapping with `count`')
          : // Removed and renamed files count here, and not there.
            between(ask(inner, findings, name, `<= ${count}`, options), ALWAYS);
      }
      if (key !== 'ignore_comments') {
        unknownKey(key, inner, findings);
        return UNKNOWN;
      }
      if (flagOf(inner) !== false) {
        findings.lost(inner.line, 'Comments were not counted', 'Here they are.');
      }
      return ALWAYS;
    }),
  );
}

/** What is not counted. More that is counted is stricter: a glob that cannot be used is left out. */
function exceptOf(node: SourceNode, findings: Findings): string | readonly string[] | undefined {
  const [match, ignore] = ['match', 'ignore'].map((key) => {
    const inner = at(node, key);
    const globs = inner === undefined ? undefined : textsOf(inner);
    if (inner !== undefined && (globs?.length === 0 || globs?.some((glob) => !meansTheSame(glob)))) {
      findings.lost(inner.line, `Not all globs of ${quoted(key)} are accepted here`, 'All those files are counted.');
    }
    return { line: inner?.line ?? node.line, given: globs, usable: globs?.filter(meansTheSame) ?? [] };
  });
  if (match?.given !== undefined && match.usable.length === match.given.length && match.given.length > 0) {
    if (ignore?.given !== undefined) {
      findings.lost(ignore.line, 'Beside `match` it left files out', 'They are counted: `except` has one of the two.');
    }
    return oneOrList(match.usable.map((glob) => `!${glob}`));
  }
  const globs = ignore?.usable ?? [];
  return globs.length === 0 ? undefined : oneOrList(globs);
}

/** docs/validators/contents.rst: the whole of each file that is added or modified. */
export function contents(node: SourceNode, findings: Findings): Formula {
  const options = node.entries().filter(([key]) => key !== 'do' && key !== 'files');
  return all(
    options.map(([key, inner]): Formula => {
      const regex = key === 'must_exclude' ? at(inner, 'regex') : undefined;
      if (regex === undefined) {
        findings.lost(inner.line, 'It asked what whole files contain', 'Added lines can be asked for: `added_lines`.');
        return UNKNOWN;
      }
      findings.lost(
        inner.line,
        'It looked at whole files',
        'Here it looks at added lines only, of all files: what was there before is not found, and a pattern over several lines neither.',
      );
      return not(
        foundIn(expressionsOf(regex), flagsOf(at(inner, 'regex_flag')), findings, (patterns) =>
          ask(regex, findings, 'added_lines', patterns),
        ),
      );
    }),
  );
}
