import { fewAtOnce } from '../common/few-at-once.ts';
import { FORGES } from '../forges/port/forges.ts';
import type { WriteAccess } from '../forges/port/pull-request.ts';
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

/** People whose permission matters; a login of whom to ask again. */
type Part = 'approvers' | 'objectors' | 'resolvers' | (string & {});

/**
 * People of whom the forge is asked in one review: a request each on GitHub, where it does not tell by itself. Those
 * beyond are unknown.
 */
const MAX_ASKED_WRITERS = 100;

const UNREAD: Writers = { answers: new Map() };

/**
 * Who may write to the repository now. A review keeps its words when its author loses access, and forges send no
 * webhook of that: the resync asks again.
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
    const answers = await answersFor(writeAccess, people);
    const unknown = [...answers.values()].includes('unknown');
    return { answers, programs, ...(unknown && { advice: FORGES[forge.name].advice.showPermissions }) };
  },
  change: {
    noticedBy: 'digest',
    plain: (value) => askedAgain(value).sort(([one], [other]) => (one < other ? -1 : 1)),
    askAgain: (value) => askedAgain(value).map(([login]) => login),
    async readAgain({ forge, repository, once, told }, logins) {
      const access = await once(repository, async () => forge.writeAccess(repository));
      const known = new Map(logins.map((login) => [login, told?.get(login) ?? 'unknown'] as const));
      return { answers: await answersFor(access, known) };
    },
  },
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
    }),
  },
});

/** The very people. Those first who may write: a success may stand on them. */
function askedAgain({ answers }: Writers) {
  const people = [...answers].sort(([, one], [, other]) => Number(other === 'yes') - Number(one === 'yes'));
  return people.slice(0, MAX_ASKED_WRITERS);
}

/** Whether somebody may write, as far as it was asked. */
export function mayWrite({ answers, programs }: Writers, login: string): YesNo {
  const key = login.toLowerCase();
  return programs?.has(key) ? 'no' : (answers.get(key) ?? 'unknown');
}

/** `told`: what is known of each already. */
export async function answersFor(
  access: WriteAccess,
  told: ReadonlyMap<string, YesNo>,
): Promise<ReadonlyMap<string, YesNo>> {
  const asked = [...told].filter(([, answer]) => answer === 'unknown').slice(0, MAX_ASKED_WRITERS);
  const answers = new Map(await fewAtOnce(asked, async ([login]) => [login, await access(login)] as const));
  return new Map([...told].map(([login, answer]) => [login, answers.get(login) ?? answer]));
}

/**
 * With what came with their reviews. First those whose objection would end a success, then those whose approval may be
 * one.
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
  const given = roles.includes('objectors') || roles.includes('approvers') ? (await of(reviews)).reviews : [];
  const states = { objectors: 'changes-requested', approvers: 'approved' } as const;
  for (const role of ['objectors', 'approvers'] as const) {
    const inRole = roles.includes(role) ? given.filter(({ state }) => state === states[role]) : [];
    for (const { author, mayWrite, bot } of likelyWritersFirst(inRole)) {
      if (bot) {
        programs.add(author.toLowerCase());
      } else {
        add(author, mayWrite);
      }
    }
  }
  if (roles.includes('resolvers')) {
    for (const { resolvedBy } of (await of(conversations)).conversations) {
      if (resolvedBy !== null) {
        add(resolvedBy, 'unknown');
      }
    }
  }
  return { people, programs };
}
