import test from 'ava';
import { translated } from './judge.ts';
import { MERGEABLE } from './mergeable.constructs.ts';
import { testConstructs } from './test-constructs.ts';

testConstructs(test, 'mergeable', MERGEABLE);

test('a rule has the message of its validator, or the comment of its recipe', (t) => {
  const { policy } = translated(
    'mergeable',
    `version: 2
mergeable:
  - when: pull_request.*
    validate:
      - { do: title, begins_with: { match: a, message: Begin with an a. } }
      - { do: label, no_empty: { enabled: true } }
    fail: [{ do: checks }, { do: comment, payload: { body: Set a label. } }]
`,
  );
  t.deepEqual(
    policy.rules.map(({ message }) => message),
    ['Begin with an a.', 'Set a label.'],
  );
});
