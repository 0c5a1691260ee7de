import { MAX_PREDICATES } from '../src/review/limits.ts';
import { type Dialect, malformed, type TranslatedRule, type Translation, unknownKey } from './dialect.ts';
import { type Finding, type Findings, inOrder, quoted } from './findings.ts';
import { ALWAYS, all, any, type Formula, NEVER, not } from './formula.ts';
import { disapprovalOf } from './policy-bot-disapproval.ts';
import { type ApprovalRule, approvalRuleOf } from './policy-bot-rule.ts';
import { at, type SourceNode, textOf } from './source.ts';

/** As policy-bot itself has it (policy/approval/parse.go). */
const MAX_DEPTH = 10;

const REMOTE_KEYS = ['remote', 'path', 'ref'];

/**
 * `.policy.yml` of policy-bot, by its README at v1.36.2.
 *
 * A rule is skipped, pending or approved. `or` is approved if one of its parts is; `and` and the list itself if one is
 * and none is pending. Skipped parts do not count, and a policy with nothing else is an error.
 */
export const translatePolicyBot: Dialect = (root, findings) => {
  const remote = at(root, 'remote');
  for (const [key, node] of root.entries()) {
    if (!(remote === undefined ? ['policy', 'approval_rules'] : REMOTE_KEYS).includes(key)) {
      unknownKey(key, node, findings);
    }
  }
  if (remote !== undefined) {
    const { rules, ...others } = translateRemote(root, remote, findings);
    const isAlone = root.entries().every(([key]) => REMOTE_KEYS.includes(key));
    return { ...others, rules: isAlone ? rules : [...rules, unreadRule('the file', findings)] };
  }
  const policy = at(root, 'policy');
  for (const [key, node] of policy?.entries() ?? []) {
    if (!['approval', 'disapproval'].includes(key)) {
      unknownKey(key, node, findings);
    }
  }
  const rules = rulesByName(at(root, 'approval_rules'), findings);
  // What is said of the whole file may concern every rule.
  const known = root.entries().every(([key]) => ['policy', 'approval_rules'].includes(key));
  const disapproval = at(policy, 'disapproval');
  return {
    rules: [
      ...(known ? [] : [unreadRule('the file', findings)]),
      ...approvalOf(at(policy, 'approval'), rules, findings),
      ...(disapproval === undefined ? [] : disapprovalOf(disapproval, findings)),
    ],
  };
};

/** A rule that nothing meets. */
function unreadRule(what: string, findings: Findings): TranslatedRule {
  return {
    name: 'not-translated',
    require: NEVER,
    message: `Something of ${what} is not translated, and may ask for more than these rules do.`,
    findings: findings.all(),
  };
}

function translateRemote(root: SourceNode, remote: SourceNode, findings: Findings): Translation {
  const [repository, ref, path] = [textOf(remote), textOf(at(root, 'ref')), at(root, 'path')];
  if (
    repository === undefined ||
    !/^[\w-][\w.-]{0,99}\/[\w-][\w.-]{0,99}$/.test(repository) ||
    repository.includes('..')
  ) {
    malformed(remote, 'a repository, as "owner/name"');
    return { rules: [unreadRule('the file', findings)] };
  }
  findings.kept(remote.line, `Translate the policy of ${quoted(repository)} too, to a .gatehouse.yml there.`);
  if (path !== undefined) {
    findings.kept(path.line, 'The file has a fixed path here: .gatehouse.yml.');
  }
  if (ref === undefined) {
    findings.lost(remote.line, 'Without `ref` it followed the default branch', 'Name a branch, a tag or a commit.');
    return { rules: [unreadRule('the remote policy', findings)] };
  }
  if (!/^[A-Za-z0-9_][A-Za-z0-9._/-]{0,199}$/.test(ref) || ref.includes('..')) {
    findings.lost(remote.line, `The ref ${quoted(ref)} cannot be named here`, 'Name a branch, a tag or a commit.');
    return { rules: [unreadRule('the remote policy', findings)] };
  }
  return { rules: [], extends: `${repository}@${ref}` };
}

function rulesByName(list: SourceNode | undefined, findings: Findings): ReadonlyMap<string, ApprovalRule> {
  const rules = new Map<string, ApprovalRule>();
  for (const node of list?.items() ?? []) {
    const name = textOf(at(node, 'name'));
    if (name === undefined) {
      findings.lost(node.line, 'A rule without a name is used by nothing', 'Remove it, or name it.');
      continue;
    }
    // The last one of a name counts (policy/policy.go).
    rules.set(name, approvalRuleOf(name, node, findings));
  }
  return rules;
}

