import { escapeMarkup } from '../../common/escape-markup.ts';
import type { CaseResult } from '../cases/run.ts';
import { visible } from '../text.ts';
import { failureLines, titleOf } from './cases.ts';

/** The results as JUnit XML, which CI systems show. */
export function junitXml(results: readonly CaseResult[], seconds: number): string {
  const failures = results.filter(({ passed }) => !passed).length;
  const totals = `tests="${results.length}" failures="${failures}" errors="0" skipped="0" time="${seconds.toFixed(3)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${totals}>
  <testsuite name="gatehouse test" ${totals}>
${results.map(testCase).join('')}  </testsuite>
</testsuites>
`;
}

function testCase(result: CaseResult): string {
  const { file, line } = result.case;
  const head = `    <testcase classname="${escapeXml(file)}" name="${escapeXml(titleOf(result.case))}" file="${escapeXml(file)}" line="${line}" time="0"`;
  if (result.passed) {
    return `${head}/>\n`;
  }
  const lines = failureLines(result);
  return `${head}>
      <failure message="${escapeXml(lines[0] ?? '')}">${escapeXml(lines.join('\n'))}</failure>
    </testcase>
`;
}

/** For elements and attributes. XML cannot have control characters, not even as references. */
function escapeXml(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeMarkup(visible(line)))
    .join('\n');
}
