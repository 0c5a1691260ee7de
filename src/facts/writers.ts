import { fewAtOnce } from '../common/few-at-once.ts';
import { FORGES } from '../forges/port/forges.ts';
import type { PersonReview, WriteAccess } from '../forges/port/pull-request.ts';
import type { YesNo } from '../forges/port/yes-no.ts';
import { conversations, conversationsGiven, givenConversations } from './conversations.ts';
import { defineFact, NOTHING_MORE, type Reading } from './fact.ts';
import { givenReviews, likelyWritersFirst, reviews, reviewsGiven } from './reviews.ts';

/** Who may write to the repository, of those whom it was asked about. */
export interface Writers {
  /** By login in lower case. Nobody else was asked about: unknown. */
  readonly answers: ReadonlyMap<string, YesNo>;
  /** Logins in lower case of programs, which never may, whatever the forge says of them. */
  readonly programs?: ReadonlySet<string>;
  /** What would have to be done at the forge to know; undefined where nothing is unknown, or nothing helps. */
  readonly advice?: string;
}

/** People whose permission matters. */
type Part = 'approvers' | 'objectors' | 'resolvers';

const UNREAD: Writers = { answers: new Map() };

/**
 * Who may write to the repository now. A review keeps its words when its author loses access, and forges send no
 * webhook of that: it is asked again when it is the pull request's turn.
 */
export const writers = defineFact({
  name: 'writers',
  unread: UNREAD,
  unreadAs: 'permissions to write',
  unreadAfter: [],
  dependsOn: [reviews, conversations],
  async read(reading, roles: readonly Part[]) {
    const { forge, writeAccess } = reading;
    const { people, programs } = await peopleIn(roles, reading);
    const answers = await answersFor(writeAccess, people, FORGES[forge.name].maxAskedWriters);
    const unknown = [...answers.values()].includes('unknown');
    return { answers, programs, ...(unknown && { advice: FORGES[forge.name].advice.showPermissions }) };
  },
  change: 'unseen',
  forges: NOTHING_MORE,
  given: {
    shape: { ...givenReviews, ...givenConversations },
    of: (from) => ({
      answers: new Map([
        ...conversationsGiven(from).flatMap(({ resolvedBy }) =>
          resolvedBy === null ? [] : [[resolvedBy.toLowerCase(), 'yes'] as const],
        ),
        ...reviewsGiven(from).map(({ author, mayWrite }) => [author.toLowerCase(), mayWrite] as const),
      ]),
      programs: new Set(reviewsGiven(from).flatMap(({ author, bot }) => (bot ? [author.toLowerCase()] : []))),
    }),
  },
});

/** Whether somebody may write, as far as it was asked. */
export function mayWrite({ answers, programs }: Writers, login: string): YesNo {
  const key = login.toLowerCase();
  return programs?.has(key) ? 'no' : (answers.get(key) ?? 'unknown');
}

/** `told`: what is known of each already. Of the others, only the first `most` are asked about. */
export async function answersFor(
  access: WriteAccess,
  told: ReadonlyMap<string, YesNo>,
  most: number,
): Promise<ReadonlyMap<string, YesNo>> {
  const asked = [...told].filter(([, answer]) => answer === 'unknown').slice(0, most);
  const answers = new Map(await fewAtOnce(asked, async ([login]) => [login, await access(login)] as const));
  return new Map([...told].map(([login, answer]) => [login, answers.get(login) ?? answer]));
}

/**
 * With what came with their reviews. First those whose word can end a success, then those whose approval may be one:
 * anybody may approve, and must not crowd them out.
 */
async function peopleIn(roles: readonly string[], { of, pullRequest }: Reading<Writers>) {
  const people = new Map<string, YesNo>();
  const programs = new Set<string>();
  const add = (login: string, answer: YesNo) => {
    const key = login.toLowerCase();
    if (key !== pullRequest.author.toLowerCase() && (people.get(key) ?? 'unknown') === 'unknown') {
      people.set(key, answer);
    }
  };
  const addReviewers = async (wanted: PersonReview['state']) => {
    const given = (await of(reviews)).reviews.filter(({ state }) => state === wanted);
    for (const { author, mayWrite, bot } of likelyWritersFirst(given)) {
      if (bot) {
        programs.add(author.toLowerCase());
      } else {
        add(author, mayWrite);
      }
    }
  };
  if (roles.includes('objectors')) {
    await addReviewers('changes-requested');
  }
  if (roles.includes('resolvers')) {
    for (const { resolvedBy } of (await of(conversations)).conversations) {
      if (resolvedBy !== null) {
        add(resolvedBy, 'unknown');
      }
    }
  }
  if (roles.includes('approvers')) {
    await addReviewers('approved');
  }
  return { people, programs };
}
