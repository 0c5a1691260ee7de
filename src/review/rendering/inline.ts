import type { InlineComment } from '../../forges/port/postings.ts';
import type { Finding, Verdict } from '../verdict.ts';
import { iconOf } from './levels.ts';
import { code, prose } from './markdown.ts';

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

/** What the policy's author says. A line is only ever found where it should not be. */
function renderInline(finding: Finding, fingerprint: string): string {
  const what = finding.message === undefined ? `**${code(finding.ruleId)}**` : prose(finding.message);
  return `${findingMarker(fingerprint)}\n${iconOf(finding)} ${what}  \nChange or remove this line.\n`;
}
