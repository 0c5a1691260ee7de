import type { InlineComment } from '../../forges/port/postings.ts';
import type { Reason } from '../evaluation/reasons.ts';
import type { Finding, Verdict } from '../verdict.ts';
import { iconOf } from './levels.ts';
import { code, markdown, prose } from './markdown.ts';

/** More comments at lines than this are not helpful; the main comment names the other places. */
const MAX_INLINE_COMMENTS = 30;

/** The hidden name of a comment at a line; see fingerprint.ts. */
export function findingMarker(fingerprint: string): string {
  return `<!-- gatehouse:finding ${fingerprint} -->`;
}

/** Reads the fingerprint back from a comment that Gatehouse posted; undefined when it has none. */
export function fingerprintIn(body: string): string | undefined {
  return /^<!-- gatehouse:finding ([0-9a-f]{32}) -->/.exec(body)?.[1];
}

export interface RenderedInline extends InlineComment {
  readonly fingerprint: string;
}

/** The comments at lines, in the order of the findings, at most `limit` of them. */
export function renderInlines({ findings }: Verdict, limit = MAX_INLINE_COMMENTS): readonly RenderedInline[] {
  return findings
    .filter(({ override }) => override === undefined)
    .flatMap((finding) =>
      finding.locations.flatMap(({ path, line, fingerprint }) =>
        line === undefined ? [] : [{ path, line, fingerprint, body: renderInline(finding, fingerprint) }],
      ),
    )
    .slice(0, limit);
}

/** What the policy's author says, and how to fix it. Everything else is in the main comment. */
function renderInline(finding: Finding, fingerprint: string): string {
  const fixes = new Set(evidence(finding.reasons).map(({ fix }) => markdown(fix)));
  const what = finding.message === undefined ? `**${code(finding.ruleId)}**` : prose(finding.message);
  return `${findingMarker(fingerprint)}\n${iconOf(finding)} ${what}  \n${[...fixes].join(' ')}\n`;
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
