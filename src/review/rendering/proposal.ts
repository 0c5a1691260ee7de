import type { FailedCase, JudgedCases } from '../cases/judge-cases.ts';
import { MAX_PREVIEW_REQUESTS, MAX_PREVIEWED } from '../limits.ts';
import type { Impact, ImpactOn } from '../proposal/proposal.ts';
import type { Verdict } from '../verdict.ts';
import { renderFault } from './faults.ts';
import { code } from './markdown.ts';

const MAX_FAULTS_SHOWN = 10;
const MAX_NAME_SHOWN = 100;
const MAX_RULES_SHOWN = 5;

/** What a pull request that changes the policy, or its cases, would bring in. */
export function renderProposal({ proposal }: Verdict): readonly string[] {
  if (proposal === undefined) {
    return [];
  }
  const { cases, impact } = proposal;
  return [renderCases(cases), ...(impact === undefined ? [] : [renderImpact(impact)])].filter((part) => part !== '');
}

/** Numbers are in code spans: a reference would notify everybody who follows these pull requests. */
function renderImpact({ judged, leftOut }: Impact): string {
  const changes = judged.filter(({ state, now }) => state !== 'success' || !PASSING.includes(now));
  const others = judged.length - changes.length;
  const rest = [
    ...(others === 0 ? [] : [`- ${others} would pass, as now`]),
    ...(leftOut === 0
      ? []
      : [
          `- ${leftOut} were not judged: the limits are ${MAX_PREVIEWED} pull requests and ${MAX_PREVIEW_REQUESTS} requests`,
        ]),
  ];
  if (judged.length === 0 && leftOut === 0) {
    return '';
  }
  return [
    '**Other open pull requests by the policy as proposed:**',
    '',
    ...changes.map(renderOne),
    ...rest,
    '',
    'They were judged once, when this policy was proposed, without overrides and without teams that the present policy does not ask for.',
  ].join('\n');
}

/** States of pull requests that are not stopped today. One that is not judged yet counts as such. */
const PASSING: readonly (string | null)[] = ['success', 'none', null];
const WOULD = { failure: 'would fail', pending: 'would wait', error: 'could not be judged', success: 'would pass' };
const NOW: Readonly<Record<string, string>> = {
  success: 'passes',
  none: 'passes',
  failure: 'fails',
  pending: 'waits',
  error: 'cannot be judged',
};

function renderOne({ number, state, rules, now }: ImpactOn): string {
  const shown = rules.slice(0, MAX_RULES_SHOWN).map((rule) => code(rule));
  const more = rules.length > shown.length ? [`${rules.length - shown.length} more`] : [];
  const why = rules.length === 0 ? '' : `: ${[...shown, ...more].join(', ')}`;
  const present = now === null ? '' : ` (now: ${NOW[now] ?? 'not judged'})`;
  return `- ${code(`#${number}`)} ${WOULD[state]}${why}${present}`;
}

function renderCases(cases: JudgedCases): string {
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
