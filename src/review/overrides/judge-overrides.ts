import { type Author, type AuthoredCommits, authorsOf, type SeenAuthor } from '../../facts/authors/authors.ts';
import type { IsMachine } from '../../facts/authors/machines.ts';
import type { PeopleSettings } from '../../facts/authors/people-settings.ts';
import type { Facts } from '../../facts/table.ts';
import { mayWrite } from '../../facts/writers.ts';
import { commandIn, type OverrideCommand, textDigest } from '../../forges/port/command.ts';
import type { PersonComment, PullRequest } from '../../forges/port/pull-request.ts';
import { blockingRules } from '../evaluation/blocking-rules.ts';
import type { Evaluation, RuleOutcome } from '../evaluation/evaluation.ts';
import { MAX_ASKED_MEMBERS, MAX_REASON_LENGTH } from '../limits.ts';
import type { Overriders } from '../policy/policy.ts';
import { isMember } from '../predicates/team-members.ts';
import { hasWords, quotedList, say, type Text } from '../text.ts';

/** A comment that begins with a command to override. */
export interface Claim {
  readonly comment: PersonComment;
  readonly command: OverrideCommand;
}

/** What webhooks have recorded of comments, beside what the forge shows now. */
export interface RecordedComments {
  /** From their webhooks, by the forge's ids: the texts that comments were posted with, and those that were edited. */
  readonly posted: ReadonlyMap<string, PostedText>;
  /** The ids of those whose override counted in the verdict before. Absent: unknown. */
  readonly counted?: ReadonlySet<string>;
}

export type PostedText = { readonly kind: 'as-posted'; readonly digest: string } | { readonly kind: 'edited' };

/** What a claim is judged by, without a request to the forge. */
export interface ClaimContext {
  readonly pullRequest: PullRequest;
  readonly evaluation: Evaluation;
  readonly overridersOf: (ruleId: string) => Overriders | undefined;
  /** The login that Gatehouse posts with. */
  readonly self: string;
  readonly isMachine: IsMachine;
  readonly recorded: RecordedComments;
}

/** What has to be read before a claim counts. */
export interface ClaimFacts extends Pick<Facts, 'teams' | 'writers'> {
  readonly commits: AuthoredCommits;
  readonly people: PeopleSettings;
  readonly lastChange: Facts['lastChange'];
  /** Logins in lower case of those who are too many to ask whether they are members of an organisation. */
  readonly unasked: ReadonlySet<string>;
}

const RULE_OUTCOMES: Readonly<Partial<Record<RuleOutcome, string>>> = { passed: 'is met', inactive: 'does not apply' };
const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SHA_SHOWN = 10;

export function claimsIn(comments: readonly PersonComment[], { rules }: Evaluation): readonly Claim[] {
  const ids = rules.map(({ rule }) => rule.id);
  return comments.flatMap((comment) => {
    const command = commandIn(comment.body);
    return command?.kind === 'override'
      ? [{ comment, command: { ...command, ruleId: idMeant(command.ruleId, ids) } }]
      : [];
  });
}

/** The id of a rule that somebody typed in another case, unless it may be that of several rules. */
function idMeant(typed: string, ids: readonly string[]): string {
  const [only = typed, ...others] = ids.filter((id) => id.toLowerCase() === typed.toLowerCase());
  return ids.includes(typed) || others.length > 0 ? typed : only;
}

/** Why a claim does not count, as far as it says so itself; undefined when that has to be read. */
export function refusalOf(claim: Claim, context: ClaimContext): Text | undefined {
  return refusalOfCommand(claim.command, context) ?? refusalOfComment(claim, context);
}

function refusalOfCommand(
  { ruleId, commit, reason }: OverrideCommand,
  { pullRequest, evaluation }: ClaimContext,
): Text | undefined {
  if (!COMMIT_ID.test(commit)) {
    return commit === ''
      ? say`names no commit`
      : say`does not name the commit by its full id: ${commit} may be another one's beginning too`;
  }
  if (commit !== pullRequest.head.sha) {
    return say`names the commit ${commit.slice(0, SHA_SHOWN)}, which is not the head`;
  }
  if (!hasWords(reason)) {
    return say`gives no reason`;
  }
  if ([...reason].length > MAX_REASON_LENGTH) {
    return say`has a reason of more than ${MAX_REASON_LENGTH} characters`;
  }
  const outcome = evaluation.rules.find(({ rule }) => rule.id === ruleId)?.outcome;
  if (outcome === undefined) {
    return say`names a rule that the policy does not have`;
  }
  return blockingRules(evaluation).some(({ rule }) => rule.id === ruleId)
    ? undefined
    : say`is not needed: the rule ${[RULE_OUTCOMES[outcome] ?? 'does not block']}`;
}

