import { type CommitStatus, type StatusDescription, statusDescription } from '../forges/port/postings.ts';
import type { EvaluatedRule, Evaluation } from './evaluation/evaluation.ts';
import { type FingerprintedLocation, fingerprinted } from './evaluation/fingerprint.ts';
import { awaitedIn, locationsOf, type Reason, reasonsOf } from './evaluation/reasons.ts';
import type { Override, Overrides } from './overrides/override.ts';
import type { Fault } from './policy/faults.ts';
import type { LevelInForce, Rule } from './policy/policy.ts';
import { bare } from './text.ts';

/** Something that a rule in force has to say of the pull request. */
export interface Finding {
  readonly ruleId: string;
  readonly level: LevelInForce;
  /** `waiting`: others have to act, not the author. `undecided`: the rule could not be judged. */
  readonly outcome: 'failed' | 'waiting' | 'undecided';
  /** The policy author's own words, if any. */
  readonly message?: string;
  readonly example?: string;
  readonly reasons: readonly Reason[];
  readonly locations: readonly FingerprintedLocation[];
  /** The rule's conditions are not public. */
  readonly hidden?: true;
  /** Where the rule lives. */
  readonly source: Rule['source'];
  /** The pull request is a draft, and this would be so once it is ready for review. */
  readonly asIfReady?: true;
  /** Who overrides the rule, and why: then it does not block. */
  readonly override?: Override;
}

export interface Verdict {
  /** `pending`: every rule of level error is met, or waits for others. */
  readonly state: 'success' | 'failure' | 'error' | 'pending';
  /** As a commit status can hold it. */
  readonly description: string;
  /** Errors before warnings before notes, and otherwise in the policy's order. */
  readonly findings: readonly Finding[];
  /** Ids of the rules in force that applied and hold. */
  readonly passed: readonly string[];
  /** What is wrong with the policy itself: why nothing could be judged, or what this pull request would bring in. */
  readonly policyFaults: readonly Fault[];
  /** Absent where the policy lets nobody override. */
  readonly overrides?: Overrides;
  /** Ids of commits of which no webhook told who pushed them. Absent where no rule asks. */
  readonly unseenPushes?: readonly string[];
  /** The policy of the base branch is broken, and this pull request brings in one that is valid. */
  readonly fixesPolicy?: boolean;
}

const SEVERITY: Readonly<Record<LevelInForce, number>> = { error: 0, warn: 1, info: 2 };

/**
 * Failure when a rule of level error failed; else error when such a rule could not be judged, or none could because the
 * evaluation was ended, for that is no pass; else pending when such a rule waits for others; else success. Otherwise
 * warnings and notes never change it. A rule that is overridden does not block. A rule that is only observed has no
 * part in it.
 */
export function verdictOf(evaluation: Evaluation, overrides?: Overrides): Verdict {
  const inForce = new Map(overrides?.inForce.map((override) => [override.ruleId, override]));
  const findings = evaluation.rules
    .flatMap((rule) => findingOf(rule, inForce))
    .sort((a, b) => SEVERITY[a.level] - SEVERITY[b.level]);
  const passed = evaluation.rules
    .filter(({ rule, outcome }) => rule.level !== 'observe' && outcome === 'passed')
    .map(({ rule }) => rule.id);
  const overridden = findings.flatMap(({ override }) => override ?? []);
  const standing = findings.filter(({ override }) => override === undefined);
  const blocking = standing.filter(({ level }) => level === 'error');
  const failed = blocking.filter(({ outcome }) => outcome === 'failed');
  const undecided = (evaluation.ended ? standing : blocking).filter(({ outcome }) => outcome === 'undecided');
  const waiting = blocking.filter(({ outcome }) => outcome === 'waiting');
  const active = passed.length + findings.length;

  const aside = overridden.length === 0 ? '' : `, ${overridden.length} overridden`;

  const same = { findings, passed, policyFaults: [], ...(overrides === undefined ? {} : { overrides }) };
  if (failed.length > 0) {
    return {
      state: 'failure',
      description: named(`${failed.length} of ${rules(active)} failed${aside}`, failed),
      ...same,
    };
  }
  if (undecided.length > 0) {
    return {
      state: 'error',
      description: named(`${undecided.length} of ${rules(active)} could not be judged${aside}`, undecided),
      ...same,
    };
  }
  if (waiting.length > 0) {
    return { state: 'pending', description: waitingFor(waiting, aside), ...same };
  }
  if (overridden.length > 0) {
    return { state: 'success', description: overriddenFor(overridden), ...same };
  }
  return { state: 'success', description: successOf(passed.length, findings), ...same };
}

function findingOf(evaluated: EvaluatedRule, inForce: ReadonlyMap<string, Override>): readonly Finding[] {
  const { rule, outcome, asIfReady } = evaluated;
  const { id: ruleId, level, ...about } = rule;
  if (level === 'observe' || outcome === 'passed' || outcome === 'inactive') {
    return [];
  }
  const reasons = reasonsOf(evaluated);
  const locations = fingerprinted(ruleId, locationsOf(reasons));
  const override = inForce.get(ruleId);
  return [
    {
      ruleId,
      level,
      ...about,
      outcome,
      reasons,
      locations,
      ...(asIfReady && { asIfReady }),
      ...(override && { override }),
    },
  ];
}

