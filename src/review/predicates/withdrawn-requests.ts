import { authorsOf } from '../../facts/authors/authors.ts';
import { machinesAmong } from '../../facts/authors/machines.ts';
import type { Facts } from '../../facts/table.ts';
import { GHOST } from '../../forges/port/accounts.ts';
import type { ReviewerEvent } from '../../forges/port/pull-request.ts';
import { bareOwner, ownedFiles, readCodeOwners } from './code-owners.ts';

/** A request that was withdrawn by somebody who had no say in it. */
export interface WithdrawnRequest {
  /** A login, or `organisation/team`. */
  readonly reviewer: string;
  /** Login of who withdrew it last. */
  readonly by: string;
  /** Undefined where it is not known whether they made the change. */
  readonly stands: true | undefined;
}

/**
 * Forges let the author of a pull request withdraw the request of any review, an owner's too. Such a request stands
 * until the review is given. Whoever made the change, and a machine, can withdraw what they requested alone.
 */
export function withdrawnRequests(facts: Facts): readonly WithdrawnRequest[] {
  const history = facts.requestedReviews?.history ?? [];
  const hasNoSay = withoutSay(facts);
  const byReviewer = Map.groupBy(history, ({ reviewer }) => reviewer.toLowerCase());
  return [...byReviewer.values()].flatMap((events) => {
    const last = events.at(-1);
    const stands = last?.kind === 'withdrawn' && standsAfter(events, hasNoSay, facts);
    return last === undefined || stands === false ? [] : [{ reviewer: last.reviewer, by: last.by, stands }];
  });
}

type HasNoSay = (login: string) => boolean | undefined;

/** Whether the request of a review stands after all that happened to it, the last of which withdrew it. */
function standsAfter(events: readonly ReviewerEvent[], hasNoSay: HasNoSay, facts: Facts): boolean | undefined {
  const mayBeOwner = mayOwn(events[0]?.reviewer.toLowerCase() ?? '', facts);
  let requesters: string[] = [];
  let stands: boolean | undefined = false;
  for (const { kind, reviewer, by } of events) {
    const login = by.toLowerCase();
    // What CODEOWNERS requests is in the author's name.
    const mayBeOwners = mayBeOwner && login === facts.pullRequest.author.toLowerCase();
    const isOwn = requesters.length > 0 && requesters.every((one) => one === login) && !mayBeOwners;
    const mayWithdraw = login !== GHOST && (login === reviewer.toLowerCase() || isOwn);
    if (kind === 'requested') {
      requesters.push(login);
    } else {
      stands = kind === 'withdrawn' && !mayWithdraw && hasNoSay(login);
      requesters = stands === false ? [] : requesters;
    }
  }
  return stands;
}

/** Whether CODEOWNERS may have asked for this review, as far as is known without the members of teams. */
function mayOwn(reviewer: string, { codeOwners, changedFiles }: Facts): boolean {
  if (codeOwners.kind === 'absent') {
    return false;
  }
  const read = codeOwners.kind === 'file' ? readCodeOwners(codeOwners.text, codeOwners.dialect) : undefined;
  if (read?.kind !== 'read' || !changedFiles.complete) {
    return true;
  }
  const owned = [...ownedFiles(changedFiles.files, read).keys()];
  const isTeamAsked = reviewer.includes('/');
  return owned
    .flatMap(({ owners, invalid }) => [...owners, ...invalid])
    .some((owner) => bareOwner(owner) === reviewer || (!isTeamAsked && !isLogin(owner)));
}

function isLogin(owner: string): boolean {
  return /^@[^/@]+$/.test(owner);
}

function withoutSay({ pullRequest, commits, merges, people }: Facts): HasNoSay {
  const { byLogin, complete } = authorsOf(commits, people, merges.clean);
  const isMachine = machinesAmong(people.machineAccounts);
  return (login) =>
    login === pullRequest.author.toLowerCase() ||
    byLogin.has(login) ||
    isMachine({ login, bot: login.endsWith('[bot]') }) ||
    // They could have made a commit that was not read, and a deleted account can have been anybody's.
    (complete && login !== GHOST ? false : undefined);
}
