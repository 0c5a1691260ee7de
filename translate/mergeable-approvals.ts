import { ask, malformed, oneOrList, unknownKey } from './dialect.ts';
import { type Findings, quoted } from './findings.ts';
import { ALWAYS, all, any, between, type Formula, not, UNKNOWN } from './formula.ts';
import { connected } from './mergeable-options.ts';
import { at, flagOf, isMapping, type SourceNode, textsOf, wholeOf } from './source.ts';

/** Whose approvals count: of `limit` and `exclude`, which hold for all options beside them. */
interface Counted {
  readonly from?: readonly string[];
  readonly without: readonly string[];
  /** False where somebody is meant who cannot be named here. */
  readonly known: boolean;
}

const LOGIN = /^(?!codeowners$)[\w.-]+(?:\[bot\])?$/i;

/** docs/validators/approval.rst. The approvals of those who committed count there. */
export function approvals(node: SourceNode, findings: Findings): Formula {
  const counted = countedBy(node, findings);
  const read = (key: string, inner: SourceNode): Formula => {
    switch (key) {
      case 'min':
        return enough(inner, counted, findings);
      case 'required':
        return required(inner, counted, findings);
      case 'block':
        return block(inner, findings);
      case 'and':
      case 'or':
        return connected(key, inner, read);
      case 'limit':
      case 'exclude':
        return ALWAYS;
      case 'max':
        findings.lost(inner.line, 'It limited the number of approvals', 'Remove it: more approvals do no harm.');
        return UNKNOWN;
      default:
        unknownKey(key, inner, findings);
        return UNKNOWN;
    }
  };
  return all(
    node
      .entries()
      .filter(([key]) => key !== 'do')
      .map(([key, inner]) => read(key, inner)),
  );
}

function countedBy(node: SourceNode, findings: Findings): Counted {
  const limit = at(node, 'limit');
  const exclude = at(node, 'exclude');
  const without = named(at(exclude, 'users'), LOGIN, findings);
  const unknown = exclude?.entries().filter(([key]) => key !== 'users') ?? [];
  for (const [key, inner] of unknown) {
    unknownKey(key, inner, findings);
  }
  const excluded = { without: without.names, known: without.known && unknown.length === 0 };
  if (limit === undefined) {
    return excluded;
  }
  const users = named(at(limit, 'users'), LOGIN, findings);
  const teams = named(at(limit, 'teams'), /^@?[\w.-]+\/[\w.-]+$/, findings);
  const owners = at(limit, 'owners');
  if (owners !== undefined && flagOf(owners) !== false) {
    findings.lost(
      owners.line,
      'Approvals of the owners in CODEOWNERS counted',
      'If files without owners need no approval: `approvals: { from: [CODEOWNERS] }`.',
    );
  }
  const others = limit.entries().filter(([key]) => !['users', 'teams', 'owners'].includes(key));
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  // Fewer people whose approval counts are stricter, so that it does not matter who else was meant.
  return { ...excluded, from: [...users.names, ...teams.names.map((team) => `@${team.replace(/^@/, '')}`)] };
}

/** Those of a list that are such names. The others are lost. */
function named(node: SourceNode | undefined, form: RegExp, findings: Findings) {
  const texts = node === undefined ? [] : textsOf(node);
  const others = texts.filter((text) => !form.test(text));
  if (node !== undefined && others.length > 0) {
    findings.lost(node.line, `${others.map(quoted).join(', ')} cannot be named here`, 'Name logins or teams.');
  }
  return { names: texts.filter((text) => form.test(text)), known: others.length === 0 };
}

function enough(node: SourceNode, counted: Counted, findings: Findings): Formula {
  const count = isMapping(node.value) ? wholeOf(at(node, 'count')) : wholeOf(node);
  if (count === undefined) {
    return malformed(node, 'a mapping with `count`');
  }
  return count === 0 ? ALWAYS : approvalsOf(node, count, counted, findings);
}

function approvalsOf(node: SourceNode, count: number, { from, without, known }: Counted, findings: Findings): Formula {
  if (!known || from?.length === 0) {
    return UNKNOWN;
  }
  const counting = ask(node, findings, 'approvals', {
    count,
    ...(from === undefined ? {} : { from: oneOrList(from) }),
    ...(without.length === 0 ? {} : { not_from: oneOrList(without) }),
    committers: true,
  });
  // There those count, too, who may not write, and bots.
  return between(counting, ALWAYS);
}

function required(node: SourceNode, counted: Counted, findings: Findings): Formula {
  if (counted.from !== undefined) {
    findings.lost(node.line, 'It required approvals of some people beside `limit`', 'Write the rule by hand.');
    return UNKNOWN;
  }
  const parts = node.entries().map(([key, inner]): Formula => {
    switch (key) {
      case 'message':
        return ALWAYS;
      case 'reviewers': {
        const { names, known } = named(inner, LOGIN, findings);
        const each = names.map((login) => approvedUnlessAuthor(inner, login, counted, findings));
        return known ? all(each) : UNKNOWN;
      }
      case 'owners':
      case 'assignees':
      case 'requested_reviewers':
        return flagOf(inner) === false ? ALWAYS : requiredGroup(key, inner, findings);
      default:
        unknownKey(key, inner, findings);
        return UNKNOWN;
    }
  });
  return all(parts);
}

/** The author of the pull request is left out of the list there. */
function approvedUnlessAuthor(node: SourceNode, login: string, counted: Counted, findings: Findings): Formula {
  return any([ask(node, findings, 'author', login), approvalsOf(node, 1, { ...counted, from: [login] }, findings)]);
}

function requiredGroup(
  group: 'owners' | 'assignees' | 'requested_reviewers',
  node: SourceNode,
  findings: Findings,
): Formula {
  switch (group) {
    case 'owners':
      findings.lost(
        node.line,
        'All owners in CODEOWNERS had to approve',
        'One owner of each file: `approvals: { from: [CODEOWNERS] }`.',
      );
      return UNKNOWN;
    case 'assignees':
      findings.lost(node.line, 'All assignees had to approve', 'Name people or teams: `approvals: { from }`.');
      return UNKNOWN;
    case 'requested_reviewers':
      findings.lost(
        node.line,
        'Those whose review was requested had to approve',
        'Here a request ends with any review of that person, also one that only comments: ask for `approvals`, too.',
      );
      return not(any([ask(node, findings, 'reviews_requested', true), ask(node, findings, 'changes_requested', true)]));
  }
}

function block(node: SourceNode, findings: Findings): Formula {
  const others = node.entries().filter(([key]) => key !== 'changes_requested' && key !== 'message');
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  if (others.length > 0) {
    return UNKNOWN;
  }
  if (flagOf(at(node, 'changes_requested')) !== true) {
    return ALWAYS;
  }
  findings.kept(node.line, 'Here only those block it who may write to the repository.');
  return not(ask(node, findings, 'changes_requested', true));
}
