import { statusDescription } from '../../../src/forges/port/postings.ts';
import { meaningOfSuccess, NOTHING_REQUIRED, withoutDetails } from '../../../src/review/verdict.ts';
import test from '../../helpers/test.ts';

const described: (text: string, end?: string) => string = statusDescription;

test('a description is one line of characters that every forge stores and shows', (t) => {
  for (const [text, expected] of [
    ['Waiting for bob’s approval – 你好', 'Waiting for bob’s approval – 你好'],
    ['on 🔥🔥, 𠮷', 'on \ufffd, \ufffd'],
    ['👩‍🚒🇩🇪 there', '\ufffd there'],
    ['a\ud83dz\udd25', 'a\ufffdz\ufffd'],
    ['a\u0000\u001bz\u0085', 'a\ufffdz\ufffd'],
    ['\u202eevil\u2066', '\ufffdevil\ufffd'],
    [' one\r\ntwo\t\u2028three\u00a0 ', 'one two three'],
  ] as const) {
    t.is(described(text), expected);
    t.is(described(expected), expected);
  }
});

test('a description has at most 140 characters, the end among them', (t) => {
  t.is(described('x'.repeat(141)), `${'x'.repeat(139)}…`);
  t.is(described('🔥 '.repeat(70)), '\ufffd '.repeat(70).trim());
  t.is(described('x'.repeat(200), ' (end\n🔥)'), `${'x'.repeat(131)}… (end \ufffd)`);
});

test('without details a status means the same', (t) => {
  for (const description of [
    'All 2 rules that apply are met',
    '2 rules overridden: hotfix',
    '#12: 1 rule overridden: hotfix (#13 has this commit too)',
    'Not enforced: 1 rule would fail: titled',
    'Not enforced. This commit has too many statuses to show a verdict: push a new commit',
    NOTHING_REQUIRED,
  ]) {
    const status = { context: 'gatehouse', state: 'success', description: statusDescription(description) } as const;
    const plain = withoutDetails({ ...status, targetUrl: 'https://forge.example.test/' });
    t.is(meaningOfSuccess(plain.description), meaningOfSuccess(description));
    t.like(plain, { state: 'success', targetUrl: undefined });
  }
});
