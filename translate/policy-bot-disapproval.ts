import { ask, oneOrList, type TranslatedRule, unknownKey } from './dialect.ts';
import type { Findings } from './findings.ts';
import { any, between, type Formula, NEVER, not, UNKNOWN } from './formula.ts';
import { actorsOf } from './policy-bot-actors.ts';
import { predicatesOf } from './policy-bot-predicates.ts';
import { at, flagOf, type SourceNode, textsOf } from './source.ts';

/** The `disapproval` of a policy: its README, "Disapproval Policy". */
export function disapprovalOf(node: SourceNode, findings: Findings): readonly TranslatedRule[] {
  const { result, findings: found } = findings.during(() => {
    const others = node.entries().filter(([key]) => !['if', 'options', 'requires'].includes(key));
    for (const [key, inner] of others) {
      unknownKey(key, inner, findings);
    }
    const requires = at(node, 'requires');
    return {
      predicates: predicatesOf(at(node, 'if'), findings),
      people: requires === undefined ? undefined : disapprovedBy(requires, at(node, 'options'), findings),
      unknown: others.length > 0,
    };
  });
  const { predicates, people, unknown } = result;
  const rules: readonly (readonly [name: string, formula: Formula, message: string])[] = [
    ...(predicates.length === 0
      ? []
      : ([['disapproved-if', not(any(predicates)), 'The policy disapproves of such a change.']] as const)),
    ...(people === undefined
      ? []
      : ([['disapproved', not(people), 'Somebody who may disapprove requests changes.']] as const)),
    ...(unknown ? ([['disapproval', NEVER, 'A key of the disapproval is not known.']] as const) : []),
  ];
  return rules.map(([name, require, message]) => ({ name, require, message, findings: found }));
}

/** Whether somebody disapproves. Undefined where nobody may. */
function disapprovedBy(requires: SourceNode, options: SourceNode | undefined, findings: Findings): Formula | undefined {
  const actors = actorsOf(requires, findings);
  if (actors.empty && actors.complete) {
    return undefined;
  }
  const known = readMethods(requires, options, findings);
  const named = (): Formula => ask(requires, findings, 'changes_requested', { from: oneOrList(actors.names) });
  const anybody = (): Formula => ask(requires, findings, 'changes_requested', true);
  const everyone = !actors.complete || actors.permission !== undefined;
  if (everyone) {
    findings.lost(
      requires.line,
      'Some people could disapprove who have no equal here',
      'Whoever may write can now, and nobody else: name teams.',
    );
  }
  const asked = everyone
    ? actors.names.length === 0
      ? anybody()
      : any([anybody(), named()])
    : actors.names.length === 0
      ? NEVER
      : named();
  return known ? asked : between(asked, any([asked, UNKNOWN]));
}

/** Tells what else disapproves and revokes there. False where an option is not known. */
function readMethods(requires: SourceNode, options: SourceNode | undefined, findings: Findings): boolean {
  const methods = at(options, 'methods');
  const disapprove = at(methods, 'disapprove');
  const comments = ['comments', 'comment_patterns'].flatMap((key) => at(disapprove, key) ?? []);
  const byComment = comments.filter((list) => textsOf(list).length > 0);
  for (const method of [disapprove, at(methods, 'revoke')]) {
    flagOf(at(method, 'github_review'));
  }
  if (disapprove === undefined || byComment.length > 0) {
    findings.lost(
      byComment[0]?.line ?? requires.line,
      `A comment${disapprove === undefined ? ' (":-1:")' : ''} could disapprove`,
      'Here only a review that requests changes does. Tell those who used comments.',
    );
  }
  findings.kept(
    requires.line,
    'There, anybody of these could revoke a disapproval. Here it ends when the same person approves, or the review is dismissed.',
  );
  const unknown = [
    ...keysBut(options, ['methods']),
    ...keysBut(methods, ['disapprove', 'revoke']),
    ...keysBut(disapprove, ['comments', 'comment_patterns', 'github_review']),
  ];
  for (const [key, inner] of unknown) {
    unknownKey(key, inner, findings);
  }
  return unknown.length === 0;
}

function keysBut(node: SourceNode | undefined, keys: readonly string[]) {
  return node?.entries().filter(([key]) => !keys.includes(key)) ?? [];
}
