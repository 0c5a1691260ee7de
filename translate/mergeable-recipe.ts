import { malformed, unknownKey } from './dialect.ts';
import type { Findings } from './findings.ts';
import { at, type SourceNode, textOf } from './source.ts';

/** Whether a recipe is about pull requests. */
export function eventsOf(recipe: SourceNode, findings: Findings): boolean {
  const when = at(recipe, 'when');
  const events = textOf(when)?.split(/,\s*/) ?? [];
  if (when === undefined || events.length === 0) {
    malformed(when ?? recipe, 'a list of events, as `when`');
    return true;
  }
  const about = (prefix: string) => events.filter((event) => event.startsWith(prefix));
  const changes = about('pull_request.').length + about('pull_request_review.').length;
  for (const [prefix, what] of [
    ['issues.', 'issues'],
    ['issue_comment.', 'comments'],
    ['schedule.', 'a schedule'],
  ] as const) {
    if (about(prefix).length > 0) {
      findings.lost(when.line, `It was run for ${what}`, 'Only pull requests are judged, at each change of them.');
    }
  }
  if (changes > 0 && !events.includes('pull_request.*')) {
    findings.kept(when.line, 'It was run for some events. A rule is judged at each change of a pull request.');
  }
  // The others are of pull requests, too: a status or a check suite.
  return changes > 0 || about('status.').length + about('check_suite.').length > 0;
}

interface Actions {
  /** Whether it reports a check that fails. */
  readonly blocks: boolean;
  /** False where a check fails although all validators pass. */
  readonly known: boolean;
  /** What it comments if they do not pass. */
  readonly comment?: string;
}

const PASSING = ['success', 'neutral'];

/** What a recipe does, by docs/actions: `checks` unless there are others, and none of them is `checks`. */
export function actionsOf(recipe: SourceNode, findings: Findings): Actions {
  const results = ['pass', 'fail', 'error'].map((result) => ({ result, node: at(recipe, result) }));
  const actions = results.flatMap(({ result, node }) =>
    (node?.items() ?? []).map((action) => ({ result, action, name: textOf(at(action, 'do')) })),
  );
  for (const { result, action, name } of actions) {
    if (name !== 'checks' && !(name === 'comment' && result !== 'pass')) {
      lostAction(name, action, findings);
    }
  }
  const checks = actions.filter(({ name }) => name === 'checks');
  for (const { action } of checks) {
    const status = at(action, 'status');
    if (status !== undefined && textOf(status) === undefined) {
      status.wrong('the status of a check');
    }
  }
  const statusOf = (result: string) =>
    textOf(at(checks.find((check) => check.result === result)?.action, 'status')) ??
    (result === 'pass' ? 'success' : 'failure');
  const reports = checks.length > 0 || results.every(({ node }) => node === undefined);
  const blocks = reports && !PASSING.includes(statusOf('fail'));
  if (!blocks) {
    findings.kept(recipe.line, 'Its check never failed, or there was none: the rules warn, and block nothing.');
  }
  const known = !reports || PASSING.includes(statusOf('pass'));
  if (!known) {
    findings.lost(recipe.line, 'Its check did not pass although all validators did', 'Write the rule by hand.');
  }
  const body = actions.find(({ result, name }) => result === 'fail' && name === 'comment')?.action;
  const comment = textOf(at(at(body, 'payload'), 'body'))?.trim();
  // A template, or a mention, would be shown as it stands.
  return { blocks, known, ...(comment && !/\{\{|@/.test(comment) ? { comment } : {}) };
}

const LOST_ACTIONS: Readonly<Record<string, string>> = {
  assign: 'assigned people',
  close: 'closed the pull request',
  comment: 'commented where all is well',
  labels: 'set labels',
  merge: 'merged the pull request',
  request_review: 'requested reviews',
};

function lostAction(name: string | undefined, action: SourceNode, findings: Findings): void {
  const did = name !== undefined && Object.hasOwn(LOST_ACTIONS, name) ? LOST_ACTIONS[name] : undefined;
  if (did === undefined) {
    unknownKey(name ?? 'do', action, findings);
    return;
  }
  const todo = name === 'merge' ? 'Use the auto-merge of the forge.' : 'Let a workflow of the forge do it.';
  findings.lost(action.line, `It ${did}`, `Gatehouse writes a status and comments of its own. ${todo}`);
}
