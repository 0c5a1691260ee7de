import { Document, isCollection, type Node, visit } from 'yaml';
import { shorten } from '../src/common/shorten.ts';
import { MAX_MESSAGE_LENGTH } from '../src/review/limits.ts';
import { visible } from '../src/review/text.ts';
import type { TranslatedRule, Translation } from './dialect.ts';
import type { Finding } from './findings.ts';
import { ALWAYS, all, any, conditionOf, not, type Settled, settle } from './formula.ts';

const WIDTH = 120;
/** A collection that is this short is written in one line. */
const MAX_INLINE = 70;
const MAX_SLUG = 50;

/** What can never hold is forbidden to any pull request. */
const FORBIDS_ALL = { changed_files: '>= 0' };

/** The policy as text. `title`: the comment at its beginning, after which comes what is lost and belongs to no rule. */
export function writePolicy(
  { rules, extends: extended }: Translation,
  title: string,
  lost: readonly Finding[],
): string {
  const used = new Set<string>();
  const printed = rules.map((rule) => ({ rule, text: writeRule(rule, used) }));
  const written = printed.flatMap(({ text }) => text);
  const told = new Set(printed.flatMap(({ rule, text }) => (text.length === 0 ? [] : rule.findings.map(aboutLine))));
  const others = lost.map(aboutLine).filter((line) => !told.has(line));
  const head = [
    ...[title, ...others].flatMap(comment),
    'version: 1',
    ...(extended === undefined ? [] : [`extends: ${extended}`]),
  ];
  const body = written.length === 0 ? ['rules: []'] : ['rules:', written.join('\n\n')];
  return `${[...head, ...body].join('\n')}\n`;
}

/** None where nothing is asked for. */
function writeRule(rule: TranslatedRule, used: Set<string>): readonly string[] {
  const { when, require } = whenAndRequire(rule);
  const never = isConstant(require, false);
  // One that blocks nothing and always fails tells nobody anything.
  if (isConstant(require, true) || isConstant(when, false) || (never && rule.level === 'warn')) {
    return [];
  }
  const lines = rule.message?.trim().split('\n') ?? [];
  const message = shorten(lines.map(visible).join('\n'), MAX_MESSAGE_LENGTH);
  const content = {
    id: idOf(rule.name, used),
    ...(isConstant(when, true) ? {} : { when: conditionOf(when, false) }),
    ...(never
      ? { forbid: FORBIDS_ALL }
      : require.kind === 'not'
        ? { forbid: conditionOf(require.part, false) }
        : { require: conditionOf(require, true) }),
    ...(rule.level === undefined ? {} : { level: rule.level }),
    ...(message === '' ? {} : { message }),
  };
  const about = [
    ...rule.findings.map(aboutLine),
    ...(never ? ['Nothing meets this rule: what it asked for has no equal. Replace it.'] : []),
  ];
  const text = [...about.flatMap(comment), ...yamlOf([content]).trimEnd().split('\n')];
  return [text.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')];
}

function aboutLine({ line, text }: Finding): string {
  return `Line ${line}: ${text}`;
}

/** "Not this, or that" reads better as "when this, require that". */
function whenAndRequire(rule: TranslatedRule): { readonly when: Settled; readonly require: Settled } {
  const when = settle(rule.when ?? ALWAYS, false);
  const require = settle(rule.require, true);
  const unless = require.kind === 'any' ? require.parts.find((part) => part.kind === 'not') : undefined;
  if (require.kind !== 'any' || unless === undefined) {
    return { when, require };
  }
  return {
    when: settle(all([when, not(unless)]), false),
    require: settle(any(require.parts.filter((part) => part !== unless)), true),
  };
}

function isConstant(formula: Settled, holds: boolean): boolean {
  return formula.kind === 'constant' && formula.holds === holds;
}

/** Letters and digits of a name, once in a policy. */
function idOf(name: string, used: Set<string>): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, MAX_SLUG)
    .replace(/-$/, '');
  const base = slug === '' ? 'rule' : slug;
  let id = base;
  for (let number = 2; used.has(id); number += 1) {
    id = `${base}-${number}`;
  }
  used.add(id);
  return id;
}

function yamlOf(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_key, node) {
      if (isCollection(node) && isShort(node)) {
        node.flow = true;
      }
    },
  });
  return document.toString({ singleQuote: true, lineWidth: WIDTH, flowCollectionPadding: true });
}

function isShort(node: Node): boolean {
  const text = JSON.stringify(node.toJSON());
  // A rule itself is never in one line.
  return text.length <= MAX_INLINE && !text.includes('"id":');
}

/** Lines of at most WIDTH characters. The text has no line breaks. */
function comment(text: string): readonly string[] {
  const lines: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line !== '#' && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = '#  ';
    }
    line = `${line} ${word}`;
  }
  return [...lines, line];
}
