import test from 'ava';
import { translated } from './judge.ts';
import { POLICY_BOT } from './policy-bot.constructs.ts';
import { testConstructs } from './test-constructs.ts';

testConstructs(test, 'policy-bot', POLICY_BOT);

test('a remote policy becomes one that is extended', (t) => {
  const { policy, lost } = translated('policy-bot', 'remote: octo/policies\npath: a.yml\nref: main\n');
  t.deepEqual(policy.extends, { repository: 'octo/policies', ref: 'main' });
  t.deepEqual(lost, []);
});

test('nothing of a remote policy gets into the printed one but its names', (t) => {
  for (const ref of ['"main\\nrules: []"', "'a b'", "'../x'", "'a: b'"]) {
    const { policy, lost } = translated('policy-bot', `remote: octo/policies\nref: ${ref}\n`);
    t.is(policy.extends, undefined, ref);
    t.deepEqual(lost, [1], ref);
  }
});
