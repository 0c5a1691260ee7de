import { COMMAND_WORD, overrideLine } from '../../forges/port/command.ts';
import { MAX_REASON_LENGTH } from '../limits.ts';
import type { Overrides, RefusedOverride } from '../overrides/override.ts';
import { quotedList } from '../text.ts';
import type { Finding } from '../verdict.ts';
import { OVERRIDDEN } from './levels.ts';
import { code, codeInCell, markdown } from './markdown.ts';

const MAX_REFUSED_SHOWN = 5;
const MAX_RULES_SHOWN = 10;

/** The row of a rule that is overridden; none of any other. */
export function overriddenRow({ ruleId, override }: Finding): readonly string[] {
  if (override === undefined) {
    return [];
  }
  const why = codeInCell(override.reason, MAX_REASON_LENGTH);
  return [`| ${OVERRIDDEN} | ${codeInCell(ruleId)} | ${codeInCell(override.by)}: ${why} |`];
}

/** The commands that do not count, with the reason, and the lines to copy. */
export function renderOverrides(overrides: Overrides | undefined): readonly string[] {
  return overrides === undefined ? [] : [...refusals(overrides), ...lines(overrides)];
}

/** The newest of them, where there is something left to override. */
function refusals({ complete, refused, possible }: Overrides): readonly string[] {
  if (!complete) {
    return ['Gatehouse can’t read the comments, or there are too many: no override counts.'];
  }
  if (refused.length === 0 || possible.length === 0) {
    return [];
  }
  const shown = refused.slice(-MAX_REFUSED_SHOWN).map(refusal);
  const more = refused.length > shown.length ? [`- and ${refused.length - shown.length} older ones`] : [];
  return [['Overrides that do not count:', '', ...shown, ...more].join('\n')];
}

function refusal({ ruleId, author, why }: RefusedOverride): string {
  const of = ruleId === '' ? '' : ` of ${code(ruleId)}`;
  const by = author === null ? '' : ` by ${code(author)}`;
  return `- The override${of}${by} ${markdown(why)}.`;
}

/** Each group of people with the rules that they may override. */
function lines({ headSha, possible }: Overrides): readonly string[] {
  if (possible.length === 0) {
    return [];
  }
  const groups = Map.groupBy(possible.slice(0, MAX_RULES_SHOWN), ({ by }) => markdown(quotedList(by)));
  return [
    [
      '<details><summary>Override</summary>',
      '',
      ...[...groups].flatMap(([names, rules]) => [
        `${names} can override a rule for this commit with a new comment. Make this its first line, with your reason at the end:`,
        '',
        '```',
        ...rules.map(({ ruleId }) => `${overrideLine(ruleId, headSha)} `),
        '```',
        '',
      ]),
      ...(possible.length > MAX_RULES_SHOWN
        ? [`The other ${possible.length - MAX_RULES_SHOWN} rules can be overridden the same way.`, '']
        : []),
      `Anyone who opened the pull request or made one of its commits can’t override it. To have it judged again, comment ${code(`${COMMAND_WORD} recheck`)}.`,
      '',
      '</details>',
    ].join('\n'),
  ];
}
