import { requestedReviews } from '../../facts/requested-reviews.ts';
import { neededMembers } from '../../facts/teams.ts';
import { quotedList, say, unreadText } from '../text.ts';
import { anybodyOrFrom } from './anybody-or-from.ts';
import { definePredicate } from './predicate.ts';
import { includesTeam, isMember, unreadableTeams } from './team-members.ts';

export const reviewsRequested = definePredicate({
  description:
    'A review is requested and has not been given: true for one of anybody, or `from` for some people and teams.',
  actor: 'others',
  schema: anybodyOrFrom,
  needs: (from) => ({ requestedReviews: [], ...neededMembers('requested', from?.teams ?? []) }),
  judge(from, _options, facts) {
    const requested = facts.requestedReviews;
    const isWanted = (login: string) => (from === undefined ? true : isMember(login, from, facts.teams));
    const people = requested?.people ?? [];
    const teams = (requested?.teams ?? []).filter((team) => from === undefined || includesTeam(from, team));
    const certain = [...people.filter((login) => isWanted(login) === true), ...teams.map((team) => `@${team}`)];
    const unknown = people.filter((login) => isWanted(login) === undefined);
    const undecided = requested === undefined || (certain.length === 0 && unknown.length > 0);
    const unreadable = unreadableTeams(from?.teams ?? [], facts.teams);
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
            ? say`reviews requested of ${quotedList(certain)}`
            : unknown.length > 0
              ? say`a review requested of ${quotedList(unknown)}; the members of ${quotedList(unreadable)} could not be read`
              : say`no such review`,
      ...(certain.length > 0 ? { awaited: say`a review by ${quotedList(certain)}` } : {}),
      remedy: {
        toMatch: from === undefined ? say`Request a review.` : say`Request a review of ${quotedList(from.names)}.`,
        toAvoid: say`Wait for the review of ${quotedList(certain)}, or withdraw the request.`,
      },
    };
  },
});
