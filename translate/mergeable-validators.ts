import { ask, expressionsOf, malformed, oneOrList, unknownKey } from './dialect.ts';
import { type Findings, quoted } from './findings.ts';
import { ALWAYS, ANY_STATUS, all, any, between, type Formula, NEVER, not, UNKNOWN } from './formula.ts';
import { approvals } from './mergeable-approvals.ts';
import { contents, dependent, size } from './mergeable-files.ts';
import { flagsOf, optionsOf } from './mergeable-options.ts';
import { amountOf, changedFilesSubject, foundIn, globSubject, nameSubject, textSubject } from './mergeable-subjects.ts';
import { at, flagOf, type SourceNode, textOf, textsOf } from './source.ts';

type Read = (node: SourceNode, findings: Findings) => Formula;

/** What to do about a validator or filter that has no equal. */
const NO_EQUAL: Readonly<Record<string, readonly [did: string, todo: string]>> = {
  age: ['It asked how old the pull request is', 'No rule depends on the time. Remove it.'],
  stale: ['It looked for old pull requests', 'No rule depends on the time. Let a scheduled workflow do it.'],
  project: ['It asked for a project', 'Ask for a label instead.'],
  lastComment: ['It asked for a comment', 'Comments decide nothing but overrides. Ask for a label or a review.'],
};

/** Validators and filters, each as its page in docs/validators or docs/filters describes it. */
const VALIDATORS: Readonly<Record<string, Read>> = {
  title: (node, findings) => optionsOf(node, textSubject('title'), findings),
  description: (node, findings) => optionsOf(node, textSubject('body'), findings),
  label: (node, findings) => optionsOf(node, nameSubject('label'), findings),
  milestone: (node, findings) => optionsOf(node, nameSubject('milestone'), findings),
  assignee: (node, findings) => optionsOf(node, { amount: amountOf('assignee') }, findings),
  headRef: (node, findings) => optionsOf(node, globSubject('branch'), findings),
  baseRef: (node, findings) => optionsOf(node, globSubject('base'), findings, ['mediaType']),
  author,
  changeset,
  commit,
  ...{ approvals, contents, dependent, size },
  payload: (node, findings) => payload(node, [], findings),
  repository,
  and: (node, findings) => all(nested(node, findings)),
  or: (node, findings) => any(nested(node, findings)),
  not(node, findings) {
    const [only, ...more] = nested(node, findings);
    // With several of them it ends with an error (logicalConnectiveValidatorProcessor.js).
    return only === undefined || more.length > 0 ? malformed(node, 'one entry') : not(only);
  },
};

/** One entry of `validate` or `filter`. */
export function validatorOf(node: SourceNode, findings: Findings): Formula {
  const name = textOf(at(node, 'do'));
  return name === undefined ? malformed(node, 'an entry with `do`') : namedValidator(name, node, findings);
}

export function namedValidator(name: string, node: SourceNode, findings: Findings): Formula {
  const noEqual = Object.hasOwn(NO_EQUAL, name) ? NO_EQUAL[name] : undefined;
  if (noEqual !== undefined) {
    if (asksNothing(node)) {
      return ALWAYS;
    }
    findings.lost(node.line, ...noEqual);
    return UNKNOWN;
  }
  const read = Object.hasOwn(VALIDATORS, name) ? VALIDATORS[name] : undefined;
  if (read === undefined) {
    unknownKey(name, node, findings);
    return UNKNOWN;
  }
  return read(node, findings);
}

/** `no_empty: { enabled: false }` alone, which many files have. */
function asksNothing(node: SourceNode): boolean {
  const options = node.entries().filter(([key]) => key !== 'do');
  return (
    options.length > 0 && options.every(([key, inner]) => key === 'no_empty' && flagOf(at(inner, 'enabled')) === false)
  );
}

