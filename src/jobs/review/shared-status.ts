import { type CommitStatus, statusDescription } from '../../forges/port/postings.ts';
import { dryRun } from '../../review/verdict.ts';
import type { HeadVerdict } from '../tables/reviews.ts';

/** The worst first. */
const ORDER: readonly HeadVerdict['state'][] = ['failure', 'error', 'pending', 'success'];
const MAX_NAMED = 3;

/**
 * A commit has one status of a name, and several pull requests can have that commit as their head. The status shows the
 * worst of their verdicts, and names the others. Undefined when nothing asks anything of any of them. Where rules are
 * not enforced, it is a success that says what it would be.
 */
export function sharedStatus(
  verdicts: readonly HeadVerdict[],
  enforce: boolean,
): Required<Pick<CommitStatus, 'state' | 'description' | 'targetUrl'>> | undefined {
  const judged = verdicts
    .filter(({ state }) => state !== 'none')
    .toSorted((left, right) => ORDER.indexOf(left.state) - ORDER.indexOf(right.state) || left.number - right.number);
  const [worst, ...others] = judged;
  if (worst === undefined || worst.state === 'none') {
    return undefined;
  }
  const { url: targetUrl } = worst;
  const free = verdicts.find(({ state }) => state === 'none');
  if (enforce && worst.state === 'success' && free !== undefined) {
    // The name has no base branch: the other branch's success would let this one be merged unjudged.
    const said = `No policy judges #${free.number}, which has this commit too: close it, or give its branch one`;
    return { state: 'error', targetUrl: free.url, description: statusDescription(said) };
  }
  const state = enforce ? worst.state : 'success';
  const said = enforce ? worst.description : (worst.dryRun ?? dryRun(worst.description));
  if (others.length === 0) {
    return { state, targetUrl, description: statusDescription(said) };
  }
  const named = others.slice(0, MAX_NAMED).map(({ number }) => `#${number}`);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const suffix = ` (${named.join(', ')}${more} ${others.length === 1 ? 'has' : 'have'} this commit too)`;
  return { state, targetUrl, description: statusDescription(`#${worst.number}: ${said}`, suffix) };
}
