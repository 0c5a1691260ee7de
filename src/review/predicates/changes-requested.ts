import { reviews } from '../../facts/reviews.ts';
import { neededMembers } from '../../facts/teams.ts';
import { count, quotedList, say, unreadText } from '../text.ts';
import { anybodyOrFrom } from './anybody-or-from.ts';
import { currentReviews } from './current-approvals.ts';
import { definePredicate } from './predicate.ts';
import { couldNotRead, isMember, unreadableTeams } from './team-members.ts';
import { isWriter, permissionAwaited, permissionUnknown } from './write-access.ts';

export const changesRequested = definePredicate({
  description:
    'Someone requests changes: true for anyone with write access, or `from` for some people and teams. The latest word of each person counts; a push does not end it.',
  actor: 'others',
  schema: anybodyOrFrom,
  needs: (from) => ({
    reviews: [],
    ...(from === undefined ? { writers: ['objectors'] } : {}),
    ...neededMembers('reviewers', from?.teams ?? []),
  }),
  judge(from, _options, facts) {
    const requests = currentReviews(facts.reviews.reviews, facts.pullRequest.author).filter(
      ({ state }) => state === 'changes-requested',
    );
    const counts = ({ author }: (typeof requests)[number]) =>
      from === undefined ? isWriter(author, facts) : isMember(author, from, facts.teams);
    const certain = requests.filter((request) => counts(request) === true).map(({ author }) => author);
    const unknown = requests.filter((request) => counts(request) === undefined).map(({ author }) => author);
    // Whoever operates Gatehouse can let it see who may write.
    const open = from === undefined && facts.reviews.complete ? 'awaited' : 'undecided';
    const undecided = !facts.reviews.complete || (certain.length === 0 && unknown.length > 0);
    const hidden = from === undefined ? unknown : [];
    const asked = certain.length > 0 ? certain : unknown;
    const unreadable = unknown.length === 0 ? [] : unreadableTeams(from?.teams ?? [], facts.teams);
    const whom = from === undefined ? say`someone with write access` : quotedList(from.names);
    const whose = say`a request for changes by ${whom}`;
    return {
      outcome: undecided ? open : certain.length > 0 ? 'matched' : 'unmatched',
      expected: whose,
      found: !facts.reviews.complete
        ? unreadText(reviews, ' in full')
        : certain.length > 0
          ? say`${count(certain.length, 'request')} for changes, by ${quotedList(certain)}${permissionUnknown(hidden, facts)}`
          : unknown.length > 0
            ? say`a request for changes by ${quotedList(unknown)}${couldNotRead('undecided', unreadable)}${permissionUnknown(hidden, facts)}`
            : say`no request for changes that counts`,
      ...(certain.length > 0
        ? { awaited: say`another review by ${quotedList(certain)}` }
        : hidden.length > 0
          ? { awaited: permissionAwaited(hidden, facts) }
          : {}),
      remedy: {
        toMatch: say`This rule needs ${whose}.`,
        toAvoid: say`Address the review, then ask ${asked.length > 0 ? quotedList(asked) : ['the reviewer']} to review again.`,
      },
    };
  },
});
