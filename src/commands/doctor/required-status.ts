import { RE2JS } from 're2js';
import type { ForgeName } from '../../forges/port/forges.ts';
import type { BranchProtection } from '../../forges/port/inspection.ts';
import { isContextOf, sameContext, statusContext } from '../../forges/port/status-context.ts';
import { type Finding, ok, wrong } from './finding.ts';

const CHECK = 'required status';

export interface RequiredStatusOptions {
  readonly forge: ForgeName;
  readonly branch: string;
  /** STATUS_CONTEXT. */
  readonly template: string;
  /** The id of Gatehouse's own App; absent with a token. */
  readonly appId?: string;
}

/** Whether a merge into the branch waits for the status that Gatehouse sets. */
export function judgeRequiredStatus(
  { required, arePatterns }: BranchProtection,
  { forge, branch, template, appId }: RequiredStatusOptions,
): Finding {
  const name = statusContext(template, branch);
  const exact = required.filter(({ context }) => sameContext(forge, context, name));
  // Each that is required must be met, so one that never can be blocks every merge.
  const foreign = exact.find((status) => status.appId !== undefined && status.appId !== appId);
  if (foreign !== undefined) {
    const message = `${name} is required from the App ${foreign.appId}, which is not Gatehouse: it is never met`;
    return wrong(CHECK, message, 'choose Gatehouse’s App as its source, or any source');
  }
  if (exact.length > 0) {
    const isPinned = exact.some((status) => status.appId !== undefined);
    const advice = appId === undefined || isPinned ? '' : ', from any source: choose the App as its source';
    return ok(CHECK, `${name} is required on ${branch}${advice}`);
  }
  const rightName = `require ${name} instead`;
  const pattern = arePatterns ? required.find(({ context }) => covers(context, name)) : undefined;
  if (pattern !== undefined) {
    const message = `${branch} requires the pattern ${pattern.context}, which other statuses meet as well`;
    return wrong(CHECK, message, rightName);
  }
  const similar = required.find(({ context }) => isSimilar(context, template));
  if (similar !== undefined) {
    return wrong(CHECK, `${branch} requires ${similar.context}, but Gatehouse sets ${name}`, rightName);
  }
  const message = `${name} is not required on ${branch}: what Gatehouse says blocks no merge`;
  return wrong(CHECK, message, `require it in the protection of ${branch}: docs/guide-operator.md, Require the status`);
}

/** As a glob, where `*` stands for anything and `?` for one character. */
function covers(pattern: string, name: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  // Linear in time, whatever the pattern is.
  return RE2JS.matches(source, name);
}

/** Whether it is Gatehouse's status for another branch, or for no branch. */
function isSimilar(context: string, template: string): boolean {
  const [start = ''] = template.split('{base}');
  const stem = start.replace(/[^\p{L}\p{N}]+$/u, '').toLowerCase();
  return isContextOf(template, context) || (stem !== '' && context.toLowerCase().startsWith(stem));
}
