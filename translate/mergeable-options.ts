import { type Expression, expressionsOf, malformed, unknownKey } from './dialect.ts';
import type { Findings } from './findings.ts';
import { ALWAYS, all, any, type Formula, not, UNKNOWN } from './formula.ts';
import type { Subject } from './mergeable-subjects.ts';
import { literally } from './patterns.ts';
import { at, flagOf, isMapping, type SourceNode, textOf, textsOf, wholeOf } from './source.ts';

type ReadOption = (node: SourceNode, subject: Subject, findings: Findings) => Formula;

/** The options of validators, each as a page of docs/options describes it. */
const OPTIONS: Readonly<Record<string, ReadOption>> = {
  must_include: includes,
  must_exclude: (node, subject, findings) => not(expressed(node, subject.found, findings)),
  begins_with: (node, subject, findings) => literal(node, subject, findings, (text) => `^${text}`),
  ends_with: (node, subject, findings) => literal(node, subject, findings, (text) => `${text}$`),
  no_empty: noEmpty,
  min: (node, subject, findings) => amount('>=', node, subject, findings),
  max: (node, subject, findings) => amount('<=', node, subject, findings),
  jira(node, _subject, findings) {
    findings.lost(
      node.line,
      'It asked Jira for a ticket',
      'Gatehouse asks no other service. A title can be required to name one: `title`.',
    );
    return UNKNOWN;
  },
};

/** All options of a validator but those of `others`, which are read elsewhere. Each of them must hold. */
export function optionsOf(
  node: SourceNode,
  subject: Subject,
  findings: Findings,
  others: readonly string[] = [],
): Formula {
  const options = node.entries().filter(([key]) => key !== 'do' && !others.includes(key));
  return all(options.map(([key, inner]) => option(key, inner, subject, findings)));
}

function option(key: string, node: SourceNode, subject: Subject, findings: Findings): Formula {
  if (key === 'and' || key === 'or') {
    return connected(key, node, (name, inner) => option(name, inner, subject, findings));
  }
  const read = Object.hasOwn(OPTIONS, key) ? OPTIONS[key] : undefined;
  if (read === undefined) {
    unknownKey(key, node, findings);
    return UNKNOWN;
  }
  return read(node, subject, findings);
}

/** The options `and` and `or`: a list of mappings with one option each. */
export function connected(
  key: 'and' | 'or',
  node: SourceNode,
  read: (key: string, node: SourceNode) => Formula,
): Formula {
  if (node.items().length === 0) {
    return malformed(node, 'a list of options');
  }
  const parts = node.items().map((item) => {
    const [entry, ...more] = item.entries();
    // Mergeable reads only the first of several (andOrProcessor.js).
    return entry === undefined || more.length > 0 ? malformed(item, 'one option') : read(...entry);
  });
  return key === 'and' ? all(parts) : any(parts);
}

function includes(node: SourceNode, subject: Subject, findings: Findings): Formula {
  if (flagOf(at(node, 'all')) !== true) {
    return expressed(node, subject.found, findings);
  }
  return subject.each === undefined
    ? malformed(node, 'an option of this validator: `all` is of `changeset`')
    : expressed(node, subject.each, findings);
}

function expressed(node: SourceNode, find: Subject['found'], findings: Findings): Formula {
  if (find === undefined) {
    return malformed(node, 'an option of this validator');
  }
  const regex = at(node, 'regex');
  const known = keysAre(node, ['regex', 'regex_flag', 'message', 'all', 'key'], findings);
  if (regex === undefined || !known) {
    return known ? malformed(node, 'a mapping with `regex`') : UNKNOWN;
  }
  return find(expressionsOf(regex), flagsOf(at(node, 'regex_flag')), regex, findings);
}

/** The flags of JavaScript. Case does not matter unless they say otherwise. */
export function flagsOf(node: SourceNode | undefined): string {
  const flags = textOf(node) ?? 'i';
  if (node !== undefined && textOf(node) === undefined) {
    node.wrong('flags of a regular expression');
  }
  return flags === 'none' ? '' : flags;
}

function keysAre(node: SourceNode, keys: readonly string[], findings: Findings): boolean {
  const others = node.entries().filter(([key]) => !keys.includes(key));
  for (const [key, inner] of others) {
    unknownKey(key, inner, findings);
  }
  return others.length === 0;
}

function literal(node: SourceNode, subject: Subject, findings: Findings, anchored: (text: string) => string): Formula {
  const match = at(node, 'match');
  const texts = match === undefined ? [] : textsOf(match);
  if (!keysAre(node, ['match', 'message'], findings)) {
    return UNKNOWN;
  }
  if (subject.found === undefined) {
    return malformed(node, 'an option of this validator');
  }
  if (match === undefined || texts.length === 0) {
    return malformed(node, 'a mapping with `match`');
  }
  const expressions = texts.map((text): Expression => ({ source: anchored(literally(text)), line: match.line }));
  return subject.found(expressions, '', match, findings);
}

function noEmpty(node: SourceNode, subject: Subject, findings: Findings): Formula {
  const enabled = flagOf(at(node, 'enabled'));
  if (!keysAre(node, ['enabled', 'message'], findings)) {
    return UNKNOWN;
  }
  if (enabled === undefined) {
    return malformed(node, 'a mapping with `enabled`');
  }
  if (!enabled) {
    return ALWAYS;
  }
  return subject.notEmpty === undefined
    ? malformed(node, 'an option of this validator')
    : subject.notEmpty(node, findings);
}

function amount(operator: '<=' | '>=', node: SourceNode, subject: Subject, findings: Findings): Formula {
  const count = isMapping(node.value) ? wholeOf(at(node, 'count')) : wholeOf(node);
  if (isMapping(node.value) && !keysAre(node, ['count', 'message'], findings)) {
    return UNKNOWN;
  }
  return count === undefined || subject.amount === undefined
    ? malformed(node, 'a mapping with `count`')
    : subject.amount(operator, count, node, findings);
}

/** The messages of a validator, in its options and in theirs. */
export function messagesOf(node: SourceNode): readonly string[] {
  const inside = isMapping(node.value)
    ? node.entries().map(([, inner]) => inner)
    : Array.isArray(node.value)
      ? node.items()
      : [];
  const nested = inside.flatMap(messagesOf);
  const own = isMapping(node.value) ? textOf(at(node, 'message'))?.trim() : undefined;
  return [...new Set([...(own ? [own] : []), ...nested])];
}
