import test from 'ava';
import type { Given } from '../../../src/review/cases/given.ts';
import { verdict } from './judge.ts';

const WEB = "require: { checks: { name: ['ci/web*', lint], is: [success, skipped], from: jenkins } }";

const CASES: readonly (readonly [rule: string, checks: NonNullable<Given['checks']>, description: string])[] = [
  [WEB, [], 'Waiting for the checks ci/web*, lint'],
  [WEB, [{ name: 'ci/web-1', by: 'jenkins' }], 'Waiting for the check lint'],
  [WEB, [{ name: 'ci/web-1', by: 'jenkins', state: 'failure' }], 'Waiting for the checks ci/web-1, lint'],
  ['when: { checks: { name: a } }, require: { title: x }', [], 'Waiting for the check a'],
  ['forbid: { checks: { name: a } }', [{ name: 'a' }], 'Waiting for another result of the check a'],
];

for (const [rule, checks, description] of CASES) {
  test(`a status says which checks it waits for: ${description}`, (t) => {
    t.like(verdict(`version: 1\nrules: [{ id: it, ${rule} }]`, { checks }), { state: 'pending', description });
  });
}
