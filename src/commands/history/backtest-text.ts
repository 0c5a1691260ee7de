import { shorten } from '../../common/shorten.ts';
import type { ForgeName } from '../../forges/port/forges.ts';
import { type OutcomeWords, wordsFor } from '../../review/cases/schema.ts';
import type { RuleOutcome } from '../../review/evaluation/evaluation.ts';
import type { Reason } from '../../review/evaluation/reasons.ts';
import { type PastVerdict, type RuleTally, tallyRules } from '../../review/past/past-verdict.ts';
import { asOfToday } from '../../review/past/today.ts';
import type { Policy } from '../../review/policy/policy.ts';
import { plain, visible } from '../../review/text.ts';
import type { Finding } from '../../review/verdict.ts';
import { columns } from '../terminal.ts';
import type { OverHistory } from './history.ts';

const MAX_REASON_LENGTH = 300;
const MAX_TITLE_SHOWN = 100;
const OUTCOMES: readonly RuleOutcome[] = ['passed', 'failed', 'waiting', 'inactive', 'undecided'];
const MARK = ' *';

/** For people. */
export function describeBacktest({ forge, repository, policy, list, verdicts }: OverHistory): string {
  const days = verdicts.map(({ merged }) => merged.mergedAt.slice(0, 10));
  const from = days.length === 0 ? '' : `, merged ${days.at(-1)} to ${days[0]}`;
  const head = `${repository}: ${count(verdicts.length)}${from}, judged by ${visible(nameOf(policy))}\n`;
  const cut =
    list.cutAt === undefined
      ? ''
      : `Only the ${list.cutAt} closed pull requests that changed last were read; more may have been merged.\n`;
  const parts = [
    `${head}${cut}`,
    table(tallyRules(policy, verdicts), forge),
    section('would have been stopped', 'stopped', verdicts),
    section('cannot be decided: what it depends on is no longer known', 'undecided', verdicts),
  ];
  return parts.join('\n');
}

function nameOf({ origin: { path, repository } }: Policy): string {
  return repository === undefined ? path : `${repository}:${path}`;
}

function count(amount: number): string {
  return `${amount} merged pull ${amount === 1 ? 'request' : 'requests'}`;
}

function table(tallies: readonly RuleTally[], forge: ForgeName): string {
  const marks = new Set(tallies.flatMap(({ rule }) => asOfToday(rule.needs, forge)));
  const words = OUTCOMES.map(wordsFor);
  const rows = tallies.map(({ rule, counts }) => [
    `${rule.id}${asOfToday(rule.needs, forge).length > 0 ? MARK : ''}`,
    rule.level,
    ...OUTCOMES.map((outcome) => String(counts[outcome])),
  ]);
  const note = marks.size === 0 ? '' : `*: ${[...marks].join(', ')} as of today, not as of the merge\n`;
  return `${columns([['Rule', 'Level', ...words.map(capital)], ...rows])}${note}`;
}

function capital(words: OutcomeWords): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

function section(what: string, outcome: PastVerdict['outcome'], verdicts: readonly PastVerdict[]): string {
  const found = verdicts.filter((verdict) => verdict.outcome === outcome);
  return `${found.length} of ${verdicts.length} ${what}\n${found.map(describeOne).join('')}`;
}

function describeOne({ merged, findings, gone }: PastVerdict): string {
  const { number, title, author } = merged.pullRequest;
  const head = `  #${number} "${visible(shorten(title, MAX_TITLE_SHOWN))}" by ${visible(author)}, merged ${merged.mergedAt.slice(0, 10)}`;
  const rules = findings.map((finding) => `    ${finding.ruleId}: ${wordsFor(finding.outcome)}: ${whyOf(finding)}`);
  return [
    head,
    ...rules,
    ...gone.map((reason) => `    not read: ${visible(shorten(reason, MAX_REASON_LENGTH))}`),
    '',
  ].join('\n');
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
export function backtestJson({ forge, repository, policy, list, verdicts, requests, fromCache }: OverHistory): object {
  return {
    repository,
    policy: policy.origin,
    pullRequests: list.merged.length,
    judged: verdicts.length,
    complete: verdicts.length === list.merged.length,
    ...(list.cutAt === undefined ? {} : { cutAt: list.cutAt }),
    requests,
    fromCache,
    rules: tallyRules(policy, verdicts).map(({ rule, counts }) => ({
      id: rule.id,
      level: rule.level,
      asOfToday: asOfToday(rule.needs, forge),
      outcomes: Object.fromEntries(OUTCOMES.map((outcome) => [wordsFor(outcome), counts[outcome]])),
    })),
    verdicts: verdicts.map(({ merged: { pullRequest, mergedAt }, outcome, rules, findings, gone }) => ({
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
      ...(gone.length === 0 ? {} : { notRead: gone }),
    })),
  };
}