/** A rule, or several of them with `and` or `or`. */
interface Part {
  readonly name: string;
  /** Whether it is not skipped. */
  readonly applies: Formula;
  readonly approved: Formula;
  /** Skipped, or approved. */
  readonly notPending: Formula;
  readonly findings: readonly Finding[];
  /** For one rule: what it asks for where it applies, and its description. */
  readonly rule?: ApprovalRule;
  /** For `and`: it is the same as its parts beside each other. */
  readonly parts?: readonly Part[];
}

function approvalOf(
  list: SourceNode | undefined,
  rules: ReadonlyMap<string, ApprovalRule>,
  findings: Findings,
): readonly TranslatedRule[] {
  const used: string[] = [];
  const top = (list?.items() ?? []).map((node) => partOf(node, rules, used, 0, findings));
  if (used.length > MAX_PREDICATES) {
    findings.lost(list?.line ?? 1, `It names more than ${MAX_PREDICATES} rules`, 'Make the policy shorter.');
    return [unreadRule('the policy', findings)];
  }
  for (const [name, { line }] of rules) {
    if (!used.includes(name)) {
      findings.kept(line, `The policy does not use the rule ${quoted(name)}: it is left out.`);
    }
  }
  const parts = top.flatMap((part) => flattened(part));
  const [only] = parts;
  if (only === undefined) {
    return [];
  }
  // A single part only has to be approved: then it is not skipped.
  if (parts.length === 1) {
    return [{ ...printed(only), require: only.approved }];
  }
  return [
    ...parts.map((part) => ({ ...printed(part), when: part.applies, require: part.rule?.requires ?? part.approved })),
    {
      name: 'some-rule-applies',
      require: any(parts.map(({ applies }) => applies)),
      message: 'No rule of the policy applies to this change.',
      findings: [],
    },
  ];
}

function flattened(part: Part): readonly Part[] {
  return part.parts === undefined ? [part] : part.parts.flatMap(flattened);
}

function printed({ name, rule, findings }: Part): Omit<TranslatedRule, 'require'> {
  const message = rule === undefined ? `Approved if: ${name}` : (rule.description ?? name);
  return { name, message, findings };
}

function partOf(
  node: SourceNode,
  rules: ReadonlyMap<string, ApprovalRule>,
  used: string[],
  depth: number,
  findings: Findings,
): Part {
  const wanted = textOf(node);
  if (wanted !== undefined) {
    used.push(wanted);
    const rule = rules.get(wanted);
    return rule === undefined ? unread(node, findings, `There is no rule ${quoted(wanted)}`) : partOfRule(rule);
  }
  const [entry, ...more] = node.entries();
  const [key, list] = entry ?? [];
  if (list === undefined || more.length > 0 || (key !== 'or' && key !== 'and')) {
    return unread(node, findings, 'It is neither the name of a rule, nor `or` or `and` alone');
  }
  if (depth >= MAX_DEPTH || list.items().length === 0) {
    return unread(list, findings, depth >= MAX_DEPTH ? 'It is nested too deep' : 'It has no list of rules');
  }
  const parts = list.items().map((item) => partOf(item, rules, used, depth + 1, findings));
  const applies = any(parts.map((part) => part.applies));
  const name = parts.map((part) => part.name).join(key === 'or' ? ' or ' : ' and ');
  const common = { name, applies, findings: inOrder(parts.flatMap((part) => part.findings)) };
  if (key === 'or') {
    const approved = any(parts.map((part) => part.approved));
    return { ...common, approved, notPending: any([not(applies), approved]) };
  }
  const notPending = all(parts.map((part) => part.notPending));
  return { ...common, parts, notPending, approved: all([applies, notPending]) };
}

function partOfRule(rule: ApprovalRule): Part {
  const { name, applies, requires, findings } = rule;
  return {
    ...{ name, applies, findings, rule },
    approved: all([applies, requires]),
    notPending: any([not(applies), requires]),
  };
}

/** policy-bot refuses such a file. Nothing approves it here. */
function unread(node: SourceNode, findings: Findings, why: string): Part {
  findings.lost(node.line, `${why}, so that policy-bot refuses the file`, 'Correct it first.');
  return { name: 'not translated', applies: ALWAYS, approved: NEVER, notPending: NEVER, findings: [] };
}
