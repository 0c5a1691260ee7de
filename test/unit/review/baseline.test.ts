import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import { factsOf } from '../../../src/facts/table.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { RepositoryNow, Visibility } from '../../../src/forges/port/pull-request.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { redacted } from '../../../src/review/evaluation/redact.ts';
import { overridersOf } from '../../../src/review/overrides/override.ts';
import { isHiddenIn } from '../../../src/review/policy/load.ts';
import { hideRules, mergeBaseline } from '../../../src/review/policy/merge.ts';
import { type PolicyRole, parsePolicy } from '../../../src/review/policy/parse.ts';
import type { Policy } from '../../../src/review/policy/policy.ts';
import { renderReview } from '../../../src/review/rendering/comment.ts';
import { linksOf } from '../../../src/review/rendering/links.ts';
import { verdictOf } from '../../../src/review/verdict.ts';
import test from '../../helpers/test.ts';
import { policyOf } from './judge.ts';

const ORIGIN = { path: '.gatehouse.yml', repository: 'octo/.gatehouse' };

function rulesOf(rules: string, role: PolicyRole = 'own', head = ''): Policy {
  return policyOf(`version: 1\n${head}rules:\n${rules}`, role === 'own' ? undefined : ORIGIN, role);
}

const LOCKED = '- { id: small, locked: true, require: { changed_files: "<= 1" } }\n';
const OPEN = '- { id: titled, require: { title: "^feat: " } }\n';
const BASELINE = rulesOf(LOCKED + OPEN, 'baseline');

const outcomes = (policy: Policy, given: Given) =>
  Object.fromEntries(
    evaluate(policy, factsOf(given)).rules.map(({ rule, outcome }) => [rule.id, [rule.level, outcome]]),
  );

const LARGE: Given = { files: [{ path: 'a' }, { path: 'b' }], title: 'things' };

for (const [what, rule] of Object.entries({
  'a rule that is only observed': '{ id: small, level: observe, require: { changed_files: "<= 1" } }',
  'a lower level': '{ id: small, level: info, require: { changed_files: "<= 1" } }',
  'a when that never holds': '{ id: small, when: { author: nobody }, require: { changed_files: "<= 1" } }',
  'an easier condition': '{ id: small, require: { changed_files: "<= 9" } }',
  'its opposite': '{ id: small, forbid: { changed_files: "<= 1" } }',
  'the same, with an escaped id': '{ "id": "sm\\u0061ll", level: info, require: { draft: false } }',
  'an alias': '&other { id: small, level: warn, require: { draft: false } }',
})) {
  test(`a locked rule of the baseline is not replaced by ${what}`, (t) => {
    const own = rulesOf(`- ${rule}\n`);
    const merged = outcomes(mergeBaseline(BASELINE, own), LARGE);
    t.deepEqual(merged['small@baseline'], ['error', 'failed']);
    t.deepEqual(merged['small'], outcomes(own, LARGE)['small'], 'both are judged');
  });
}

test('a baseline never takes away a rule of a repository, or lets others override it', (t) => {
  const own = rulesOf('- { id: titled, require: { title: "^feat: " } }\n- { id: ready, require: { label: ready } }\n');
  const rules =
    '- { id: titled, locked: true, level: info, require: { title: . } }\n- { id: ready, require: { title: . } }\n';
  const merged = mergeBaseline(rulesOf(rules, 'baseline', 'override: { by: mallory }\n'), own);
  t.deepEqual(outcomes(merged, LARGE), {
    'titled@baseline': ['info', 'passed'],
    ready: ['error', 'failed'],
    titled: ['error', 'failed'],
  });
  t.deepEqual(overridersOf(merged, { id: 'titled@baseline' })?.people, ['mallory']);
  t.is(overridersOf(merged, { id: 'titled' }), undefined);
  t.is(overridersOf(merged, { id: 'ready' }), undefined);
});

test('no id of a policy is one that a locked rule gets beside it', (t) => {
  t.throws(() => rulesOf('- { id: small@baseline, require: { draft: false } }\n'), { message: /a name of letters/ });
});

test('a rule of the baseline that is not locked can be replaced', (t) => {
  const own = rulesOf('- { id: titled, level: info, require: { title: "^fix: " } }\n');
  const merged = mergeBaseline(BASELINE, own);
  t.deepEqual(outcomes(merged, LARGE), { small: ['error', 'failed'], titled: ['info', 'failed'] });
});

test('rules of the repository come after those of the baseline', (t) => {
  const merged = mergeBaseline(BASELINE, rulesOf('- { id: own, require: { label: ready } }\n'));
  t.deepEqual(
    merged.rules.map(({ id, source }) => [id, source.repository]),
    [
      ['small', 'octo/.gatehouse'],
      ['titled', 'octo/.gatehouse'],
      ['own', undefined],
    ],
  );
});

test('only those whom the baseline names override its locked rules', (t) => {
  const by = (who: string) => (who === '' ? '' : `override: { by: ${who} }\n`);
  const ready = '- { id: ready, require: { label: ready } }\n';
  for (const [first, own, expected] of [
    ['', 'mallory', { small: undefined, titled: ['mallory'], ready: ['mallory'] }],
    ['ada', 'mallory', { small: ['ada'], titled: ['mallory'], ready: ['mallory'] }],
    ['ada', '', { small: ['ada'], titled: ['ada'], ready: undefined }],
    ['', '', { small: undefined, titled: undefined, ready: undefined }],
  ] as const) {
    const merged = mergeBaseline(rulesOf(LOCKED + OPEN, 'baseline', by(first)), rulesOf(ready, 'own', by(own)));
    const found = (id: string) => overridersOf(merged, { id })?.people;
    t.deepEqual<unknown, unknown>({ small: found('small'), titled: found('titled'), ready: found('ready') }, expected);
  }
});

