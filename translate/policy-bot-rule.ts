import { ask, oneOrList, unknownKey } from './dialect.ts';
import { type Finding, type Findings, quoted } from './findings.ts';
import { ALWAYS, all, type Formula, NEVER, UNKNOWN } from './formula.ts';
import { type Actors, actorsOf, isActorKey } from './policy-bot-actors.ts';
import { predicatesOf } from './policy-bot-predicates.ts';
import { at, flagOf, type SourceNode, textOf, textsOf, wholeOf } from './source.ts';

/** One of `approval_rules`. */
export interface ApprovalRule {
  readonly name: string;
  readonly line: number;
  readonly description?: string;
  /** All predicates are met; otherwise it is skipped. */
  readonly applies: Formula;
  /** What approves it then. */
  readonly requires: Formula;
  readonly findings: readonly Finding[];
}

const KEYS = ['name', 'description', 'if', 'options', 'requires'];

export function approvalRuleOf(name: string, node: SourceNode, findings: Findings): ApprovalRule {
  const description = textOf(at(node, 'description'));
  const { result, findings: found } = findings.during(() => {
    const others = node.entries().filter(([key]) => !KEYS.includes(key));
    for (const [key, inner] of others) {
      unknownKey(key, inner, findings);
    }
    const requires = requirementsOf(at(node, 'requires'), at(node, 'options'), findings);
    return {
      applies: all(predicatesOf(at(node, 'if'), findings)),
      requires: others.length === 0 ? requires : all([requires, UNKNOWN]),
    };
  });
  return {
    ...{ name, line: node.line, ...result, findings: found },
    ...(description === undefined ? {} : { description }),
  };
}

/** Without requirements a rule is always approved. */
function requirementsOf(node: SourceNode | undefined, options: SourceNode | undefined, findings: Findings): Formula {
  if (node === undefined || node.value === null) {
    return readOptions(options, findings, false).known ? ALWAYS : UNKNOWN;
  }
  const others = node.entries().filter(([key]) => key !== 'count' && key !== 'conditions' && !isActorKey(key));
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  const count = wholeOf(at(node, 'count')) ?? 0;
  const conditions = predicatesOf(at(node, 'conditions'), findings);
  const read = readOptions(options, findings, count !== 0);
  const approved = count === 0 ? ALWAYS : approvals(node, count, read, findings);
  return all([approved, ...conditions, ...(read.known && others.length === 0 ? [] : [UNKNOWN])]);
}

interface Options {
  readonly committers: boolean;
  readonly fresh: boolean;
  readonly ignoresUpdates: boolean;
  /** Whether any review that approves counts. */
  readonly byReview: boolean;
  /** Whether it leaves it to policy-bot which comments approve. */
  readonly byDefaultComments: boolean;
  /** Whether there was no option of an unknown name or form. */
  readonly known: boolean;
}

type OptionReader = (node: SourceNode, findings: Findings, counts: boolean) => void;

/** The options that have no equal, or need none. `counts`: whether the rule asks for approvals at all. */
const OTHER_OPTIONS: Readonly<Record<string, OptionReader>> = {
  allow_author(node, findings, counts) {
    if (counts && flagOf(node) === true) {
      findings.lost(
        node.line,
        'The author’s own approval counted',
        'It never counts here. Where nobody else is needed, ask for `author`.',
      );
    }
  },
  ignore_commits_by(node, findings, counts) {
    if (counts) {
      findings.lost(
        node.line,
        'The commits of some accounts made nobody a contributor, and ended no approval',
        'Here they count like all others.',
      );
    }
  },
  ignore_edited_comments(node, findings, counts) {
    if (counts && flagOf(node) === true) {
      findings.lost(
        node.line,
        'Approvals whose text was edited did not count',
        'Here the state of a review counts, which cannot be edited. There is nothing to do.',
      );
    }
  },
  request_review(node, findings, counts) {
    if (counts && flagOf(at(node, 'enabled')) === true) {
      findings.lost(node.line, 'It requested reviews', 'Gatehouse requests none: let CODEOWNERS of the forge do it.');
    }
  },
};

const OWN_OPTIONS = [
  'allow_contributor',
  'allow_non_author_contributor',
  'invalidate_on_push',
  'ignore_update_merges',
  'methods',
];

/** Those that are true or false. */
const FLAGS = [
  'allow_author',
  'allow_contributor',
  'allow_non_author_contributor',
  'invalidate_on_push',
  'ignore_edited_comments',
  'ignore_update_merges',
];

