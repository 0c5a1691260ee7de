import * as z from 'zod';
import { type Authors, authorsOf } from '../../facts/authors/authors.ts';
import { type IsMachine, machinesAmong } from '../../facts/authors/machines.ts';
import { compileName } from '../../facts/authors/names.ts';
import type { Facts } from '../../facts/table.ts';
import { neededMembers } from '../../facts/teams.ts';
import { GHOST } from '../../forges/port/accounts.ts';
import type { Conversation } from '../../forges/port/conversations.ts';
import { count, joinTexts, quotedList, say, type Text } from '../text.ts';
import { definePredicate, type Outcome, type PredicateResult } from './predicate.ts';
import { couldNotRead, isMember, unreadableTeams } from './team-members.ts';
import { peopleOrTeams, splitTeams } from './values.ts';
import { isWriter, permissionAwaited, permissionUnknown } from './write-access.ts';

const SHOWN = 5;
const MAX_UNRESOLVED = 1_000;
/** Names in `from` that stand for all accounts of a kind. */
const BOTS = 'bots';
const HUMANS = 'humans';

const schema = z
  .strictObject(
    {
      unresolved: z
        .int({ error: 'a whole number' })
        .min(0, { error: 'a whole number from 0' })
        .max(MAX_UNRESOLVED, { error: `a whole number up to ${MAX_UNRESOLVED}` })
        .optional()
        .describe('How many conversations may be unresolved; 0 when left out.'),
      from: peopleOrTeams
        .refine((names) => !names.includes('CODEOWNERS'), { error: 'a login or a team, not CODEOWNERS' })
        .optional()
        .describe(
          'Who began the conversations that count: logins (* for any characters), teams (@organisation/team), bots, humans. Default: anyone.',
        ),
      outdated: z
        .enum(['count', 'ignore'], { error: 'count or ignore' })
        .optional()
        .describe('ignore: conversations about lines that have changed since do not count. Left out: they do.'),
      resolved_by: z
        .literal('others', { error: 'others' })
        .optional()
        .describe(
          'others: a conversation counts as resolved only if the person who began it has resolved it, or a person with write access who did not make the change. Where others have written in one that a machine or someone who made the change began, its beginner does not count.',
        ),
    },
    { error: 'a mapping with `unresolved`, `from`, `outdated` and `resolved_by`' },
  )
  .transform(({ unresolved = 0, from, outdated = 'count', resolved_by }) => ({
    unresolved,
    from,
    ignoresOutdated: outdated === 'ignore',
    byOthers: resolved_by === 'others',
  }));
type Wanted = z.output<typeof schema>;

export const threads = definePredicate({
  description:
    'Conversations at lines and files of the change that are not resolved: at most `unresolved` of them, 0 when left out. Gatehouse’s own comments do not count.',
  actor: 'others',
  schema,
  needs: ({ from, byOthers }) => ({
    conversations: [],
    ...neededMembers('conversations', splitTeams(from ?? []).teams),
    ...(byOthers ? { commits: ['authors'], writers: ['resolvers'] } : {}),
  }),
  judge(wanted, _options, facts) {
    const { conversations: listed, complete } = facts.conversations;
    const isUnresolved = unresolvedIn(wanted, facts, (login) => isWriter(login, facts));
    const isUnresolvedUnlessWriter = unresolvedIn(wanted, facts, () => false);
    const answers = listed.map((conversation) => ({ conversation, is: isUnresolved(conversation) }));
    const certain = answers.flatMap(({ conversation, is }) => (is === true ? [conversation] : []));
    const unsure = answers.flatMap(({ conversation, is }) => (is === undefined ? [conversation] : []));
    const left = certain.length - wanted.unresolved;
    // Those of which only this is not known: whether whoever resolved them may write.
    const hidden = unsure.filter((conversation) => isUnresolvedUnlessWriter(conversation) !== undefined);
    const resolvers = [...new Set(hidden.flatMap(({ resolvedBy }) => resolvedBy ?? []))];
    const outcome = outcomeOf(wanted, certain.length, unsure.length, complete);
    const isAwaited = outcome === 'undecided' && complete && hidden.length === unsure.length;
    const teams =
      hidden.length === unsure.length ? [] : unreadableTeams(splitTeams(wanted.from ?? []).teams, facts.teams);
    return {
      // Whoever operates Gatehouse can let it see who may write.
      outcome: isAwaited ? 'awaited' : outcome,
      // Its author can resolve every conversation of a pull request.
      actor: wanted.byOthers ? 'others' : 'author',
      expected: expectedOf(wanted),
      found: say`${foundOf(certain, unsure, complete)}${couldNotRead(outcome, teams)}${permissionUnknown(resolvers, facts)}`,
      ...(left > 0
        ? { awaited: say`${count(left, 'conversation')}${begunBy(wanted)} to be resolved by others` }
        : isAwaited
          ? { awaited: permissionAwaited(resolvers, facts) }
          : {}),
      remedy: remedyOf(wanted),
    };
  },
});

function outcomeOf({ unresolved }: Wanted, certain: number, unsure: number, complete: boolean): Outcome {
  if (certain > unresolved) {
    return 'unmatched';
  }
  return !complete || certain + unsure > unresolved ? 'undecided' : 'matched';
}