test('an id of another case is another rule, and the locked one stays', (t) => {
  const merged = mergeBaseline(BASELINE, rulesOf('- { id: Small, level: info, require: { draft: false } }\n'));
  t.deepEqual(outcomes(merged, LARGE)['small'], ['error', 'failed']);
});

test('a repository cannot show less than the comments that the baseline names', (t) => {
  const own = (comments: string) => rulesOf(OPEN, 'own', comments === '' ? '' : `comments: ${comments}\n`);
  const baseline = (comments: string) => rulesOf(LOCKED, 'baseline', comments === '' ? '' : `comments: ${comments}\n`);
  for (const [first, second, merged] of [
    ['summary', 'off', 'summary'],
    ['off', 'all', 'all'],
    ['all', '', 'all'],
    ['', 'off', 'all'],
    ['', 'summary', 'all'],
    ['off', '', 'off'],
    ['', '', undefined],
  ] as const) {
    t.is(mergeBaseline(baseline(first), own(second)).comments, merged, `${first} and ${second}`);
  }
});

test('locked rules are a fault outside a baseline; `locked: false` and `extends` are faults in one', (t) => {
  for (const [role, text, fault] of [
    ['own', `rules:\n${LOCKED}`, /^"locked" has an effect only in the organisation’s/],
    ['extended', `rules:\n${LOCKED}`, /^"locked" has an effect only in the organisation’s/],
    ['baseline', `rules:\n${LOCKED.replace('true', 'false')}`, /./],
    ['baseline', `extends: octo/p@main\nrules:\n${LOCKED}`, /baseline cannot extend/],
  ] as const) {
    const parsed = parsePolicy(`version: 1\n${text}`, ORIGIN, role);
    t.regex(parsed.ok ? '' : (parsed.faults[0]?.message ?? ''), fault, text);
  }
});

const SECRETS = `- id: no-secrets
  message: Ask security.
  example: hunter2
  forbid: { added_lines: 'sesame-\\d+', in: 'vault/**' }
- id: two-people
  require: { approvals: { count: 2, from: ['@octo/red-team'] } }
- id: long
  require: { commits: { every: { message: 'PROJECT-X' } } }
- id: met
  require: { title: 'feat' }
`;

test('a hidden rule shows its id and message, and nothing of its conditions', (t) => {
  const given: Given = {
    title: 'feat: x',
    files: [{ path: 'vault/a', added: ['sesame-1'] }],
    commits: [{ message: 'x' }],
    commits_complete: false,
  };
  const policy = hideRules(rulesOf(SECRETS, 'baseline'));
  const evaluation = evaluate(policy, factsOf(given));
  const [verdict, real] = [verdictOf(redacted(evaluation)), verdictOf(evaluation)];
  const said = ({ state, findings }: typeof real) => [
    state,
    ...findings.map(({ ruleId, level, outcome }) => [ruleId, level, outcome]),
  ];
  t.deepEqual(said(verdict), said(real));
  t.deepEqual(verdict.passed, ['met']);
  const links = linksOf('gitea', pullRequestOf(given), { baseSha: 'a'.repeat(40) });
  const shown = verdict.description + renderReview(verdict, { links, enforce: true }) + JSON.stringify(verdict);
  t.regex(shown, /Ask security/);
  t.regex(shown, /no-secrets/);
  t.notRegex(shown, /sesame|vault|hunter2|red-team|PROJECT-X|2 approvals/);
  t.deepEqual(
    verdict.findings.flatMap(({ locations }) => locations),
    [],
  );
});

test('a hidden rule that waits for others is still waited for', (t) => {
  const policy = hideRules(rulesOf("- { id: two, require: { approvals: { from: ['bob'] } } }\n", 'baseline'));
  const verdict = verdictOf(redacted(evaluate(policy, factsOf())));
  t.like(verdict, { state: 'pending', description: 'Waiting for the rule two' });
});

/** Where the conditions of a policy of this visibility are hidden, and where they are shown. */
type ShownIn = Visibility | undefined;
const HIDDEN_IN: Readonly<
  Record<Visibility, { readonly hidden: readonly ShownIn[]; readonly shown: readonly ShownIn[] }>
> = {
  public: { hidden: [], shown: ['public', 'internal', 'private', undefined] },
  internal: { hidden: ['public', undefined], shown: ['internal', 'private'] },
  private: { hidden: ['public', 'internal', undefined], shown: ['private'] },
};

for (const [policy, { hidden, shown }] of Object.entries(HIDDEN_IN)) {
  test(`the conditions of a policy that is ${policy} are hidden from those who may not see it`, async (t) => {
    for (const visibility of [...hidden, ...shown]) {
      const forge: Partial<Forge> = { repository: async () => ({ ...({} as RepositoryNow), visibility }) };
      const isHidden = await isHiddenIn(forge as Forge, policy as Visibility, 'octo/site');
      t.is(isHidden, hidden.includes(visibility), visibility);
    }
  });
}
