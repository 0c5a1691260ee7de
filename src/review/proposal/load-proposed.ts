import type { Forge } from '../../forges/port/forge.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { type LoadedPolicy, loadPolicy, type ParsePolicy } from '../policy/load.ts';
import type { PolicyRole } from '../policy/parse.ts';

/**
 * Of a deleted fork the commits are still in the repository itself. What such a policy extends is not read: its author
 * does not belong to the owner whose other repositories it could then name, and quote from.
 */
export function loadProposed(
  forge: Forge,
  parse: ParsePolicy,
  { repository, head }: PullRequest,
  role: PolicyRole,
): Promise<LoadedPolicy> {
  return head.repository === null
    ? loadPolicy(forge, parse, repository, head.sha, { followExtends: false, role })
    : loadPolicy(forge, parse, head.repository, head.sha, { role, shownIn: repository });
}
