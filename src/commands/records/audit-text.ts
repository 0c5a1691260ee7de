import { type RecordEntry, type RecordedPosting, type RecordedVerdict, timeOf } from '../../audit/read-record.ts';
import type { StoredRule } from '../../audit/rule-changes.ts';
import type { RecordedReason } from '../../audit/verdict-record.ts';
import { visible } from '../../review/text.ts';
import { columns, shortTime } from '../terminal.ts';

const SHA_SHOWN = 10;

/** A line for each entry. */
export function entryTable(entries: readonly RecordEntry[]): string {
  if (entries.length === 0) {
    return '';
  }
  return columns([
    ['TIME', 'WHAT', 'ABOUT', 'COMMIT', 'STATE', 'DESCRIPTION'],
    ...entries.map((entry) => [
      shortTime(timeOf(entry)),
      entry.kind === 'verdict' ? 'verdict' : 'posted',
      entry.kind === 'verdict' ? `${entry.repository}#${entry.pullRequest}` : entry.repository,
      short(entry.headSha),
      entry.state,
      entry.description,
    ]),
  ]);
}

/** Everything that people ask of a pull request's verdicts. */
export function history(entries: readonly RecordEntry[]): string {
  return entries
    .map((entry) => (entry.kind === 'verdict' ? verdict(entry) : posting(entry)))
    .map((lines) => `${lines.map(visible).join('\n')}\n`)
    .join('\n');
}

function posting({ postedAt, context, headSha, state, description }: RecordedPosting): readonly string[] {
  return [`${shortTime(postedAt)}  posted ${state} as ${context} on ${short(headSha)}: ${description}`];
}

function verdict(entry: RecordedVerdict): readonly string[] {
  const { answeredAt, askedAt, repository, pullRequest, author, headSha, baseBranch, baseSha, mergeGroupSha } = entry;
  const base = baseSha === null ? baseBranch : `${baseBranch} at ${short(baseSha)}`;
  return [
    `${shortTime(answeredAt)}  ${entry.state}: ${entry.description}`,
    `  ${repository}#${pullRequest} by ${author}, ${short(headSha)} into ${base}, requested ${shortTime(askedAt)}`,
    ...(mergeGroupSha === null ? [] : [`  for the merge group ${short(mergeGroupSha)}`]),
    ...(entry.enforced ? [] : ['  not enforced: the status is success']),
    ...(entry.rules ?? []).flatMap(rule),
    ...entry.faults.map(({ path, line }) => `  a fault in ${path}:${line}`),
    ...(entry.approvals ?? []).map(({ login, sha, at, mayWrite, bot }) => {
      const aside = `${mayWrite === 'no' ? ' (may not write)' : ''}${bot ? ' (a program)' : ''}`;
      return `  approved by ${login}${aside} at ${short(sha)}, ${at}`;
    }),
    ...entry.overrides.map(({ rule: id, login, reason, at }) => `  ${id} overridden by ${login}, ${at}: ${reason}`),
    ...textsOf(entry).map(([what, digest]) => `  ${what} ${digest}`),
  ];
}

function rule({ id, level, outcome, source, reasons, places, leftOut }: StoredRule): readonly string[] {
  const where = `${source.repository === undefined ? '' : `${source.repository} `}${source.path}:${source.line}`;
  return [
    `  ${outcome.padEnd('undecided'.length)}  ${id} (${level}, ${where})`,
    ...(reasons ?? []).map((reason) => `             ${said(reason)}`),
    ...(places ?? []).map(({ path, line }) => `             ${line === undefined ? path : `${path}:${line}`}`),
    ...(leftOut === undefined ? [] : [`             and ${leftOut} more reasons and places`]),
  ];
}

function said(reason: RecordedReason): string {
  if ('oneOf' in reason) {
    return reason.oneOf.map((way) => way.map(said).join(' and ')).join(' or ');
  }
  const { predicate, wanted, expected, found } = reason;
  return `${predicate}: ${wanted ? 'wanted' : 'not wanted'}: ${expected}; found: ${found}`;
}

function textsOf(entry: RecordedVerdict): readonly (readonly [string, string])[] {
  const { policyDigest, operatorPolicyDigest, extendsName, extendsDigest, baselineDigest, codeOwnersDigest } = entry;
  const texts = [
    ['policy', policyDigest],
    ['operator’s policy', operatorPolicyDigest],
    [`extends ${extendsName}`, extendsDigest],
    ['baseline', baselineDigest],
    ['CODEOWNERS', codeOwnersDigest],
  ] as const;
  return texts.flatMap(([what, digest]) => (digest === null ? [] : [[what, digest] as const]));
}

function short(sha: string): string {
  return sha.slice(0, SHA_SHOWN);
}
