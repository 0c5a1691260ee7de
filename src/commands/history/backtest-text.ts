import { shorten } from '../../common/shorten.ts';
import { wordsFor } from '../../review/cases/schema.ts';
import type { Reason } from '../../review/evaluation/reasons.ts';
import { neededFacts } from '../../review/policy/needs.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { plain, visible } from '../../review/text.ts';
import type { Finding } from '../../review/verdict.ts';
import { columns } from '../terminal.ts';
import type { History } from './history.ts';
import { asOfToday, OUTCOMES, type PastVerdict, tallyRules } from './past-verdict.ts';

const MAX_REASON_LENGTH = 300;
const MAX_TITLE_SHOWN = 100;

/** For people. */
export function describeBacktest({ repository, policy, list, verdicts }: History): string {
  const days = verdicts.map(({ merged }) => merged.mergedAt.slice(0, 10));
  const from = days.length === 0 ? '' : `, merged ${days.at(-1)} to ${days[0]}`;
  const requests = verdicts.length === 1 ? 'request' : 'requests';
  const head = `${repository}: ${verdicts.length} merged pull ${requests}${from}, judged by ${visible(nameOf(policy))}\n`;
  const cut =
    list.cutAt === undefined
      ? ''
      : `Only the ${list.cutAt} closed pull requests that changed last were read; more may have been merged.\n`;
  const today = asOfToday(neededFacts(policy)).map((what) => `As of today, not as of the merge: ${what}.\n`);
  return [
    `${head}${cut}`,
    `${table(policy, verdicts)}${today.join('')}`,
    section('would have been stopped', 'stopped', verdicts),
    section('cannot be decided: what they depend on could not be read', 'undecided', verdicts),
  ].join('\n');
}

function nameOf({ origin: { path, repository } }: Policy): string {
  return repository === undefined ? path : `${repository}:${path}`;
}

function table(policy: Policy, verdicts: readonly PastVerdict[]): string {
  const words = OUTCOMES.map(wordsFor).map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`);
  const rows = tallyRules(policy, verdicts).map(({ rule, counts }) => [
    rule.id,
    rule.level,
    ...OUTCOMES.map((outcome) => String(counts[outcome])),
  ]);
  return columns([['Rule', 'Level', ...words], ...rows]);
}

function section(what: string, outcome: PastVerdict['outcome'], verdicts: readonly PastVerdict[]): string {
  const found = verdicts.filter((verdict) => verdict.outcome === outcome);
  return `${found.length} of ${verdicts.length} ${what}\n${found.map(describeOne).join('')}`;
}

function describeOne({ merged, findings, unread }: PastVerdict): string {
  const { number, title, author } = merged.pullRequest;
  const shown = `"${visible(shorten(title, MAX_TITLE_SHOWN))}" by ${visible(author)}`;
  return [
    `  #${number} ${shown}, merged ${merged.mergedAt.slice(0, 10)}\n`,
    ...findings.map((finding) => `    ${finding.ruleId}: ${wordsFor(finding.outcome)}: ${whyOf(finding)}\n`),
    unread === undefined ? '' : `    not read: ${visible(shorten(unread, MAX_REASON_LENGTH))}\n`,
  ].join('');
}

/** What was found instead of what the rule asks for. */
function whyOf({ message, reasons }: Pick<Finding, 'message' | 'reasons'>): string {
  const why = shorten(reasons.map(ofReason).join('; '), MAX_REASON_LENGTH);
  return message === undefined ? why : `${why} (${visible(message)})`;
}

function ofReason(reason: Reason): string {
  if (reason.kind === 'one-of') {
    return reason.ways.map((way) => way.map(ofReason).join(' and ')).join(', or ');
  }
  const { found, expected, wanted } = reason;
  return `${plain(found)}; asked: ${wanted ? '' : 'no '}${plain(expected)}`;
}

/** For programs. */
export function backtestJson({ repository, policy, list, verdicts }: History): object {
  return {
    repository,
    policy: policy.origin,
    pullRequests: list.merged.length,
    judged: verdicts.length,
    complete: verdicts.length === list.merged.length,
    cutAt: list.cutAt,
    asOfToday: asOfToday(neededFacts(policy)),
    rules: tallyRules(policy, verdicts).map(({ rule, counts }) => ({
      id: rule.id,
      level: rule.level,
      outcomes: Object.fromEntries(OUTCOMES.map((outcome) => [wordsFor(outcome), counts[outcome]])),
    })),
    verdicts: verdicts.map(({ merged: { pullRequest, mergedAt }, outcome, rules, findings, unread }) => ({
      number: pullRequest.number,
      url: pullRequest.url,
      title: pullRequest.title,
      author: pullRequest.author,
      mergedAt,
      outcome,
      rules: rules.map(({ rule, outcome: of }) => ({ id: rule.id, outcome: wordsFor(of) })),
      reasons: findings.map((finding) => ({
        rule: finding.ruleId,
        outcome: wordsFor(finding.outcome),
        reason: whyOf(finding),
      })),
      notRead: unread,
    })),
  };
}