function refusalOfComment({ comment, command }: Claim, context: ClaimContext): Text | undefined {
  const { author, bot, byEmail } = comment;
  if (author === null) {
    return say`was written by an account that is gone, or at another place`;
  }
  if (context.isMachine({ login: author, bot }) || author.toLowerCase() === context.self.toLowerCase()) {
    return say`was written by a bot`;
  }
  if (byEmail) {
    return say`came by e-mail, which someone else may have sent`;
  }
  if (author.toLowerCase() === context.pullRequest.author.toLowerCase()) {
    return say`was written by the author of the pull request`;
  }
  if (context.overridersOf(command.ruleId) === undefined) {
    return say`names a rule that no one can override`;
  }
  return refusalOfEdit(comment, context);
}

/**
 * Where the forge tells times in seconds, an edit in the second of the posting shows nowhere but in its webhook.
 * Whoever edits can choose that it does not arrive, so that the webhook of the posting has to show what the text was.
 */
function refusalOfEdit({ id, edited, body }: PersonComment, { recorded }: ClaimContext): Text | undefined {
  const posted = recorded.posted.get(id);
  if (edited === 'yes' || posted?.kind === 'edited' || (posted && posted.digest !== textDigest(body))) {
    return say`was edited`;
  }
  return edited === 'no' || posted !== undefined
    ? undefined
    : say`may have been edited in the second in which it was posted: its webhook has not arrived. If this stays, post it again`;
}

/** Why a claim that says nothing against itself does not count; undefined when it does. */
export function refusalByFacts(
  { comment, command }: Claim,
  { overridersOf }: ClaimContext,
  facts: ClaimFacts,
): Text | undefined {
  const login = (comment.author ?? '').toLowerCase();
  const overriders = overridersOf(command.ruleId) ?? { names: [], people: [], teams: [] };
  const member = isMember(login, overriders, facts.teams);
  if (member === undefined && facts.unasked.has(login)) {
    return say`is by one of more than ${MAX_ASKED_MEMBERS} people with such commands, of whom the newest are looked at: post it again`;
  }
  if (member !== true) {
    return member === false
      ? say`was not written by one of those who may override it: ${quotedList(overriders.names)}`
      : say`was written by someone who may be in a team whose members could not be read: ${quotedList(overriders.names)}`;
  }
  return refusalOfAuthor(login, facts) ?? refusalOfAge(comment, facts) ?? refusalOfPermission(login, facts);
}

type Made = Author | SeenAuthor;

const WHY_AUTHOR: Readonly<Record<Made['as'], Text>> = {
  author: say`was written by someone who committed to this pull request`,
  committer: say`was written by someone who committed to this pull request`,
  'co-author': say`was written by someone whom a commit of this pull request names as its co-author`,
  pusher: say`was written by someone who pushed a commit of this pull request`,
  seen: say`was written by someone who made a commit of this pull request that was there before`,
};

function refusalOfAuthor(login: string, { commits, people }: ClaimFacts): Text | undefined {
  const { byLogin, unknown, complete } = authorsOf(commits, people);
  const made = byLogin.get(login);
  if (made !== undefined) {
    return WHY_AUTHOR[made.as];
  }
  if (!complete) {
    return commits.complete
      ? say`cannot be checked: not all co-authors of the commits could be read, so one may have written it`
      : say`cannot be checked: the list of commits is not complete, so a committer may have written it`;
  }
  const [first] = unknown;
  return first === undefined
    ? undefined
    : say`may be by someone who committed to this pull request: no account is known for ${first.named} of the commit ${first.sha.slice(0, SHA_SHOWN)}`;
}

/** Forges tell times in seconds: of two things in the same second, the comment may have come first. */
function refusalOfAge({ createdAt }: PersonComment, { lastChange }: ClaimFacts): Text | undefined {
  switch (lastChange.kind) {
    case 'unread':
      return say`cannot be checked: the force-pushes and changes of base could not be read`;
    case 'none':
      return undefined;
    case 'change':
      return Date.parse(createdAt) > Date.parse(lastChange.at)
        ? undefined
        : say`was written before the last force-push or change of base`;
  }
}

function refusalOfPermission(login: string, { writers }: ClaimFacts): Text | undefined {
  switch (mayWrite(writers, login)) {
    case 'unknown':
      return say`cannot be checked: whether its author can write to the repository could not be read`;
    case 'no':
      return say`was written by someone without write access`;
    case 'yes':
      return undefined;
  }
}
