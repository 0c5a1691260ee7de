import type { FailedCase } from '../cases/outcomes.ts';
import type { Verdict } from '../evaluation/verdict.ts';
import type { ProposedCases } from '../proposal/proposal.ts';
import { renderFault } from './faults.ts';
import { code } from './markdown.ts';

const MAX_FAULTS_SHOWN = 10;
const MAX_NAME_SHOWN = 100;
const MAX_RULES_SHOWN = 5;

/** What a pull request that changes the policy, or its cases, would bring in. */
export function renderProposal({ proposal }: Verdict): readonly string[] {
  return proposal === undefined ? [] : [renderCases(proposal.cases)].filter((part) => part !== '');
}

function renderCases(cases: ProposedCases): string {
  switch (cases.kind) {
    case 'none':
      return '';
    case 'faulty': {
      const { faults } = cases;
      const shown = faults.slice(0, MAX_FAULTS_SHOWN).map(renderFault);
      const more = faults.length > shown.length ? [`- and ${faults.length - shown.length} more`] : [];
      return ['**The cases cannot be run:**', '', ...shown, ...more, '', TRY].join('\n');
    }
    case 'run': {
      const { passed, failed, failures, notRun, ofPrivateRules } = cases;
      const counts = [
        `${passed} passed`,
        `${failures} failed`,
        ...(notRun === 0 ? [] : [`${notRun} not run, because they take too much time or memory`]),
        ...(ofPrivateRules === 0 ? [] : [`${ofPrivateRules} not run, because they name rules of a private policy`]),
      ].join(', ');
      const more = failures > failed.length ? [`- and ${failures - failed.length} more`] : [];
      const head = `**Cases of the policy as proposed:** ${counts}.`;
      return failures === 0 ? head : [head, '', ...failed.map(renderFailed), ...more, '', TRY].join('\n');
    }
  }
}

const TRY = 'To run them on your machine: `gatehouse test`.';

function renderFailed({ file, line, name, rules }: FailedCase): string {
  const shown = rules
    .slice(0, MAX_RULES_SHOWN)
    .map(({ rule, expected, found }) => `${code(rule)} is expected as “${expected}” and found as “${found}”`);
  const more = rules.length > shown.length ? [`${rules.length - shown.length} more rules`] : [];
  const named = name === undefined ? '' : ` ${code(name, MAX_NAME_SHOWN)}`;
  return `- ${code(`${file}:${line}`)}${named}: ${[...shown, ...more].join('; ')}`;
}
