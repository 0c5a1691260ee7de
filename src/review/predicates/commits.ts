import * as z from 'zod';
import { shorten } from '../../common/shorten.ts';
import type { Facts } from '../../facts/table.ts';
import { neededMembers } from '../../facts/teams.ts';
import type { Commit } from '../../forges/port/pull-request.ts';
import { compilePatterns } from '../matching/pattern.ts';
import { count, either, joinTexts, patternList, quotedList, say, type Text } from '../text.ts';
import { type Comparison, compare, compared, comparison } from './comparison.ts';
import { definePredicate, type Outcome } from './predicate.ts';
import { couldNotRead, isMember, unreadableTeams } from './team-members.ts';
import { loginsOrTeams, patterns, splitTeams } from './values.ts';

const MAX_SUBJECT_SHOWN = 72;
const SHORT_SHA_LENGTH = 10;

/** An empty mapping would match everything. */
function hasAny(asked: Readonly<Record<string, unknown>>): boolean {
  return Object.values(asked).some((value) => value !== undefined);
}

function hasOne(asked: Readonly<Record<string, unknown>> = {}): boolean {
  return Object.values(asked).filter((value) => value !== undefined).length === 1;
}

const yesOrNo = z.boolean({ error: 'true or false' }).optional();
const traits = z
  .strictObject({
    message: patterns
      .optional()
      .describe('The message (subject and body) matches this RE2 regular expression, or one of a list.'),
    fixup: yesOrNo.describe('The subject begins with fixup!, squash! or amend!.'),
    merge: yesOrNo.describe('The commit has two or more parents.'),
    signed_off: yesOrNo.describe("The message has a Signed-off-by line with the commit author's e-mail address."),
    verified: yesOrNo.describe('The forge has verified the signature of the commit.'),
    signed_by: loginsOrTeams
      .optional()
      .describe(
        "The forge has verified the signature, and the key belongs to one of these accounts: logins, with case ignored, and teams (@organisation/team). The forge's own key belongs to no one.",
      ),
  })
  .refine(hasAny, { error: 'at least one of message, fixup, merge, signed_off, verified and signed_by' });
type Traits = z.output<typeof traits>;

interface Part {
  readonly outcome: Outcome;
  readonly expected: Text;
  readonly found: Text;
}

interface JudgedBy {
  readonly teams: Facts['teams'];
  /** Whether a match is what the rule asks for. */
  readonly required: true | undefined;
}

