import {
  type AllMatchers,
  ask,
  expressionsOf,
  malformed,
  matchersOf,
  matching,
  oneOrList,
  unknownKey,
} from './dialect.ts';
import { type Findings, quoted } from './findings.ts';
import { ALWAYS, ANY_STATUS, all, any, between, type Formula, NEVER, not, STILL_THERE, UNKNOWN } from './formula.ts';
import { globsOf } from './globs.ts';
import { fromGo } from './patterns.ts';
import { actorsOf } from './policy-bot-actors.ts';
import { type Piece, parseRegex } from './regex.ts';
import { at, flagOf, type SourceNode, textOf, textsOf } from './source.ts';

type Read = (node: SourceNode, findings: Findings) => Formula;

/** They make nobody a contributor there: whoever writes a commit message could name anybody. */
const NO_CO_AUTHORS = { co_authors: 'ignore' };

/** The predicates of policy-bot, each as its README describes it: "Approval Rules". */
const PREDICATES: Readonly<Record<string, Read>> = {
  changed_files: changedFiles,
  no_changed_files: (node, findings) => not(changedFiles(node, findings)),
  only_changed_files: onlyChangedFiles,
  has_author_in: (node, findings) => people(node, findings, (from) => ask(node, findings, 'author', from)),
  // Its contributors are the author of the pull request and those of the commits, ours only the latter.
  has_contributor_in: (node, findings) =>
    people(node, findings, (from) =>
      any([ask(node, findings, 'author', from), ask(node, findings, 'contributors', { from, ...NO_CO_AUTHORS })]),
    ),
  only_has_contributors_in: (node, findings) =>
    people(node, findings, (from) =>
      all([
        ask(node, findings, 'author', from),
        ask(node, findings, 'contributors', { from, only: true, ...NO_CO_AUTHORS }),
      ]),
    ),
  author_is_only_contributor: authorAlone,
  targets_branch: targetsBranch,
  from_branch: fromBranch,
  modified_lines: modifiedLines,
  has_successful_status: (node, findings) => statuses(node, undefined, findings),
  has_status: hasStatus,
  has_workflow_result: (node, findings) => {
    findings.lost(
      node.line,
      'It asked for the result of a workflow by its file',
      'Ask for its jobs by the names of their check runs: `checks`.',
    );
    return UNKNOWN;
  },
  has_labels: hasLabels,
  repository,
  title,
  has_valid_signatures: validSignatures,
  has_valid_signatures_by: signedBy,
  has_valid_signatures_by_keys: signedByKeys,
};

/** A block of predicates: all of them, by name. An unknown one may be met or not. */
export function predicatesOf(node: SourceNode | undefined, findings: Findings): readonly Formula[] {
  const entries = node?.entries() ?? [];
  return entries.map(([key, inner]) => {
    const read = Object.hasOwn(PREDICATES, key) ? PREDICATES[key] : undefined;
    if (read === undefined) {
      unknownKey(key, inner, findings);
      return UNKNOWN;
    }
    return read(inner, findings);
  });
}

/** Whether it has these keys only. If not, that has been said. */
function only(keys: readonly string[], node: SourceNode, findings: Findings): boolean {
  const others = node.entries().filter(([key]) => !keys.includes(key));
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  return others.length === 0;
}

/**
 * A renamed file has only its new name there. Here its old one counts too, or with {@link STILL_THERE} neither that nor
 * removed files.
 */
function changedFiles(node: SourceNode, findings: Findings): Formula {
  const paths = at(node, 'paths');
  if (!only(['paths', 'ignore'], node, findings)) {
    return UNKNOWN;
  }
  if (paths === undefined) {
    return NEVER;
  }
  const ignored = at(node, 'ignore');
  const except = ignored === undefined ? NO_MATCHERS : matchersOf(expressionsOf(ignored), findings, globsOf);
  return matching(paths, findings, globsOf, (globs, side) => {
    if (globs.includes('**') && ignored === undefined) {
      return ask(paths, findings, 'files', '**', { status: ANY_STATUS });
    }
    // To match less, leave out more.
    const without = side === 'least' ? except.most : except.least;
    if (without === undefined) {
      return NEVER;
    }
    return ask(paths, findings, 'files', oneOrList([...globs, ...without.map((glob) => `!${glob}`)]), {
      status: side === 'least' ? STILL_THERE : ANY_STATUS,
    });
  });
}

const NO_MATCHERS: AllMatchers = { least: [], most: [] };

