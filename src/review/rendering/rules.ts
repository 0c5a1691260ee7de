import type { Reason } from '../evaluation/reasons.ts';
import { joinTexts, say, type Text } from '../text.ts';
import type { Finding, Verdict } from '../verdict.ts';
import { fittingCount } from './fit.ts';
import type { Links } from './links.ts';
import { code, link, markdown } from './markdown.ts';

/** Characters of what one rule says. */
const MAX_RULE_LENGTH = 4_000;

/** The rules behind the findings, with their patterns and where they are, folded away. */
export function renderRules({ findings, passed }: Verdict, links: Links, maxLength: number): readonly string[] {
  if (findings.length === 0) {
    return [];
  }
  const lines = findings.map((finding) => `${renderRule(finding, links)}\n`);
  const shown = lines.slice(0, fittingCount(lines, maxLength));
  const met = passed.map((id) => code(id)).join(', ');
  const more = shown.length < lines.length ? `- and ${lines.length - shown.length} more\n` : '';
  const listed = `${shown.join('')}${more}`;
  const end = passed.length > 0 && listed.length + met.length < maxLength ? `- met: ${met}\n` : '';
  return [`<details><summary>Rules</summary>\n\n${listed}${end}\n</details>`];
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
  const asked = reasons.filter((reason) => reason.kind === 'one-of' || !reason.inWhen);
  return joinTexts(
    asked.map((reason) => {
      if (reason.kind === 'predicate') {
        return reason.wanted ? reason.expected : say`not: ${reason.expected}`;
      }
      const ways = joinTexts(
        reason.ways.map((way) => (way.length === 1 ? explained(way) : say`(${explained(way)})`)),
        ', or ',
      );
      return asked.length === 1 ? ways : say`(${ways})`;
    }),
    ', and ',
  );
}