export const commits = definePredicate({
  description:
    'Looks at the commits of the pull request: with `some`, at least one has all these traits; with `every`, each of them has; with `newest` and `oldest`, that one has; `count` compares how many there are. `every` skips merge commits unless it names `merge`; where it names `signed_off`, only those that change no file themselves; where it names `verified` or `signed_by`, none.',
  actor: 'author',
  schema: z
    .strictObject(
      {
        some: traits.optional().describe('At least one commit has all of these traits.'),
        every: traits.optional().describe('Each commit has all of these traits.'),
        newest: traits.optional().describe('The newest commit, which is the head, has all of these traits.'),
        oldest: traits.optional().describe('The first commit of the branch has all of these traits.'),
        count: comparison.optional().describe("How many commits there are, merges too: '<= 5'."),
      },
      { error: 'a mapping with `some`, `every`, `newest`, `oldest` or `count`' },
    )
    .refine(hasAny, { error: 'at least one of `some`, `every`, `newest`, `oldest` and `count`' }),
  optionsWhereRequired: { required: true },
  needs({ some, every, newest, oldest }) {
    const asked = [some, every, newest, oldest].flatMap((wanted) => wanted ?? []);
    const signers = asked.flatMap(({ signed_by }) => signed_by ?? []);
    return {
      commits: [
        ...(asked.some(asksForSignature) ? (['signatures'] as const) : []),
        ...(signers.length > 0 ? (['signers'] as const) : []),
      ],
      ...neededMembers('signers', splitTeams(signers).teams),
      ...(every?.signed_off !== undefined && every.merge === undefined ? { merges: ['clean'] as const } : {}),
    };
  },
  judge({ some, every, newest, oldest, count: amount }, { required }, facts) {
    const { commits: all, complete } = facts.commits;
    const { teams, merges } = facts;
    const by: JudgedBy = { teams, required };
    const parts: Part[] = [];
    if (some !== undefined) {
      parts.push(judgeSome(some, all, complete, by));
    }
    const ofEvery = every && judgeEvery(every, all.filter(judgedBy(every, merges.clean)), complete, by);
    if (ofEvery !== undefined) {
      parts.push(ofEvery);
    }
    if (newest !== undefined) {
      parts.push(judgeOne('newest', newest, newestOf(all, facts.pullRequest.head.sha), by));
    }
    if (oldest !== undefined) {
      parts.push(judgeOne('oldest', oldest, complete ? oldestOf(all, facts.pullRequest.head.sha) : undefined, by));
    }
    if (amount !== undefined) {
      parts.push(judgeCount(amount, all, complete));
    }
    const outcomes = parts.map((part) => part.outcome);
    let outcome: Outcome = 'matched';
    if (outcomes.includes('undecided')) {
      outcome = 'undecided';
    }
    if (outcomes.includes('unmatched')) {
      outcome = 'unmatched';
    }
    const expectedOf = (among: readonly Part[]) =>
      joinTexts(
        among.map((part) => part.expected),
        ' and ',
      );
    const unmet = parts.filter((part) => part.outcome === 'unmatched');
    return {
      outcome,
      expected: expectedOf(parts),
      found: joinTexts(
        parts.map((part) => part.found),
        ' and ',
      ),
      remedy: {
        toMatch: rewrite(
          unmet.length === 1 && unmet[0] === ofEvery && hasOne(every) ? every : undefined,
          expectedOf(unmet),
          startOf(facts),
        ),
        toAvoid: say`Rewrite or squash these commits (${'git rebase --interactive'}), then push them again.`,
      },
    };
  },
});

function asksForSignature({ verified, signed_by }: Traits): boolean {
  return verified !== undefined || signed_by !== undefined;
}

/** The commit that a rebase begins after. A local base branch may be behind, and then others' commits are rewritten as well. */
function startOf({ commits: { commits: all, complete }, pullRequest }: Facts): string {
  const isLinear = complete && all.every(({ parents }) => parents.length < 2);
  const parent = isLinear ? oldestOf(all, pullRequest.head.sha)?.parents[0] : undefined;
  return parent?.slice(0, SHORT_SHA_LENGTH) ?? `origin/${pullRequest.base.branch}`;
}

/** `sole`: the one trait that is missing, and each commit has to have. */
function rewrite(sole: Traits | undefined, expected: Text, start: string): Text {
  if (sole?.signed_by !== undefined) {
    return say`Ask ${either(sole.signed_by)} to sign the commits with a key of their account (${`git rebase --no-ff --gpg-sign ${start}`}), then push them again (${'git push --force-with-lease'}).`;
  }
  if (sole?.verified === true) {
    return say`Sign the commits with a key that the forge knows (${`git rebase --no-ff --gpg-sign ${start}`}), then push them again (${'git push --force-with-lease'}).`;
  }
  return sole?.signed_off === true
    ? say`Sign the commits off (${`git rebase --signoff ${start}`}), then push them again (${'git push --force-with-lease'}).`
    : say`Rewrite the commits (${'git rebase --interactive'}) so that ${expected}, then push them again.`;
}

function judgeSome(wanted: Traits, all: readonly Commit[], complete: boolean, by: JudgedBy) {
  const has = hasTraits(wanted, by);
  const having = all.filter((commit) => has(commit) === true);
  const unknown = all.filter((commit) => has(commit) === undefined);
  const outcome: Outcome = having.length > 0 ? 'matched' : complete && unknown.length === 0 ? 'unmatched' : 'undecided';
  return {
    outcome,
    expected: say`at least one commit ${described(wanted)}`,
    found:
      having.length > 0
        ? listed(having)
        : say`none among ${read(all, complete)}${unverifiable(wanted, unknown, by.teams)}`,
  };
}

