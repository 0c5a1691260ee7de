import test from 'ava';
import { parse, stringify } from 'yaml';
import { type Kind, translateText } from '../../../translate/translate-text.ts';
import { DCO } from './dco.constructs.ts';
import type { Construct } from './judge.ts';
import { MERGEABLE } from './mergeable.constructs.ts';
import { POLICY_BOT } from './policy-bot.constructs.ts';

type Path = readonly (string | number)[];

/** Values that decide nothing, whatever they are. */
const FREE = [
  'message',
  'payload',
  'description',
  'body',
  'mediaType',
  'merge_method',
  'add',
  'days',
  'type',
  'key',
  'path',
  'summary',
];

const KINDS: readonly (readonly [Kind, readonly Construct[]])[] = [
  ['policy-bot', POLICY_BOT],
  ['mergeable', MERGEABLE],
  ['dco', DCO],
];

function pathsIn(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) {
    return [path];
  }
  return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
  if (key === undefined) {
    return by;
  }
  if (Array.isArray(value)) {
    return value.map((inner, index) => (String(index) === key ? replaced(inner, rest, by) : inner));
  }
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([name, inner]) => [name, name === key ? replaced(inner, rest, by) : inner]),
  );
}

for (const [kind, constructs] of KINDS) {
  for (const wrong of [{ zzz: { zzz: 1 } }, [[[1]]], 1.5]) {
    test(`${kind}: ${JSON.stringify(wrong)} in the place of any value is reported`, (t) => {
      const silent: string[] = [];
      // What a merge key brings in may be replaced, and is then not looked at.
      for (const { source } of constructs.filter((one) => !one.source.includes('<<'))) {
        const value: unknown = parse(source);
        for (const path of pathsIn(value)) {
          const text = stringify(replaced(value, path, wrong));
          const result = translateText(kind, text, 'source.yml');
          const told = !result.ok || result.findings.some((finding) => finding.kind === 'lost');
          const isNameOfRecipe = path.length === 3 && path[2] === 'name' && path[0] === 'mergeable';
          if (!told && !isNameOfRecipe && !path.some((key) => FREE.includes(String(key)))) {
            silent.push(`${path.join('.')}\n${text}`);
          }
        }
      }
      t.deepEqual(silent.slice(0, 12), [], `${silent.length}`);
    });
  }
}
