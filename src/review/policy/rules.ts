import { isObject } from '../../common/is-object.ts';
import { MAX_CONDITION_DEPTH, MAX_PREDICATES, MAX_RULES } from '../limits.ts';
import { predicates } from '../predicates/index.ts';
import type { FaultCollector } from './faults.ts';
import { nearest } from './nearest.ts';
import { type Condition, LEVELS, type Level, type PolicyOrigin, type Rule } from './policy.ts';
import { optionOwners } from './schema.ts';
import type { PolicyYaml, YamlPath } from './yaml.ts';

/**
 * Builds the rules, and finds what a schema cannot say: that an id is given twice, that a rule asks for nothing, that a
 * condition is empty, that there are too many of them or too deep.
 *
 * `read` is what the schema made of it: the values of predicates are taken from there. It also runs over a policy whose
 * shape is wrong, without `read`, so that all faults are reported at once; the result is then discarded.
 */
export function readRules(
  yaml: PolicyYaml,
  read: unknown,
  origin: PolicyOrigin,
  faults: FaultCollector,
): readonly Omit<Rule, 'needs'>[] {
  const policy = asMapping(yaml.value);
  if (policy === undefined) {
    return [];
  }
  const list = policy['rules'];
  if (list === undefined && policy['extends'] === undefined) {
    faults.add(yaml.positionOf([]), {
      message: 'missing key "rules": expected a list of rules',
      expected: 'a list of rules',
    });
  }
  if (!Array.isArray(list)) {
    return [];
  }
  if (list.length > MAX_RULES) {
    return []; // the schema has said so; nothing is gained by reading them all
  }

  const seen = new Map<string, number>();
  const budget = { predicates: MAX_PREDICATES };
  return list.flatMap((entry: unknown, index) => {
    const path = ['rules', index];
    const rule = asMapping(entry);
    if (rule === undefined) {
      return [];
    }
    const readRule = inside(inside(read, 'rules'), index);
    const { id } = rule;
    if (typeof id === 'string') {
      const first = seen.get(id);
      if (first !== undefined) {
        faults.add(yaml.positionOf([...path, 'id']), {
          message: `the id "${id}" is already used by the rule on line ${first}`,
          expected: 'an id of its own',
          found: id,
        });
      } else {
        seen.set(id, yaml.lineOf(path));
      }
    }
    const misspelt = Object.keys(rule).some((key) => nearest(key, ['require', 'forbid']) !== undefined);
    if (rule['require'] === undefined && rule['forbid'] === undefined && !misspelt) {
      faults.add(yaml.positionOf(path), {
        message: 'the rule has neither "require" nor "forbid"',
        expected: 'require or forbid',
        found: Object.keys(rule).join(', '),
      });
    }
    const condition = (key: 'when' | 'require' | 'forbid'): Record<string, Condition> =>
      rule[key] === undefined
        ? {}
        : { [key]: readCondition(rule[key], inside(readRule, key), [...path, key], key === 'require', 0) };
    return [
      {
        id: typeof id === 'string' ? id : '',
        level: asLevel(rule['level']),
        ...(rule['locked'] === true ? { locked: true as const } : {}),
        ...(typeof rule['message'] === 'string' ? { message: rule['message'] } : {}),
        ...(typeof rule['example'] === 'string' ? { example: rule['example'] } : {}),
        ...condition('when'),
        ...condition('require'),
        ...condition('forbid'),
        source: { ...origin, line: yaml.lineOf(path) },
      },
    ];
  });

  /** `required`: whether a match is what the rule asks for, which `not` turns round. */
  function readCondition(value: unknown, read: unknown, path: YamlPath, required: boolean, depth: number): Condition {
    const line = yaml.lineOf(path);
    const nothing: Condition = { kind: 'all', line, parts: [] };
    const mapping = asMapping(value);
    if (mapping === undefined) {
      return nothing;
    }
    if (depth > MAX_CONDITION_DEPTH) {
      faults.add(yaml.positionOf(path), {
        message: `all, any and not are nested deeper than ${MAX_CONDITION_DEPTH} levels`,
        expected: `at most ${MAX_CONDITION_DEPTH} levels`,
      });
      return nothing;
    }
    const parts: Condition[] = [];
    for (const [key, inner] of Object.entries(mapping)) {
      const at = [...path, key];
      if (key === 'not') {
        parts.push({
          kind: 'not',
          line: yaml.lineOf(at),
          part: readCondition(inner, inside(read, key), at, !required, depth + 1),
        });
      } else if (key === 'all' || key === 'any') {
        parts.push(readList(key, inner, inside(read, key), at, required, depth + 1));
      } else if (predicates.has(key)) {
        parts.push(readPredicate(key, read, at, required));
      } else {
        checkOption(key, mapping, path);
      }
    }
    if (Object.keys(mapping).length === 0) {
      faults.add(yaml.positionOf(path), {
        message: 'the condition is empty',
        expected: 'at least one predicate',
        found: '{}',
      });
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { kind: 'all', line, parts };
  }

  function readList(
    kind: 'all' | 'any',
    value: unknown,
    read: unknown,
    path: YamlPath,
    required: boolean,
    depth: number,
  ): Condition {
    const entries: readonly unknown[] = Array.isArray(value) ? value : [];
    return {
      kind,
      line: yaml.lineOf(path),
      parts: entries.map((entry, index) =>
        readCondition(entry, inside(read, index), [...path, index], required, depth),
      ),
    };
  }

  function readPredicate(name: string, read: unknown, path: YamlPath, required: boolean): Condition {
    budget.predicates -= 1;
    if (budget.predicates === -1) {
      faults.add(yaml.positionOf(path), {
        message: `more than ${MAX_PREDICATES} predicates in one policy`,
        expected: `at most ${MAX_PREDICATES} predicates`,
      });
    }
    const options: Record<string, unknown> = required ? { ...predicates.get(name)?.optionsWhereRequired } : {};
    for (const [option, owners] of optionOwners) {
      const setting = inside(read, option);
      if (owners.includes(name) && setting !== undefined) {
        options[option] = setting;
      }
    }
    return { kind: 'predicate', line: yaml.lineOf(path), name, value: inside(read, name), options };
  }

  function checkOption(key: string, mapping: Readonly<Record<string, unknown>>, path: YamlPath): void {
    const owners = optionOwners.get(key);
    if (owners === undefined || owners.some((owner) => mapping[owner] !== undefined)) {
      return;
    }
    faults.add(yaml.keyPositionOf(path, key), {
      message: `"${key}" stands alone: expected ${owners.map((owner) => `"${owner}"`).join(' or ')} next to it`,
      expected: owners.join(' or '),
      found: key,
    });
  }
}

function asMapping(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined;
}

/** What is at a key of a mapping, or at an index of a list. */
function inside(outer: unknown, key: string | number): unknown {
  return typeof key === 'number' ? (Array.isArray(outer) ? outer[key] : undefined) : asMapping(outer)?.[key];
}

function asLevel(value: unknown): Level {
  return LEVELS.find((level) => level === value) ?? 'error';
}
