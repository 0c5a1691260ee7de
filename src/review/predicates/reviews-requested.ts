import { requestedReviews } from '../../facts/requested-reviews.ts';
import type { Facts } from '../../facts/table.ts';
import { neededMembers } from '../../facts/teams.ts';
import { either, quotedList, say, type Text, unreadText } from '../text.ts';
import { anybodyOrFrom } from './anybody-or-from.ts';
import { definePredicate } from './predicate.ts';
import { couldNotRead, type Group, includesTeam, isMember, unreadableTeams } from './team-members.ts';
import { type WithdrawnRequest, withdrawnRequests } from './withdrawn-requests.ts';

export const reviewsRequested = definePredicate({
  description:
    'A review is requested and has not been given: true for a review by anyone, or `from` for some people and teams.',
  actor: 'others',
  schema: anybodyOrFrom,
  optionsWhereRequired: { required: true },
  needs: (from) => ({
    requestedReviews: [],
    commits: ['authors'],
    merges: ['clean'],
    changedFiles: [],
    codeOwners: [],
    ...neededMembers('requested', from?.teams ?? []),
  }),
  judge(from, { required }, facts) {
    const requested = facts.requestedReviews;
    const isWanted = wantedIn(from, facts.teams);
    // A rule that asks for a request asks for one that is there.
    const withdrawn = required ? [] : withdrawnRequests(facts).filter(({ reviewer }) => isWanted(reviewer) !== false);
    const asked = [...(requested?.people ?? []), ...(requested?.teams ?? [])];
    const certain = [
      ...asked.filter((reviewer) => isWanted(reviewer) === true),
      ...withdrawn.flatMap(({ reviewer, stands }) => (stands && isWanted(reviewer) ? [reviewer] : [])),
    ].map(shown);
    const unknown = [
      ...asked.filter((reviewer) => isWanted(reviewer) === undefined),
      ...withdrawn.map(({ reviewer }) => reviewer),
    ].map(shown);
    const undecided = requested === undefined || (certain.length === 0 && unknown.length > 0);
    const expected =
      from === undefined
        ? say`a review that is requested and not given`
        : say`a review by ${quotedList(from.names)} that is requested and not given`;
    return {
      outcome: undecided ? 'undecided' : certain.length > 0 ? 'matched' : 'unmatched',
      expected,
      found:
        requested === undefined
          ? unreadText(requestedReviews)
          : certain.length > 0
            ? say`reviews requested of ${quotedList(certain)}${stillCount(withdrawn)}`
            : unknown.length > 0
              ? say`a review requested of ${quotedList(unknown)}${whyUnknown(from, facts)}`
              : say`no such review`,
      ...(certain.length > 0 ? { awaited: say`a review by ${quotedList(certain)}` } : {}),
      remedy: {
        toMatch: from === undefined ? say`Request a review.` : say`Request a review from ${either(from.names)}.`,
        toAvoid:
          withdrawn.length === 0
            ? say`${quotedList(certain)} must review, or someone must withdraw the request.`
            : say`${quotedList(certain)} must review. If the review isn’t needed, someone who didn’t make the change must request it again and then withdraw the request.`,
      },
    };
  },
});

/** Whether a rule is about a person, or a team. Undefined where that depends on a team that could not be read. */
function wantedIn(from: Group | undefined, teams: Facts['teams']): (reviewer: string) => boolean | undefined {
  return (reviewer) => {
    if (from === undefined) {
      return true;
    }
    return isTeam(reviewer) ? includesTeam(from, reviewer) : isMember(reviewer, from, teams);
  };
}

function isTeam(reviewer: string): boolean {
  return reviewer.includes('/');
}

function shown(reviewer: string): string {
  return isTeam(reviewer) ? `@${reviewer}` : reviewer;
}

function stillCount(withdrawn: readonly WithdrawnRequest[]): Text {
  const by = [...new Set(withdrawn.flatMap((one) => (one.stands ? [one.by] : [])))];
  return by.length === 0 ? [] : say`; what ${quotedList(by)} withdrew still counts`;
}

function whyUnknown(from: Group | undefined, { teams }: Facts): Text {
  const unreadable = unreadableTeams(from?.teams ?? [], teams);
  return unreadable.length === 0
    ? say`; it is not known whether those who withdrew it made the change`
    : couldNotRead('undecided', unreadable);
}
