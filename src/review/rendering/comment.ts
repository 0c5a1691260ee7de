import { type InlineComment, MAX_COMMENT_LENGTH } from '../../forges/postings.ts';
import type { FingerprintedLocation } from '../evaluation/fingerprint.ts';
import type { Reason } from '../evaluation/reasons.ts';
import type { Finding, Verdict } from '../evaluation/verdict.ts';
import type { Fault } from '../policy/faults.ts';
import type { Level } from '../policy/schema.ts';
import { code, markdown, prose } from './markdown.ts';

/** How the one comment on a pull request is found again. Nothing from outside can write it: see markdown.ts. */
export const REVIEW_MARKER = '<!-- gatehouse:review -->';

/** Characters kept free below the forges' limit, for what a forge may add to a comment. */
const COMMENT_RESERVE = 5_536;
/** More inline comments than this are not helpful; the main comment still lists all findings. */
const MAX_INLINE_COMMENTS = 30;
/** Characters of one finding: the first of them must not crowd out the others. */
const MAX_FINDING_LENGTH = 8_000;
const MAX_LOCATIONS_SHOWN = 10;
const MAX_FAULTS_SHOWN = 20;
const MAX_REASONS_SHOWN = 20;
const MAX_PATH_SHOWN = 200;

const LEVELS: Readonly<Record<Level, { readonly icon: string; readonly word: string }>> = {
  error: { icon: '❌', word: 'must be fixed' },
  warn: { icon: '⚠️', word: 'warning' },
  info: { icon: 'ℹ️', word: 'note' },
};

const OUTCOMES = {
  waiting: { icon: '⏳', word: 'waits for others' },
  undecided: { icon: '🚫', word: 'could not be judged' },
} as const;

/** The one comment, kept up to date in place. The same verdict always gives the same text. */
export function renderReview(verdict: Verdict): string {
  const sections = [...verdict.findings.map(renderFinding), ...renderFaults(verdict)];
  const end = [...renderPassed(verdict), footer(verdict)];
  const body: string[] = [REVIEW_MARKER, headline(verdict)];
  const reserved = [...body, ...end].join('\n\n').length + 200;
  let length = reserved;
  let shown = 0;
  for (const section of sections) {
    if (length + section.length > MAX_COMMENT_LENGTH - COMMENT_RESERVE) {
      break;
    }
    body.push(section);
    length += section.length + 2;
    shown += 1;
  }
  if (shown < sections.length) {
    body.push(`…and ${sections.length - shown} more, left out because this comment is full.`);
  }
  return `${[...body, ...end].join('\n\n')}\n`;
}

function headline({ state, findings, policyFaults, passed }: Verdict): string {
  const failed = findings.filter(({ level, outcome }) => level === 'error' && outcome === 'failed').length;
  const undecided = findings.filter(({ level, outcome }) => level === 'error' && outcome === 'undecided').length;
  const waiting = findings.filter(({ level, outcome }) => level === 'error' && outcome === 'waiting').length;
  const others = findings.length - failed - undecided - waiting;
  const parts: string[] = [];
  if (failed > 0) {
    parts.push(`${failed} ${failed === 1 ? 'rule is' : 'rules are'} not met`);
  }
  if (waiting > 0) {
    parts.push(`${waiting} ${waiting === 1 ? 'rule waits' : 'rules wait'} for others`);
  }
  if (undecided > 0) {
    parts.push(`${undecided} ${undecided === 1 ? 'rule' : 'rules'} could not be judged`);
  }
  if (policyFaults.length > 0) {
    parts.push(`the policy file has ${policyFaults.length === 1 ? 'a fault' : 'faults'}`);
  }
  if (others > 0) {
    parts.push(`${others} ${others === 1 ? 'remark' : 'remarks'}`);
  }
  if (state === 'success') {
    if (passed.length + findings.length === 0) {
      return '### ✅ None of this repository’s rules applies here';
    }
    return `### ✅ This pull request meets this repository’s rules${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
  }
  if (state === 'pending') {
    return `### ⏳ Others have to act on this pull request: ${parts.join(', ')}`;
  }
  return state === 'failure'
    ? `### ❌ This pull request does not meet this repository’s rules yet: ${parts.join(', ')}`
    : `### 🚫 This pull request could not be judged: ${parts.join(', ')}`;
}

function renderFinding(finding: Finding): string {
  const { icon, word } = finding.outcome === 'failed' ? LEVELS[finding.level] : OUTCOMES[finding.outcome];
  const lines = [`#### ${icon} ${code(finding.ruleId)}: ${word}`];
  if (finding.message !== undefined) {
    lines.push('', prose(finding.message), '');
  }
  lines.push(...renderReasons(finding.reasons, ''));
  const places = finding.locations;
  if (places.length > 0) {
    lines.push('- **Where:**');
    for (const place of places.slice(0, MAX_LOCATIONS_SHOWN)) {
      lines.push(`  - ${renderPlace(place)}`);
    }
    if (places.length > MAX_LOCATIONS_SHOWN) {
      lines.push(`  - and ${places.length - MAX_LOCATIONS_SHOWN} more`);
    }
  }
  return [...fitting(lines), `- **The rule:** ${renderSource(finding)}`].join('\n');
}

/** As many whole lines as one finding may take. Each line is complete in itself: no code span runs over a line's end. */
function fitting(lines: readonly string[]): readonly string[] {
  let length = 0;
  const fit = lines.findIndex((line) => {
    length += line.length + 1;
    return length > MAX_FINDING_LENGTH;
  });
  return fit === -1 ? lines : [...lines.slice(0, fit), '', '- and more, left out because of its length'];
}

