import type { Reason } from '../evaluation/reasons.ts';
import { joinTexts, say, type Text } from '../text.ts';
import type { Finding, Verdict } from '../verdict.ts';
import type { Links } from './links.ts';
import { code, link, markdown } from './markdown.ts';

/** Characters of what one rule says. */
const MAX_RULE_LENGTH = 4_000;

/** The rules behind the findings, with their patterns and where they are, folded away. */
export function renderRules({ findings, passed }: Verdict, links: Links, maxLength: number): readonly string[] {
  if (findings.length === 0) {
    return [];
  }
  let length = 0;
  const lines = findings.map((finding) => renderRule(finding, links));
  const fit = lines.findIndex((line) => {
    length += line.length + 1;
    return length > maxLength;
  });
  const shown = fit === -1 ? lines : lines.slice(0, fit);
  const met = passed.map((id) => code(id)).join(', ');
  const end = [
    ...(shown.length < lines.length ? [`- and ${lines.length - shown.length} more`] : []),
    ...(passed.length > 0 && length + met.length < maxLength ? [`- met: ${met}`] : []),
  ];
  return [['<details><summary>Rules</summary>', '', ...shown, ...end, '', '</details>'].join('\n')];
}

function renderRule(finding: Finding, links: Links): string {
  const { ruleId, source } = finding;
  const url = links.rule(source);
  const from = source.repository === undefined ? '' : ` in ${code(source.repository)}`;
  const at = finding.hidden ? ` (private${from})` : ` (line ${source.line} of ${code(source.path)}${from})`;
  const where = url === undefined ? at : '';
  const text = markdown(explained(finding.reasons));
  const said = text === '' || text.length > MAX_RULE_LENGTH ? '' : `: ${text}`;
  return `- ${link(code(ruleId), url)}${where}${said}`;
}

/** What the rule asks for, with the whole of its patterns. */
function explained(reasons: readonly Reason[]): Text {
  return joinTexts(
    reasons.map((reason) => {
      if (reason.kind === 'one-of') {
        const ways = joinTexts(
          reason.ways.map((way) => explained(way)),
          ', or ',
        );
        return reasons.length === 1 ? ways : say`(${ways})`;
      }
      const { inWhen, wanted, expected } = reason;
      if (inWhen) {
        return [];
      }
      return wanted ? expected : say`not allowed: ${expected}`;
    }),
    '; ',
  );
}
