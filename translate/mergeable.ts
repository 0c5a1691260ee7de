import { type Dialect, malformed, type TranslatedRule, type Translation, unknownKey } from './dialect.ts';
import { type Findings, quoted } from './findings.ts';
import { ALWAYS, all, type Formula, UNKNOWN } from './formula.ts';
import { messagesOf } from './mergeable-options.ts';
import { actionsOf, eventsOf } from './mergeable-recipe.ts';
import { namedValidator, validatorOf } from './mergeable-validators.ts';
import { at, flagOf, isMapping, makeNode, type SourceNode, textOf } from './source.ts';

/**
 * `.github/mergeable.yml` of Mergeable, by the pages of its docs folder in June 2024. Each recipe is a check: if its
 * filters pass, all its validators must.
 */
export const translateMergeable: Dialect = (root, findings) => {
  const list = at(root, 'mergeable');
  const version = at(root, 'version')?.value;
  for (const [key, node] of root.entries()) {
    if (key !== 'version' && key !== 'mergeable') {
      findings.kept(node.line, `Mergeable does not read ${quoted(key)}: it is left out.`);
    }
  }
  if (
    list === undefined ||
    list.value === null ||
    ![undefined, 1, 2].includes(typeof version === 'number' ? version : undefined)
  ) {
    malformed(list ?? root, 'a file with `version: 2` and `mergeable`');
    return { rules: [] };
  }
  if (version !== 2) {
    return firstVersion(list, findings);
  }
  return { rules: list.items().flatMap((recipe) => recipeRules(recipe, findings)) };
};

const RECIPE_KEYS = ['when', 'name', 'filter', 'validate', 'pass', 'fail', 'error'];

function recipeRules(recipe: SourceNode, findings: Findings): readonly TranslatedRule[] {
  const others = recipe.entries().filter(([key]) => !RECIPE_KEYS.includes(key));
  for (const [key, node] of others) {
    unknownKey(key, node, findings);
  }
  const name = textOf(at(recipe, 'name'));
  if (!eventsOf(recipe, findings)) {
    return [];
  }
  const validate = at(recipe, 'validate');
  const actions = actionsOf(recipe, findings);
  const filters = at(recipe, 'filter');
  const filter = findings.during(() => filtersOf(filters, findings));
  const common = {
    when: filter.result,
    ...(actions.blocks ? {} : ({ level: 'warn' } as const)),
  };
  const rules = (validate?.items() ?? []).map((node): TranslatedRule => {
    const validator = findings.during(() => validatorOf(node, findings));
    return {
      ...common,
      name: [name ?? '', textOf(at(node, 'do')) ?? ''].join(' '),
      require: validator.result,
      ...messageOf(node, actions.comment),
      findings: [...filter.findings, ...validator.findings],
    };
  });
  const unknown = others.length > 0 || !Array.isArray(validate?.value) || !actions.known;
  if (!Array.isArray(validate?.value)) {
    malformed(validate ?? recipe, 'a list, as `validate`');
  }
  return unknown
    ? [...rules, { ...common, name: `${name ?? 'recipe'} not-translated`, require: UNKNOWN, findings: [] }]
    : rules;
}

function filtersOf(filters: SourceNode | undefined, findings: Findings): Formula {
  if (filters === undefined || filters.value === null) {
    return ALWAYS;
  }
  if (!Array.isArray(filters.value)) {
    return malformed(filters, 'a list');
  }
  if (filters.items().length > 0) {
    findings.kept(
      filters.line,
      'Where the filter does not match, Mergeable reports nothing, and a required check stays open. Here the rule does not apply.',
    );
  }
  return all(filters.items().map((node) => validatorOf(node, findings)));
}

function messageOf(node: SourceNode, comment: string | undefined): Pick<TranslatedRule, 'message'> {
  const own = messagesOf(node).join('\n');
  const message = own === '' ? comment : own;
  return message === undefined ? {} : { message };
}

/** Without `version: 2`: lib/configuration/transformers/v1Config.js. A validator by its name, in short or in full. */
function firstVersion(node: SourceNode, findings: Findings): Translation {
  const issues = at(node, 'issues');
  if (issues !== undefined) {
    findings.lost(issues.line, 'It checked issues', 'Only pull requests are judged. Leave it out.');
  }
  const settings = at(node, 'pull_requests') ?? (issues === undefined ? node : undefined);
  const excluded = (textOf(at(settings, 'exclude')) ?? '').split(',').map((name) => name.trim());
  const validators = settings?.entries().filter(([key]) => key !== 'exclude' && !excluded.includes(key)) ?? [];
  return {
    rules: validators.map(([name, inner]): TranslatedRule => {
      const { result, findings: found } = findings.during(() => firstVersionValidator(name, inner, findings));
      const message = messagesOf(inner).join('\n');
      return { name, require: result, ...(message === '' ? {} : { message }), findings: found };
    }),
  };
}

/** What a plain value means: `approvals: 1`, `title: wip`. */
const SHORT: Readonly<Record<string, (value: unknown) => unknown>> = {
  label: (value) => ({ must_exclude: { regex: value } }),
  title: (value) => ({ must_exclude: { regex: value } }),
  approvals: (value) => ({ min: { count: value } }),
};

function firstVersionValidator(name: string, node: SourceNode, findings: Findings): Formula {
  if (isMapping(node.value)) {
    const old = at(node, 'no-empty');
    const empty = old ?? at(node, 'no_empty');
    if (name !== 'description' || empty === undefined || (old === undefined && isMapping(empty.value))) {
      return namedValidator(name, node, findings);
    }
    // Then nothing else of it is read.
    const enabled = flagOf(isMapping(empty.value) ? at(empty, 'enabled') : empty);
    return namedValidator(name, plainNode({ no_empty: { enabled } }, node), findings);
  }
  const full = Object.hasOwn(SHORT, name) ? SHORT[name] : undefined;
  const value = full === undefined ? node.value : full(node.value);
  return namedValidator(name, plainNode(value, node), findings);
}

/** A value that stands nowhere in the file, and belongs to a line of it. */
function plainNode(value: unknown, node: SourceNode): SourceNode {
  const wrong = () => node.wrong('a value of this validator');
  return makeNode(value, node.line, wrong, (_key, inner) => plainNode(inner, node));
}
