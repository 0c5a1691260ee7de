import type { Fault } from '../policy/faults.ts';
import type { Verdict } from '../verdict.ts';
import { code } from './markdown.ts';

const MAX_FAULTS_SHOWN = 20;
const MAX_PATH_SHOWN = 200;

/** What is wrong with the policy file itself. */
export function renderFaults({ policyFaults, findings, passed, fixesPolicy }: Verdict): readonly string[] {
  if (policyFaults.length === 0) {
    return [];
  }
  const judged = findings.length + passed.length > 0;
  const lines = [
    judged
      ? '**The policy as this pull request changes it has faults.** It was judged by the one on the base branch.'
      : '**No rule could be judged.** Someone who can change the policy file must fix it:',
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