function successOf(passed: number, findings: readonly Finding[]): string {
  const warnings = findings.filter(({ level }) => level === 'warn');
  const notes = findings.length - warnings.length;
  if (passed === 0 && findings.length === 0) {
    return 'No rule applies to this pull request';
  }
  const aside = [
    ...(warnings.length > 0 ? [`${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}`] : []),
    ...(notes > 0 ? [`${notes} ${notes === 1 ? 'note' : 'notes'}`] : []),
  ].join(' and ');
  if (aside === '') {
    return passed === 1 ? 'The rule that applies is met' : `All ${passed} rules that apply are met`;
  }
  return named(`No error, ${aside}`, findings);
}

/**
 * The policy that applies to this pull request cannot be read: nothing was judged. That is so even when the pull
 * request itself fixes the policy, for otherwise breaking it would be a way around it; but then the comment says so.
 */
export function brokenPolicyVerdict(faults: readonly Fault[], fixesPolicy = false): Verdict {
  const [first] = faults;
  const where = first === undefined ? 'the policy' : `${first.file}:${first.line}`;
  return {
    state: 'error',
    description: statusDescription(`The policy cannot be used: ${where}: ${first?.message ?? 'unreadable'}`),
    findings: [],
    passed: [],
    policyFaults: faults,
    ...(fixesPolicy ? { fixesPolicy } : {}),
  };
}

/**
 * The pull request changes the policy, and its new one has faults: merged, it would break every later review, so a
 * verdict that was not an error becomes a failure.
 */
export function withProposedPolicyFaults(verdict: Verdict, faults: readonly Fault[]): Verdict {
  const [first] = faults;
  if (first === undefined || verdict.state === 'error') {
    return { ...verdict, policyFaults: [...verdict.policyFaults, ...faults] };
  }
  const own = `${first.file} as proposed has ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`;
  const description = verdict.state === 'failure' ? `${verdict.description}; ${own}` : own;
  return {
    ...verdict,
    state: 'failure',
    description: statusDescription(description),
    policyFaults: [...verdict.policyFaults, ...faults],
  };
}

const DECIDING = { failure: 'failed', pending: 'waiting', error: 'undecided', success: undefined } as const;

/** The findings that a verdict's state comes from. */
function decidingFindings({ state, findings }: Pick<Verdict, 'state' | 'findings'>): readonly Finding[] {
  return findings.filter(
    ({ level, outcome, override }) => level === 'error' && outcome === DECIDING[state] && override === undefined,
  );
}

/** What the status says with `ENFORCE=false`, where it is `success` whatever the verdict. */
export function notEnforced(verdict: Verdict): string {
  const { state, description, policyFaults } = verdict;
  const concerned = decidingFindings(verdict);
  if (state === 'success' || concerned.length === 0 || policyFaults.length > 0) {
    return dryRun(description);
  }
  const would = { failure: 'would fail', pending: 'would wait', error: 'could not be judged' }[state];
  return named(dryRun(`${rules(concerned.length)} ${would}`), concerned);
}

/** Says that no policy asks for anything any more. */
export const NOTHING_REQUIRED = statusDescription('No policy requires anything any more');

/** What a success means, by the description that it was posted with. */
export function meaningOfSuccess(description: string): 'passed' | 'overridden' | 'not enforced' | 'not judged' {
  // Where several pull requests have one head, the worst is named first.
  const said = description.replace(/^#\d+: /, '');
  if (said === NOTHING_REQUIRED) {
    return 'not judged';
  }
  if (/^Not enforced[:.]/.test(said)) {
    return 'not enforced';
  }
  return /^\d+ rules? overridden: /.test(said) ? 'overridden' : 'passed';
}

/** The same state and meaning, for a forge that does not take the words or the link. */
export function withoutDetails({ context, state, description }: CommitStatus): CommitStatus {
  const [meaning] = /^(?:#\d+: )?(?:Not enforced[:.] |\d+ rules? overridden: )?/.exec(description) ?? [''];
  const isFree = description === NOTHING_REQUIRED;
  return {
    context,
    state,
    description: isFree ? description : statusDescription(`${meaning}See the pull request`),
  };
}

/** As {@link notEnforced}, for a verdict that has only its description. */
export function dryRun(description: string): StatusDescription {
  return statusDescription(`Not enforced: ${description}`);
}

const rules = (amount: number): string => `${amount} ${amount === 1 ? 'rule' : 'rules'}`;

/** Two rules may wait for the same. */
function waitingFor(findings: readonly Finding[], aside: string): string {
  const awaited = new Set(findings.map(({ reasons }) => bare(awaitedIn(reasons))));
  return statusDescription(`Waiting for ${[...awaited].join('; ')}${aside}`);
}

function overriddenFor(overrides: readonly Override[]): string {
  const reasons = new Set(overrides.map(({ reason }) => bare([{ quoted: reason }])));
  return statusDescription(`${rules(overrides.length)} overridden: ${[...reasons].join('; ')}`);
}

function named(what: string, findings: readonly Finding[]): string {
  return statusDescription(`${what}: ${findings.map(({ ruleId }) => ruleId).join(', ')}`);
}
