import { digestOfRecord, MAX_RECORDED_CHARACTERS, recordedRules } from '../../../src/audit/verdict-record.ts';
import type { EvaluatedRule } from '../../../src/review/evaluation/evaluation.ts';
import type { Location } from '../../../src/review/predicates/predicate.ts';
import { pathList, say } from '../../../src/review/text.ts';
import { PASSED } from '../../helpers/audit.ts';
import test from '../../helpers/test.ts';

function failing(id: string, locations: readonly Location[], title = 'a title'): EvaluatedRule {
  return {
    rule: { id, level: 'error', source: { path: '.gatehouse.yml', line: 1 } },
    outcome: 'failed',
    forbid: {
      kind: 'predicate',
      line: 2,
      name: 'added_lines',
      actor: 'author',
      outcome: 'matched',
      expected: say`a line that matches ${'AKIA'}`,
      found: say`the title ${title}, in ${pathList(['src/a.ts'])}`,
      locations,
      remedy: { toMatch: say`Add it.`, toAvoid: say`Remove it.` },
    },
  };
}

test('of a reason only our own words and paths are recorded, of a place path and line', (t) => {
  const place = { path: 'src/a.ts', line: 3, text: 'key = hunter2', digest: 'f'.repeat(64) };
  t.deepEqual(recordedRules({ rules: [failing('no-keys', [place], 'hunter2')] }), [
    {
      id: 'no-keys',
      level: 'error',
      outcome: 'failed',
      source: { path: '.gatehouse.yml', line: 1 },
      reasons: [
        {
          predicate: 'added_lines',
          wanted: false,
          expected: 'a line that matches …',
          found: 'the title …, in src/a.ts',
        },
      ],
      places: [{ path: 'src/a.ts', line: 3 }],
    },
  ]);
});

/** More than fits. */
const PLACES = Array.from({ length: 200 }, (_, line) => ({ path: `${'long/'.repeat(200)}a.ts`, line: line + 1 }));

test('the largest verdict is recorded with the outcome of every rule, and what fits', (t) => {
  const rules = Array.from({ length: 100 }, (_, index) => failing(`rule-${index}`, PLACES));
  const recorded = recordedRules({ rules });
  t.is(recorded.length, 100);
  t.true(recorded.every(({ outcome }) => outcome === 'failed'));
  t.is(recorded.at(-1)?.leftOut, 201);
  const outcomes = JSON.stringify(recorded.map(({ reasons, places: _, ...rule }) => rule)).length;
  t.true(JSON.stringify(recorded).length < outcomes + 2 * MAX_RECORDED_CHARACTERS);
});

test('observed rules take no room from the reasons of rules in force', (t) => {
  const observed = Array.from({ length: 20 }, (_, index) => failing(`observed-${index}`, PLACES));
  const recorded = recordedRules({
    rules: [
      ...observed.map((one) => ({ ...one, rule: { ...one.rule, level: 'observe' as const } })),
      failing('in-force', [{ path: 'src/a.ts', line: 3 }]),
    ],
  });
  t.deepEqual(recorded.at(-1)?.places, [{ path: 'src/a.ts', line: 3 }]);
  t.true((recorded[0]?.leftOut ?? 0) > 0);
});

test('what PostgreSQL cannot store in JSON is spelled out', (t) => {
  const [rule] = recordedRules({ rules: [failing('no-keys', [{ path: 'a\u0000\ud800.ts', line: 1 }])] });
  t.deepEqual(rule?.places, [{ path: 'a\\u{0}\\u{d800}.ts', line: 1 }]);
});

test('the digest of a record changes with whatever is recorded', (t) => {
  const digests = [
    PASSED,
    { ...PASSED, headSha: 'd'.repeat(40) },
    { ...PASSED, enforced: false },
    { ...PASSED, rules: [] },
    {
      ...PASSED,
      overrides: [{ rule: 'title', login: 'ann', reason: 'hotfix 4711', comment: '7', at: '2026-01-02T03:04:05Z' }],
    },
  ].map((record) => digestOfRecord(record).toString('hex'));
  t.is(new Set(digests).size, digests.length);
  t.deepEqual(digestOfRecord({ ...PASSED }), digestOfRecord(PASSED));
});
