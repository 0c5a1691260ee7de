import { shorten } from '../common/shorten.ts';
import { type CommitStatus, MAX_STATUS_DESCRIPTION_LENGTH, type StatusState } from '../forges/port/postings.ts';
import { dryRun } from './evaluation/verdict.ts';

/** What is known of an open pull request whose head a status is on. */
export interface HeadVerdict {
  readonly number: number;
  /** Its page, or the comment there. */
  readonly url: string;
  /** `pending`: there is no verdict yet, or it waits for others. `none`: no policy asks anything of it. */
  readonly state: StatusState | 'none';
  readonly description: string;
  /** What the status says instead where rules are not enforced; null: not known. */
  readonly dryRun: string | null;
}

/** The worst first. */
const ORDER: readonly HeadVerdict['state'][] = ['failure', 'error', 'pending', 'success'];
const MAX_NAMED = 3;

/**
 * A commit has one status of a name, and several pull requests can have that commit as their head. The status shows the
 * worst of their verdicts, and names the others. Undefined when nothing asks anything of any of them. Where rules are not
 * enforced, it is a success that says what it would be.
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
  const state = enforce ? worst.state : 'success';
  const said = enforce ? worst.description : (worst.dryRun ?? dryRun(worst.description));
  if (others.length === 0) {
    return { state, targetUrl, description: said };
  }
  const named = others.slice(0, MAX_NAMED).map(({ number }) => `#${number}`);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const suffix = ` (${named.join(', ')}${more} ${others.length === 1 ? 'has' : 'have'} this commit too)`;
  const own = shorten(`#${worst.number}: ${said}`, MAX_STATUS_DESCRIPTION_LENGTH - suffix.length);
  return { state, targetUrl, description: `${own}${suffix}` };
}