/**
 * Tools write the messages of merge commits, but a sign-off is for what a commit changes, by hand in a merge too.
 * Anybody can make a merge: it needs a signature.
 */
function judgedBy(wanted: Traits, cleanMerges: ReadonlySet<string>): (commit: Commit) => boolean {
  return ({ sha, parents }) =>
    wanted.merge !== undefined ||
    asksForSignature(wanted) ||
    parents.length < 2 ||
    (wanted.signed_off !== undefined && !cleanMerges.has(sha));
}

function judgeEvery(wanted: Traits, judged: readonly Commit[], complete: boolean, by: JudgedBy) {
  const has = hasTraits(wanted, by);
  const lacking = judged.filter((commit) => has(commit) === false);
  const unknown = judged.filter((commit) => has(commit) === undefined);
  const outcome: Outcome =
    lacking.length > 0 ? 'unmatched' : complete && unknown.length === 0 ? 'matched' : 'undecided';
  return {
    outcome,
    expected: say`every commit ${described(wanted)}`,
    found:
      lacking.length > 0
        ? say`${lacking.length === 1 ? ['1 commit doesn’t'] : [`${lacking.length} commits don’t`]} meet this: ${listed(lacking)}`
        : say`no other among ${read(judged, complete)}${unverifiable(wanted, unknown, by.teams)}`,
  };
}

/** `commit` is undefined where it could not be read. */
function judgeOne(which: 'newest' | 'oldest', wanted: Traits, commit: Commit | undefined, by: JudgedBy) {
  const has = commit && hasTraits(wanted, by)(commit);
  const outcome: Outcome = has === undefined ? 'undecided' : has ? 'matched' : 'unmatched';
  return {
    outcome,
    expected: say`${[`the ${which} commit`]} ${described(wanted)}`,
    found:
      commit === undefined
        ? say`${[`no ${which} commit`]} that could be read`
        : say`${listed([commit])}${unverifiable(wanted, has === undefined ? [commit] : [], by.teams)}`,
  };
}

/** Forges list commits in an order of their own: what counts is which one comes after which. */
function newestOf(all: readonly Commit[], headSha: string): Commit | undefined {
  const parents = new Set(all.flatMap((commit) => commit.parents));
  return all.find(({ sha }) => sha === headSha) ?? all.findLast(({ sha }) => !parents.has(sha));
}

/** Back along the branch itself: the first parent of a merge is what it was merged into. */
function oldestOf(all: readonly Commit[], headSha: string): Commit | undefined {
  const known = new Map(all.map((commit) => [commit.sha, commit]));
  let oldest = newestOf(all, headSha);
  for (;;) {
    const before = known.get(oldest?.parents[0] ?? '');
    if (before === undefined || !known.delete(before.sha)) {
      return oldest;
    }
    oldest = before;
  }
}

function judgeCount(wanted: Comparison, all: readonly Commit[], complete: boolean) {
  return {
    outcome: compare(wanted, all.length, complete),
    expected: say`there ${[wanted.limit === 1 ? 'is' : 'are']} ${compared(wanted)} ${[wanted.limit === 1 ? 'commit' : 'commits']}`,
    found: read(all, complete),
  };
}

