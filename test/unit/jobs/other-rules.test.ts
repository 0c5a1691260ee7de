import type { Forge } from '../../../src/forges/port/forge.ts';
import { readPresentRules } from '../../../src/jobs/resync/other-rules.ts';
import { NO_OPERATOR_POLICIES } from '../../helpers/policies.ts';
import test from '../../helpers/test.ts';

const REVIEW = {
  ...{ repository: 'acme/widgets', number: 1, baseBranch: 'main' },
  rules: { format: 1, baseSha: 'base' },
};

for (const [what, change, isFound] of [
  ['as it was', {}, false],
  ['without rules', { rules: null }, true],
  ['of another format', { rules: { ...REVIEW.rules, format: 0 } }, true],
  ['by a baseline that is gone', { rules: { ...REVIEW.rules, baselineDigest: 'gone' } }, true],
] as const) {
  test(`a resync requests what may be judged otherwise now: one ${what}`, async (t) => {
    const forge: Partial<Forge> = { machineAccounts: [] };
    const rules = readPresentRules({ ...NO_OPERATOR_POLICIES, forge: forge as Forge });
    const found = await rules.outdated([{ ...REVIEW, ...change }], () => 'base');
    t.is(found.length > 0, isFound);
  });
}

test('a review into a branch that is gone is requested', async (t) => {
  const forge: Partial<Forge> = { machineAccounts: [] };
  const rules = readPresentRules({ ...NO_OPERATOR_POLICIES, forge: forge as Forge });
  t.is((await rules.outdated([REVIEW], () => null)).length, 1);
});