function nested(node: SourceNode, findings: Findings): readonly Formula[] {
  const list = at(node, 'validate') ?? at(node, 'filter');
  const others = node.entries().filter(([key]) => !['do', 'validate', 'filter'].includes(key));
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  if (list === undefined || list.items().length === 0) {
    return [malformed(list ?? node, 'a list of entries')];
  }
  const formulas = list.items().map((item) => validatorOf(item, findings));
  return others.length === 0 ? formulas : [...formulas, UNKNOWN];
}

function author(node: SourceNode, findings: Findings): Formula {
  const own = ['team', 'one_of', 'none_of'];
  const members = own.flatMap((key): readonly Formula[] => {
    const inner = at(node, key);
    if (inner === undefined) {
      return [];
    }
    const one = key === 'team' ? teamOf(inner, findings) : oneOf(inner, findings);
    return [key === 'none_of' ? not(one) : one];
  });
  return all([...members, optionsOf(node, nameSubject('author'), findings, own)]);
}

function teamOf(node: SourceNode, findings: Findings): Formula {
  const team = textOf(node);
  if (team === undefined) {
    return malformed(node, 'a team');
  }
  if (!/^@?[\w.-]+\/[\w.-]+$/.test(team)) {
    findings.lost(node.line, `${quoted(team)} is no team ("organisation/team")`, 'Correct it first.');
    return UNKNOWN;
  }
  return ask(node, findings, 'author', `@${team.replace(/^@/, '')}`);
}

/** Logins, teams as `@org/team`, and words such as `@author`. */
function oneOf(node: SourceNode, findings: Findings): Formula {
  const names = textsOf(node);
  const usable = names.filter((name) => /^(?:[\w.-]+(?:\[bot\])?|@[\w.-]+\/[\w.-]+)$/.test(name));
  const known = usable.length === 0 ? NEVER : ask(node, findings, 'author', oneOrList(usable));
  if (usable.length === names.length) {
    return known;
  }
  const others = names.filter((name) => !usable.includes(name)).map(quoted);
  findings.lost(node.line, `${others.join(', ')} cannot be named here`, 'Name logins or teams.');
  return between(known, ALWAYS);
}

function changeset(node: SourceNode, findings: Findings): Formula {
  const files = at(node, 'files');
  const flags = files?.entries() ?? [];
  const unknown = flags.filter(([key]) => !ANY_STATUS.includes(key));
  for (const [key, inner] of unknown) {
    unknownKey(key, inner, findings);
  }
  if (unknown.length > 0) {
    return UNKNOWN;
  }
  const statuses = flags.filter(([, inner]) => flagOf(inner) === true).map(([key]) => key);
  return optionsOf(node, changedFilesSubject(files === undefined ? undefined : statuses), findings, ['files']);
}

/** Which commits `message` is about; of several, Mergeable takes the first of these. */
const WHICH = ['oldest_only', 'newest_only'] as const;

function commit(node: SourceNode, findings: Findings): Formula {
  const message = at(node, 'message');
  const known = ['regex', 'regex_flag', 'message', 'skip_merge', 'single_commit_only', 'message_type', ...WHICH];
  const others = [
    ...node.entries().filter(([key]) => !['do', 'message', 'jira'].includes(key)),
    ...(message?.entries().filter(([key]) => !known.includes(key)) ?? []),
  ];
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  const regex = at(message, 'regex');
  if (message === undefined || regex === undefined) {
    return malformed(node, 'a mapping with `message` and its `regex`');
  }
  const jira = at(node, 'jira');
  if (jira !== undefined) {
    findings.lost(jira.line, 'It asked Jira for a ticket', 'Gatehouse asks no other service.');
  }
  const type = at(message, 'message_type');
  if (type !== undefined && textOf(type) !== '') {
    findings.lost(type.line, 'It looked at the addresses of the commits', 'Ask for `contributors`.');
    return UNKNOWN;
  }
  const formula = foundIn(expressionsOf(regex), flagsOf(at(message, 'regex_flag')), findings, (patterns) =>
    commitsWith(message, patterns, findings),
  );
  return others.length === 0 && jira === undefined ? formula : all([formula, UNKNOWN]);
}