/** Whether a conversation is one of those wanted and not resolved; undefined where that is not known. */
function unresolvedIn(
  wanted: Wanted,
  facts: Facts,
  mayWrite: (login: string) => boolean | undefined,
): (conversation: Conversation) => boolean | undefined {
  const isMachine = machinesAmong(facts.people.machineAccounts);
  const isFrom = wantedStarters(wanted, isMachine, facts);
  const authors = authorsOf(facts.commits, facts.people);
  return (conversation) => {
    const counts = wanted.ignoresOutdated ? COUNTS[conversation.outdated] : true;
    const open =
      conversation.resolved === 'unknown'
        ? undefined
        : conversation.resolved === 'no' ||
          (wanted.byOthers && isOpenForOthers(conversation, { facts, authors, isMachine, mayWrite }));
    return every([isFrom(conversation), counts, open]);
  };
}

/** By whether the lines that it is about have changed, where those that have do not count. */
const COUNTS = { yes: false, no: true, unknown: undefined } as const;

/** False where one is false, else undefined where one is. */
function every(answers: readonly (boolean | undefined)[]): boolean | undefined {
  return answers.includes(false) ? false : answers.includes(undefined) ? undefined : true;
}

function wantedStarters(
  { from }: Wanted,
  isMachine: IsMachine,
  { teams }: Facts,
): (conversation: Conversation) => boolean | undefined {
  if (from === undefined) {
    return () => true;
  }
  const group = splitTeams(from);
  const names = group.people.filter((name) => name !== BOTS && name !== HUMANS).map(compileName);
  return ({ author, bot }) => {
    const login = author.toLowerCase();
    const isOfKind = from.includes(isMachine({ login, bot }) ? BOTS : HUMANS);
    return (
      isOfKind ||
      names.some((name) => name.matches(login)) ||
      // It may have been a bot, or somebody of a team.
      (login === GHOST ? undefined : isMember(login, { people: [], teams: group.teams }, teams))
    );
  };
}

interface People {
  readonly facts: Facts;
  readonly authors: Authors;
  readonly isMachine: IsMachine;
  readonly mayWrite: (login: string) => boolean | undefined;
}

/**
 * Whether it does not count that a conversation is resolved, because of who resolved it; undefined: not known. Whoever
 * made the change may begin one and resolve it, but not over what somebody else has said in it. Nor may a machine.
 */
function isOpenForOthers(
  { author, bot, resolvedBy, answeredBy }: Conversation,
  { facts, authors: { byLogin, complete }, isMachine, mayWrite }: People,
): boolean | undefined {
  const login = resolvedBy?.toLowerCase();
  if (login === undefined || login === GHOST) {
    return undefined;
  }
  const isMaker = (one: string) => one === facts.pullRequest.author.toLowerCase() || byLogin.has(one);
  const began = login === author.toLowerCase();
  const isProgram = isMachine({ login, bot: began && bot });
  // Whoever has resolved it could have made a commit that was not read.
  const isMade = isMaker(login) || isProgram || (complete ? false : undefined);
  if (!began && isMade === false) {
    const writes = mayWrite(login);
    return writes === undefined ? undefined : !writes;
  }
  if (!began || isMade === false) {
    return isMade;
  }
  const others = answeredBy
    ?.map((one) => one.toLowerCase())
    .filter((one) => one !== login && !isMachine({ login: one, bot: one.endsWith('[bot]') }))
    .filter((one) => !isProgram || !isMaker(one));
  if (others?.length === 0) {
    return false;
  }
  return others === undefined ? undefined : isMade;
}

function expectedOf(wanted: Wanted): Text {
  const { unresolved, ignoresOutdated, byOthers } = wanted;
  const most =
    unresolved === 0 ? say`no unresolved conversation` : say`at most ${count(unresolved, 'unresolved conversation')}`;
  const which = ignoresOutdated ? say` about lines that are still there` : [];
  return say`${most}${begunBy(wanted)}${which}${byOthers ? say`, resolved by someone other than the author` : []}`;
}

function begunBy({ from }: Wanted): Text {
  if (from === undefined) {
    return [];
  }
  const kinds = [from.includes(BOTS) ? ['bots'] : [], from.includes(HUMANS) ? ['people'] : []];
  return say` begun by ${joinTexts([quotedList(from.filter((name) => name !== BOTS && name !== HUMANS)), ...kinds], ' or ')}`;
}

function foundOf(certain: readonly Conversation[], unsure: readonly Conversation[], complete: boolean): Text {
  const named = (list: readonly Conversation[]) =>
    quotedList(
      list.map(({ author, path, line }) => `${author}: ${path}${line === null ? '' : `:${line}`}`),
      SHOWN,
    );
  return [
    ...(certain.length === 0
      ? say`no unresolved conversation that counts`
      : say`${count(certain.length, 'unresolved conversation')}, ${named(certain)}`),
    ...(unsure.length === 0
      ? []
      : say`; of ${named(unsure)} the forge does not tell whether they count, or are resolved`),
    ...(complete ? [] : say`; not all conversations could be read`),
  ];
}

function remedyOf({ byOthers, unresolved }: Wanted): PredicateResult['remedy'] {
  return {
    toMatch: byOthers
      ? say`Reply in the conversations, and ask those who began them to resolve them.`
      : say`Reply in the conversations, and resolve them.`,
    toAvoid: say`This rule requires more than ${count(unresolved, 'unresolved conversation')}.`,
  };
}