function readOptions(node: SourceNode | undefined, findings: Findings, counts: boolean): Options {
  let known = true;
  for (const [key, inner] of node?.entries() ?? []) {
    const read = Object.hasOwn(OTHER_OPTIONS, key) ? OTHER_OPTIONS[key] : undefined;
    if (read === undefined && !OWN_OPTIONS.includes(key)) {
      unknownKey(key, inner, findings);
      known = false;
    }
    if (FLAGS.includes(key)) {
      flagOf(inner);
    }
    read?.(inner, findings, counts);
  }
  const contributor = at(node, 'allow_contributor');
  if (counts && contributor !== undefined && flagOf(contributor) === true) {
    findings.lost(
      contributor.line,
      'Approvals of contributors counted, the author’s own among them',
      'Those of the other contributors do: `committers: true`.',
    );
  }
  const methods = at(node, 'methods');
  const byReview = methods === undefined || readMethods(methods, findings, counts);
  return {
    committers: flagOf(contributor) === true || flagOf(at(node, 'allow_non_author_contributor')) === true,
    fresh: flagOf(at(node, 'invalidate_on_push')) === true,
    ignoresUpdates: flagOf(at(node, 'ignore_update_merges')) === true,
    byDefaultComments: at(methods, 'comments') === undefined,
    ...{ byReview, known },
  };
}

/** Whether any review that approves counts. */
function readMethods(node: SourceNode, findings: Findings, counts: boolean): boolean {
  let byReview = flagOf(at(node, 'github_review')) !== false;
  for (const [key, inner] of node.entries()) {
    if (key === 'github_review') {
      continue;
    }
    if (key === 'comments' || key === 'comment_patterns' || key === 'body_patterns') {
      if (textsOf(inner).length > 0 && counts) {
        findings.lost(
          inner.line,
          `${key === 'body_patterns' ? 'The description' : 'A comment'} could approve`,
          'Only reviews approve here. In an emergency, `override` lets people let a pull request pass by a comment.',
        );
      }
    } else if (key === 'github_review_comment_patterns') {
      if (textsOf(inner).length > 0 && counts) {
        findings.lost(
          inner.line,
          'Only reviews with certain words approved',
          'The text of a review is not read here, so that nothing approves. Name a team instead.',
        );
        byReview = false;
      }
    } else {
      unknownKey(key, inner, findings);
      byReview = false;
    }
  }
  if (counts && flagOf(at(node, 'github_review')) === false) {
    findings.lost(node.line, 'Reviews did not approve', 'Nothing else does here, so that nothing approves.');
  }
  return byReview;
}

function approvals(node: SourceNode, count: number, options: Options, findings: Findings): Formula {
  const actors = actorsOf(node, findings, ['count', 'conditions']);
  if (options.byDefaultComments) {
    findings.kept(node.line, 'A comment ":+1:" approved, too. Here only reviews approve.');
  }
  if (!options.byReview) {
    return NEVER;
  }
  if (actors.empty) {
    findings.lost(
      node.line,
      'It names nobody whose approval counts, so that policy-bot never approves it',
      'Name people, teams, or the permission "write".',
    );
    return NEVER;
  }
  return among(node, actors, findings, {
    count,
    ...(options.fresh ? { fresh: options.ignoresUpdates ? 'except-updates' : true } : {}),
    ...(options.committers ? { committers: true } : {}),
  });
}

/** Everybody with a permission, or those who are named. There is no "or" of the two within one count. */
function among(
  node: SourceNode,
  { names, permission }: Actors,
  findings: Findings,
  wanted: Readonly<Record<string, unknown>> & { readonly count: number },
): Formula {
  const line = at(node, 'permissions')?.line ?? node.line;
  const onlyCount = Object.keys(wanted).length === 1;
  const writers = (): Formula => ask(node, findings, 'approvals', onlyCount ? wanted.count : wanted);
  const named = (): Formula => ask(node, findings, 'approvals', { ...wanted, from: oneOrList(names) });
  switch (permission) {
    case undefined:
      return names.length === 0 ? NEVER : named();
    case 'write':
      if (names.length > 0) {
        findings.kept(line, 'Whoever may write approves: those who are named beside it need that permission, too.');
      }
      return writers();
    case 'read':
    case 'triage':
      findings.lost(
        line,
        `Everybody with the permission ${quoted(permission)} approved`,
        'Here those who may write do.',
      );
      return writers();
    default:
      findings.lost(line, `Everybody with the permission ${quoted(permission)} approved`, 'Name a team.');
      return names.length === 0 ? NEVER : named();
  }
}