function commitsWith(message: SourceNode, patterns: string | readonly string[], findings: Findings): Formula {
  const which = WHICH.find((key) => flagOf(at(message, key)) === true);
  const traits = { message: patterns };
  const one = which === 'oldest_only' ? 'oldest' : 'newest';
  const isSingle = flagOf(at(message, 'single_commit_only')) === true;
  if (which !== undefined || isSingle) {
    const asked = ask(message, findings, 'commits', { [one]: traits });
    return isSingle ? any([ask(message, findings, 'commits', { count: '> 1' }), asked]) : asked;
  }
  const every = ask(message, findings, 'commits', { every: traits });
  if (flagOf(at(message, 'skip_merge')) === false) {
    findings.lost(
      at(message, 'skip_merge')?.line ?? message.line,
      'The messages of merges were checked, too',
      'Merges are refused instead: remove `merge: false` to leave them out.',
    );
    return between(ask(message, findings, 'commits', { every: { ...traits, merge: false } }), every);
  }
  findings.kept(
    message.line,
    'Merges, whose message is not checked, are known by their parents and not by the words "Merge branch".',
  );
  return every;
}

/** What a field of the payload is here. */
const FIELDS: Readonly<Record<string, (node: SourceNode, findings: Findings) => Formula>> = {
  'pull_request.draft': draft,
  'pull_request.title': (node, findings) => optionsOf(node, textSubject('title'), findings),
  'pull_request.body': (node, findings) => optionsOf(node, textSubject('body'), findings),
  'pull_request.labels': (node, findings) => optionsOf(node, nameSubject('label'), findings),
  'pull_request.base.ref': (node, findings) => optionsOf(node, globSubject('base'), findings),
  'pull_request.head.ref': (node, findings) => optionsOf(node, globSubject('branch'), findings),
  'pull_request.user.login': author,
};

const LEAVES = ['boolean', 'must_include', 'must_exclude', 'one_of', 'none_of'];

function payload(node: SourceNode, path: readonly string[], findings: Findings): Formula {
  const fields = node.entries().filter(([key]) => key !== 'do');
  const name = path.join('.');
  const read = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  if (read !== undefined) {
    return read(node, findings);
  }
  if (fields.length === 0 || fields.some(([key]) => LEAVES.includes(key))) {
    findings.lost(node.line, `It asked for ${quoted(name)} of the event`, 'Ask for it by another predicate.');
    return UNKNOWN;
  }
  return all(fields.map(([key, inner]) => payload(inner, [...path, key], findings)));
}

function draft(node: SourceNode, findings: Findings): Formula {
  const match = flagOf(at(at(node, 'boolean'), 'match'));
  if (match === undefined || node.entries().length > 1) {
    return malformed(node, '`boolean` with `match`');
  }
  findings.kept(node.line, 'A draft is judged as if it were ready, too: what is required then is shown before.');
  return ask(node, findings, 'draft', match);
}

function repository(node: SourceNode, findings: Findings): Formula {
  const parts = node.entries().filter(([key]) => key !== 'do');
  return all(
    parts.map(([key, inner]): Formula => {
      if (key === 'name') {
        return optionsOf(inner, globSubject('repository'), findings);
      }
      if (key === 'topics') {
        return optionsOf(inner, nameSubject('topic'), findings);
      }
      if (key === 'visibility') {
        return visibility(inner, findings);
      }
      unknownKey(key, inner, findings);
      return UNKNOWN;
    }),
  );
}

/** Whatever is not public is private there. */
function visibility(node: SourceNode, findings: Findings): Formula {
  switch (textOf(node)) {
    case 'public':
      return ask(node, findings, 'visibility', 'public');
    case 'private':
      return ask(node, findings, 'visibility', ['private', 'internal']);
    default:
      return malformed(node, 'public or private');
  }
}