/** Undefined where a signature decides, and the forge did not say whether it is good, or whose. */
function hasTraits(wanted: Traits, { teams, required }: JudgedBy): (commit: Commit) => boolean | undefined {
  const isWanted = wanted.message && compilePatterns(wanted.message, { required });
  return (commit) => {
    const message = commit.message.replaceAll('\r\n', '\n');
    if (wanted.fixup !== undefined && /^(?:fixup|squash|amend)! /.test(message) !== wanted.fixup) {
      return false;
    }
    if (wanted.merge !== undefined && commit.parents.length > 1 !== wanted.merge) {
      return false;
    }
    if (wanted.signed_off !== undefined && isSignedOff(commit, message) !== wanted.signed_off) {
      return false;
    }
    if (isWanted?.(commit.message) === false) {
      return false;
    }
    const answers = [isVerified(commit, wanted.verified), isSignedBy(commit, wanted.signed_by, teams)];
    return answers.includes(false) ? false : answers.includes(undefined) ? undefined : true;
  };
}

function isVerified({ verified }: Commit, wanted: boolean | undefined): boolean | undefined {
  if (wanted === undefined) {
    return true;
  }
  return verified === 'unknown' ? undefined : verified === (wanted ? 'yes' : 'no');
}

/** Only the account that the forge names counts: who makes a key writes the name and the e-mail address in it. */
function isSignedBy(
  { verified, signer }: Commit,
  wanted: readonly string[] | undefined,
  teams: Facts['teams'],
): boolean | undefined {
  if (wanted === undefined) {
    return true;
  }
  if (verified === 'no' || signer === null) {
    return false;
  }
  return verified === 'unknown' || signer === undefined ? undefined : isMember(signer, splitTeams(wanted), teams);
}

/** As the Developer Certificate of Origin is checked: somebody else's sign-off is not the author's. */
function isSignedOff(commit: Commit, message: string): boolean {
  const address = commit.author.email.toLowerCase();
  return message.split('\n').some((line) => {
    const trailer = /^signed-off-by: [^<>]*<([^<>]+)>[ \t]*$/i.exec(line);
    return trailer?.[1]?.toLowerCase() === address;
  });
}

function described(wanted: Traits): Text {
  const phrases: Text[] = [];
  if (wanted.message !== undefined) {
    phrases.push(say`has a message that matches ${patternList(wanted.message)}`);
  }
  if (wanted.fixup !== undefined) {
    phrases.push([`is ${wanted.fixup ? '' : 'not '}a fixup, squash or amend commit`]);
  }
  if (wanted.merge !== undefined) {
    phrases.push([`is ${wanted.merge ? '' : 'not '}a merge commit`]);
  }
  if (wanted.signed_off !== undefined) {
    phrases.push([`is ${wanted.signed_off ? '' : 'not '}signed off by its author`]);
  }
  if (wanted.verified !== undefined) {
    phrases.push([`has ${wanted.verified ? 'a' : 'no'} signature that the forge has verified`]);
  }
  if (wanted.signed_by !== undefined) {
    phrases.push(say`has a verified signature of ${quotedList(wanted.signed_by)}`);
  }
  return joinTexts(phrases, ' and ');
}

function unverifiable({ signed_by }: Traits, commits: readonly Commit[], teams: Facts['teams']): Text {
  if (commits.length === 0) {
    return [];
  }
  if (signed_by === undefined) {
    return say`; the forge does not say whether it has verified ${listed(commits)}`;
  }
  const unread = couldNotRead('undecided', unreadableTeams(splitTeams(signed_by).teams, teams));
  const ofNobody = commits.filter(({ verified, signer }) => verified === 'unknown' || signer === undefined);
  return ofNobody.length === 0 ? unread : say`; the forge does not say who has signed ${listed(ofNobody)}${unread}`;
}

function listed(found: readonly Commit[]): Text {
  return quotedList(
    found.map(
      ({ sha, message }) =>
        `${sha.slice(0, SHORT_SHA_LENGTH)} ${shorten(message.split('\n', 1)[0] ?? '', MAX_SUBJECT_SHOWN)}`,
    ),
  );
}

function read(all: readonly Commit[], complete: boolean): Text {
  return complete
    ? count(all.length, 'commit')
    : say`the ${count(all.length, 'commit')} that could be read; the list is not complete`;
}