function onlyChangedFiles(node: SourceNode, findings: Findings): Formula {
  const paths = at(node, 'paths');
  if (!only(['paths'], node, findings)) {
    return UNKNOWN;
  }
  if (paths === undefined) {
    return NEVER;
  }
  // Here a renamed file must match under its old name, too. The other side: no file that is still there is another one.
  return matching(paths, findings, globsOf, (globs, side) =>
    side === 'least'
      ? ask(paths, findings, 'only_files', oneOrList(globs))
      : not(ask(paths, findings, 'files', oneOrList(globs.map((glob) => `!${glob}`)), { status: STILL_THERE })),
  );
}

function people(node: SourceNode, findings: Findings, build: (from: string | readonly string[]) => Formula): Formula {
  const actors = actorsOf(node, findings);
  if (actors.permission !== undefined) {
    findings.lost(node.line, 'It asked for somebody’s permission', 'Name a team.');
  }
  const known = actors.names.length === 0 ? NEVER : build(oneOrList(actors.names));
  // Whoever else was meant may be anybody.
  return actors.complete && actors.permission === undefined ? known : between(known, ALWAYS);
}

function authorAlone(node: SourceNode, findings: Findings): Formula {
  const wanted = flagOf(node);
  if (wanted === undefined) {
    return malformed(node, 'true or false');
  }
  const alone = ask(node, findings, 'contributors', { author: true, only: true, ...NO_CO_AUTHORS });
  return wanted ? alone : not(alone);
}

function targetsBranch(node: SourceNode, findings: Findings): Formula {
  const pattern = at(node, 'pattern');
  if (!only(['pattern'], node, findings)) {
    return UNKNOWN;
  }
  return pattern === undefined
    ? malformed(node, 'a mapping with `pattern`')
    : matching(pattern, findings, globsOf, (globs) => ask(pattern, findings, 'base', oneOrList(globs)));
}

/** The branch of a fork is `owner:branch` there. */
function fromBranch(node: SourceNode, findings: Findings): Formula {
  const pattern = at(node, 'pattern');
  const source = textOf(pattern);
  if (!only(['pattern'], node, findings)) {
    return UNKNOWN;
  }
  if (pattern === undefined || source === undefined) {
    return malformed(node, 'a mapping with `pattern`');
  }
  if (source.includes(':') && !source.includes('(?:')) {
    findings.lost(pattern.line, 'It asked for the owner of a fork', 'Ask for `fork` and `author`.');
    return UNKNOWN;
  }
  const isFork = ask(pattern, findings, 'fork', true);
  const formula = matching(pattern, findings, globsOf, (globs) => ask(pattern, findings, 'branch', oneOrList(globs)));
  const own = all([formula, ask(pattern, findings, 'fork', false)]);
  if (parseRegex(source)?.branches.every(({ start, end, pieces }) => start && isOfNoFork(pieces, end)) === true) {
    return own;
  }
  findings.lost(
    pattern.line,
    'It may match the branch of a fork, which is "owner:branch" there',
    'Begin it with a name that no owner has, such as "^topic/", or write the rule by hand.',
  );
  return between(own, any([own, isFork]));
}

/** Whether what these match from the start on cannot begin with the owner of a fork and a colon. */
function isOfNoFork(pieces: readonly Piece[], ends: boolean): boolean {
  const [first, ...rest] = pieces;
  switch (first?.kind) {
    case undefined:
      return ends;
    case 'character':
      return !/[A-Za-z0-9-]/.test(first.value) || isOfNoFork(rest, ends);
    case 'group':
      return first.alternatives.every((alternative) => isOfNoFork([...alternative, ...rest], ends));
    case 'set':
      return !first.negated && isOfNoFork(rest, ends);
    default:
      return false;
  }
}

/** One of the comparisons is enough. Binary files have no lines there. */
function modifiedLines(node: SourceNode, findings: Findings): Formula {
  const names: Readonly<Record<string, string>> = {
    additions: 'additions',
    deletions: 'deletions',
    total: 'changed_lines',
  };
  if (!only(Object.keys(names), node, findings)) {
    return UNKNOWN;
  }
  return any(
    node.entries().map(([key, inner]) => {
      const [, operator, limit] = /^\s*([<>=])\s*(\d{1,9})\s*$/.exec(textOf(inner) ?? '') ?? [];
      return operator === undefined
        ? malformed(inner, 'a comparison such as "> 100"')
        : ask(inner, findings, names[key] ?? '', `${operator} ${Number(limit)}`, { binary: 'ignore' });
    }),
  );
}

