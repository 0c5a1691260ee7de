import { type StatusDescription, type StatusState, statusDescription } from '../../forges/port/postings.ts';
import { dryRun, NOTHING_REQUIRED } from '../../review/verdict.ts';
import type { HeadVerdict, PlaceRow } from '../tables/statuses.ts';

/** All that decides what a place shows. */
export interface PlaceState {
  /** Of the open pull requests that the status stands for. */
  readonly verdicts: readonly HeadVerdict[];
  /** Undefined: nobody has spoken there, as far as is known. */
  readonly row: PlaceRow | undefined;
}

/** What a place has to show. */
export interface WantedStatus {
  readonly state: StatusState;
  readonly description: StatusDescription;
  readonly targetUrl?: string;
  /** The base branch whose rules are those of this verdict, or of the one to come. Absent: it is no verdict. */
  readonly judgedBase?: string;
}

/** The worst first. */
const ORDER: readonly StatusState[] = ['failure', 'error', 'pending', 'success'];
const MAX_NAMED = 3;

const REVIEWING = 'Reviewing by the rules of this repository';
const LEFT = statusDescription('No open pull request has this commit for this branch any more');
const FULL = statusDescription('This commit has too many statuses to show a verdict: push a new commit');
const FULL_UNENFORCED = statusDescription(`Not enforced. ${FULL}`);

/**
 * What a commit should show under one name; undefined: whatever stands there. A commit has one status of a name, and
 * several pull requests can have that commit as their head: it shows the worst of their verdicts. Where rules are not
 * enforced, it is a success that says what it would be.
 *
 * `mayBeGreen`: whether a success may stand there now, whoever has set it. Where none does, nothing is shown that only
 * replaces one.
 */
export function wantedStatus(
  { verdicts, row }: PlaceState,
  mayBeGreen: boolean,
  enforce: boolean,
): WantedStatus | undefined {
  if (row?.takes === 'nothing') {
    return undefined;
  }
  const shown = worseOf(ofPullRequests(verdicts, row, mayBeGreen, enforce), ofGroup(row, enforce));
  if (shown === undefined && verdicts.length === 0 && row?.merged !== true && mayBeGreen) {
    return { state: 'pending', description: LEFT };
  }
  if (shown === undefined || row?.takes !== 'no success') {
    return shown;
  }
  // Always the same, so that it is posted once.
  const { targetUrl } = shown;
  return {
    ...(enforce ? { state: 'error', description: FULL } : { state: 'success', description: FULL_UNENFORCED }),
    ...(targetUrl !== undefined && { targetUrl }),
  };
}

function worseOf(one: WantedStatus | undefined, other: WantedStatus | undefined): WantedStatus | undefined {
  const isOther = one === undefined || (other && ORDER.indexOf(other.state) < ORDER.indexOf(one.state));
  return isOther ? other : one;
}

function ofGroup(row: PlaceRow | undefined, enforce: boolean): WantedStatus | undefined {
  if (row?.group == null) {
    return undefined;
  }
  const { state, description } = row.group;
  return enforce
    ? { state, description: statusDescription(description) }
    : { state: 'success', description: dryRun(description) };
}

interface Judged extends HeadVerdict {
  readonly state: StatusState;
}

function ofPullRequests(
  verdicts: readonly HeadVerdict[],
  row: PlaceRow | undefined,
  mayBeGreen: boolean,
  enforce: boolean,
): WantedStatus | undefined {
  const judged = verdicts.flatMap((verdict) => judgedIn(verdict, enforce)).toSorted(worstFirst);
  const [worst] = judged;
  if (worst === undefined) {
    return ofFree(verdicts, row, enforce);
  }
  if (!mayBeGreen && judged.every(({ verdict }) => verdict === null)) {
    return undefined;
  }
  const free = verdicts.find(({ verdict }) => verdict === 'none');
  if (enforce && worst.state === 'success' && free !== undefined) {
    // The name has no base branch: the other branch's success would let this one be merged unjudged.
    const said = `No policy judges #${free.number}, which has this commit too: close it, or give its branch one`;
    return { state: 'error', targetUrl: free.url, description: statusDescription(said) };
  }
  return {
    state: enforce ? worst.state : 'success',
    description: describe(judged, enforce ? worst.description : (worst.dryRun ?? dryRun(worst.description))),
    targetUrl: worst.url,
    ...((worst.isJudged || worst.verdict === null) && { judgedBase: worst.baseBranch }),
  };
}

/** A verdict that is still to come is pending. Without enforcement it would be a success before anything was judged. */
function judgedIn(verdict: HeadVerdict, enforce: boolean): readonly Judged[] {
  switch (verdict.verdict) {
    case 'none':
      return [];
    case null:
      return enforce ? [{ ...verdict, state: 'pending', description: REVIEWING, dryRun: null }] : [];
    default:
      return [{ ...verdict, state: verdict.verdict }];
  }
}

function worstFirst(left: Judged, right: Judged): number {
  return ORDER.indexOf(left.state) - ORDER.indexOf(right.state) || left.number - right.number;
}

/** Names the others that share the status. */
function describe(judged: readonly Judged[], said: string): StatusDescription {
  const [worst, ...others] = judged;
  if (worst === undefined || others.length === 0) {
    return statusDescription(said);
  }
  const named = others.slice(0, MAX_NAMED).map(({ number }) => `#${number}`);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const suffix = ` (${named.join(', ')}${more} ${others.length === 1 ? 'has' : 'have'} this commit too)`;
  return statusDescription(`#${worst.number}: ${said}`, suffix);
}

/**
 * No policy judges any of them. What a verdict has blocked is free when its policy is gone. Another branch's success, or
 * a failure to read, frees nobody: it says that nothing was judged, and does not let anything pass.
 */
function ofFree(
  verdicts: readonly HeadVerdict[],
  row: PlaceRow | undefined,
  enforce: boolean,
): WantedStatus | undefined {
  const [first] = verdicts;
  if (
    first === undefined ||
    verdicts.some(({ verdict }) => verdict !== 'none') ||
    row === undefined ||
    row.posting === 0
  ) {
    return undefined;
  }
  const freed = verdicts.find(({ baseBranch }) => baseBranch === row.judgedBase);
  if (freed !== undefined) {
    const isGreen = row.isKnown && row.state === 'success';
    return isGreen ? undefined : { state: 'success', targetUrl: freed.url, description: NOTHING_REQUIRED };
  }
  const said = statusDescription(`No policy judges #${first.number}`);
  return enforce ? { state: 'pending', targetUrl: first.url, description: said } : undefined;
}
