import type { ForgeName } from '../../forges/port/forges.ts';
import type { NeededFacts } from '../facts.ts';

/** Beyond these, what is still unread of a pull request is left unread. */
export const MAX_REQUESTS_EACH = 50;
/** For the list of merged pull requests, and for the policy. */
export const MAX_OTHER_REQUESTS = 60;

/** Requests for what a policy needs of one small pull request with two reviewers. */
const USUAL: Readonly<
  Record<ForgeName, Readonly<Partial<Record<keyof NeededFacts, number>>> & { readonly head: number }>
> = (() => {
  const gitea = {
    head: 1,
    changedFiles: 4,
    commits: 1,
    reviews: 1,
    requestedReviews: 1,
    triage: 1,
    repository: 1,
    lastChange: 6,
    checks: 1,
    conversations: 3,
    codeOwners: 3,
  };
  return {
    github: {
      ...gitea,
      head: 0,
      changedFiles: 1,
      reviews: 3,
      lastChange: 1,
      checks: 2,
      checkSuites: 1,
      signers: 1,
      conversations: 1,
    },
    gitea,
    forgejo: gitea,
  };
})();

export interface Cost {
  /** Never more. */
  readonly most: number;
  /** For each pull request, where none is large. */
  readonly usualEach: number;
}

/** Requests to the forge to judge so many merged pull requests. */
export function costOf(forge: ForgeName, needed: NeededFacts, count: number): Cost {
  const { head, ...parts } = USUAL[forge];
  const asked = Object.entries(parts).filter(([name]) =>
    Object.entries(needed).some(([key, is]) => key === name && is === true),
  );
  const sum = asked.reduce((total, [, requests]) => total + requests, 0);
  const needsHead = needed.changedFiles || needed.commits || needed.reviews || needed.checks || needed.conversations;
  const usualEach = sum + (needsHead ? head : 0);
  return { most: MAX_OTHER_REQUESTS + (usualEach === 0 ? 0 : count * MAX_REQUESTS_EACH), usualEach };
}