function hasStatus(node: SourceNode, findings: Findings): Formula {
  const names = at(node, 'statuses');
  if (!only(['statuses', 'conclusions'], node, findings)) {
    return UNKNOWN;
  }
  return names === undefined
    ? malformed(node, 'a mapping with `statuses`')
    : statuses(names, at(node, 'conclusions'), findings);
}

function statuses(list: SourceNode, conclusions: SourceNode | undefined, findings: Findings): Formula {
  const names = textsOf(list);
  const results = conclusions === undefined ? [] : textsOf(conclusions);
  if (names.length === 0) {
    return ALWAYS;
  }
  const pattern = names.find((name) => name.includes('*'));
  if (pattern !== undefined) {
    findings.lost(list.line, `The "*" in ${quoted(pattern)} would stand for any characters here`, 'Rename the check.');
    return UNKNOWN;
  }
  const is = results.length === 0 || results.join() === 'success' ? {} : { is: oneOrList(results) };
  return ask(list, findings, 'checks', { name: oneOrList(names), ...is });
}

function hasLabels(node: SourceNode, findings: Findings): Formula {
  const labels = textsOf(node);
  return all(
    labels.map((label) => {
      if (label.includes('*')) {
        findings.lost(
          node.line,
          `The "*" in ${quoted(label)} would stand for any characters here`,
          'Rename the label.',
        );
        return UNKNOWN;
      }
      return ask(node, findings, 'label', label);
    }),
  );
}

/** Those of `matches`, or none of those of `not_matches`. No list gives nothing. */
function matchesOrNot(node: SourceNode, read: (list: SourceNode) => Formula, findings: Findings): Formula {
  if (!only(['matches', 'not_matches'], node, findings)) {
    return UNKNOWN;
  }
  return any(node.entries().map(([key, list]) => (key === 'matches' ? read(list) : not(read(list)))));
}

function title(node: SourceNode, findings: Findings): Formula {
  return matchesOrNot(node, (list) => patterns(list, 'title', findings), findings);
}

function patterns(list: SourceNode, name: string, findings: Findings): Formula {
  const read = textsOf(list).map((source) => ({ source, ...fromGo(source) }));
  for (const one of read) {
    if ('fault' in one) {
      findings.lost(
        list.line,
        `The expression ${quoted(one.source)} cannot be used: ${one.fault}`,
        'Write another one.',
      );
    }
  }
  const usable = read.flatMap((one) => ('pattern' in one ? [one.pattern] : []));
  const formula = usable.length === 0 ? NEVER : ask(list, findings, name, oneOrList(usable));
  return usable.length === read.length ? formula : between(formula, ALWAYS);
}

/** There the name includes the owner, here it does not. */
function repository(node: SourceNode, findings: Findings): Formula {
  const read = (list: SourceNode): Formula =>
    matching(
      list,
      findings,
      (source) => {
        const [, name] = /^\^[\w-]+\/(.*)$/.exec(source) ?? [];
        return name === undefined ? undefined : globsOf(`^${name}`, { ignoreCase: false });
      },
      (globs) => ask(list, findings, 'repository', oneOrList(globs)),
    );
  findings.kept(node.line, 'The owner is not looked at: a policy is read for repositories of one owner.');
  return matchesOrNot(node, read, findings);
}

function validSignatures(node: SourceNode, findings: Findings): Formula {
  const wanted = flagOf(node);
  if (wanted === undefined) {
    return malformed(node, 'true or false');
  }
  const every = ask(node, findings, 'commits', { every: { verified: true } });
  return wanted ? every : not(every);
}

/**
 * That all are verified is less than theirs: it is needed, and not enough. GitHub's own signatures, which it names
 * `web-flow` there, are nobody's here.
 */
function signedBy(node: SourceNode, findings: Findings): Formula {
  const { names, permission, complete } = actorsOf(node, findings);
  const usable = names.filter((name) => name.toLowerCase() !== 'web-flow');
  const least =
    usable.length === 0 ? NEVER : ask(node, findings, 'commits', { every: { signed_by: oneOrList(usable) } });
  if (complete && permission === undefined && usable.length > 0 && usable.length === names.length) {
    return least;
  }
  findings.lost(
    node.line,
    'It asked whose signatures the commits have, by more than logins and teams',
    'Name them: `commits: { every: { signed_by: [alice, "@organisation/team"] } }`.',
  );
  return between(least, ask(node, findings, 'commits', { every: { verified: true } }));
}

function signedByKeys(node: SourceNode, findings: Findings): Formula {
  findings.lost(
    node.line,
    'It asked for keys by their ids',
    'Name whose they are: `commits: { every: { signed_by: alice } }`.',
  );
  return between(NEVER, ask(node, findings, 'commits', { every: { verified: true } }));
}