function renderReasons(reasons: readonly Reason[], indent: string): readonly string[] {
  const lines = reasons.slice(0, MAX_REASONS_SHOWN).flatMap((reason) => renderReason(reason, indent));
  if (reasons.length <= MAX_REASONS_SHOWN) {
    return lines;
  }
  return [...lines, `${indent}- and ${reasons.length - MAX_REASONS_SHOWN} more`];
}

function renderReason(reason: Reason, indent: string): readonly string[] {
  if (reason.kind === 'one-of') {
    return [`${indent}- **One of these is enough:**`, ...renderReasons(reason.ways.flat(), `${indent}  `)];
  }
  const expected = reason.wanted ? 'Expected' : 'Not allowed';
  return [
    `${indent}- **${expected}:** ${markdown(reason.expected)}`,
    `${indent}  **Found:** ${markdown(reason.found)}`,
    `${indent}  **To fix:** ${markdown(reason.fix)}`,
  ].map((line, index, all) => (index < all.length - 1 ? `${line}  ` : line));
}

function renderPlace({ path, line, text }: FingerprintedLocation): string {
  const where = code(line === undefined ? path : `${path}:${line}`, MAX_PATH_SHOWN);
  return text === undefined ? where : `${where}: ${code(text.trim())}`;
}

function renderSource({ ruleId, source }: Pick<Finding, 'ruleId' | 'source'>): string {
  const repository = source.repository === undefined ? '' : ` in ${code(source.repository)}`;
  return `${code(ruleId)} on line ${source.line} of ${code(source.path)}${repository}`;
}

function renderFaults({ policyFaults, findings, passed, fixesPolicy }: Verdict): readonly string[] {
  if (policyFaults.length === 0) {
    return [];
  }
  const judged = findings.length + passed.length > 0;
  const lines = [
    '#### 🚫 The policy file cannot be used',
    '',
    judged
      ? 'This pull request changes the policy, and the new one has faults. It was judged by the one on the base branch.'
      : 'No rule could be judged. Somebody who may change the policy file must fix this:',
    '',
    ...policyFaults.slice(0, MAX_FAULTS_SHOWN).map(renderFault),
  ];
  if (policyFaults.length > MAX_FAULTS_SHOWN) {
    lines.push(`- and ${policyFaults.length - MAX_FAULTS_SHOWN} more`);
  }
  lines.push('', 'To see all faults on your machine, run `gatehouse check`.');
  if (fixesPolicy === true) {
    lines.push('', 'This pull request’s own policy file is valid: merging it fixes this.');
  }
  return [lines.join('\n')];
}

function renderFault({ file, line, column, message }: Fault): string {
  return `- ${code(`${file}:${line}:${column}`, MAX_PATH_SHOWN)} ${code(message)}`;
}

function renderPassed({ passed, findings }: Verdict): readonly string[] {
  if (passed.length === 0 || findings.length === 0) {
    return [];
  }
  const one = passed.length === 1;
  return [
    `<details><summary>${passed.length} ${one ? 'rule is' : 'rules are'} met</summary>\n\n${passed.map((id) => code(id)).join(', ')}\n\n</details>`,
  ];
}

function footer({ findings, state }: Verdict): string {
  const source = findings[0]?.source;
  const where = code(source?.path ?? '.gatehouse.yml');
  const after =
    state === 'success'
      ? ''
      : ' It is judged again, and this comment updated, after every push, edit, label and review.';
  return `---\n<sub>Gatehouse checks pull requests against the rules that this repository keeps in ${where}.${after}</sub>`;
}

/** The hidden name of a comment at a line; see fingerprint.ts. */
export function findingMarker(fingerprint: string): string {
  return `<!-- gatehouse:finding ${fingerprint} -->`;
}

/** Reads the fingerprint back from a comment that Gatehouse posted; undefined when it has none. */
export function fingerprintIn(body: string): string | undefined {
  return /^<!-- gatehouse:finding ([0-9a-f]{32}) -->/.exec(body)?.[1];
}

interface RenderedInline extends InlineComment {
  readonly fingerprint: string;
}

export interface RenderedInlines {
  readonly comments: readonly RenderedInline[];
  /** How many places there are beyond those; the review's own comment counts them. */
  readonly more: number;
}

/** The comments at lines, in the order of the findings, at most `limit` of them. */
export function renderInlines(verdict: Verdict, limit = MAX_INLINE_COMMENTS): RenderedInlines {
  const all = verdict.findings.flatMap((finding) =>
    finding.locations.flatMap((place) => (place.line === undefined ? [] : [{ finding, place, line: place.line }])),
  );
  const comments = all.slice(0, limit).map(({ finding, place, line }) => ({
    path: place.path,
    line,
    fingerprint: place.fingerprint,
    body: renderInline(finding, place.fingerprint),
  }));
  return { comments, more: all.length - comments.length };
}

function renderInline(finding: Finding, fingerprint: string): string {
  const { icon, word } = LEVELS[finding.level];
  const lines = [findingMarker(fingerprint), `${icon} **${code(finding.ruleId)}**: ${word}`, ''];
  if (finding.message !== undefined) {
    lines.push(prose(finding.message), '');
  }
  for (const reason of evidence(finding.reasons)) {
    lines.push(`- **Not allowed:** ${markdown(reason.expected)}  `, `  **To fix:** ${markdown(reason.fix)}`);
  }
  return `${[...fitting(lines), `- **The rule:** ${renderSource(finding)}`].join('\n')}\n`;
}

/** The reasons that point at lines. */
function evidence(reasons: readonly Reason[]): readonly Extract<Reason, { kind: 'predicate' }>[] {
  return reasons.flatMap((reason) => {
    if (reason.kind === 'one-of') {
      return evidence(reason.ways.flat());
    }
    return reason.locations.some(({ line }) => line !== undefined) ? [reason] : [];
  });
}
