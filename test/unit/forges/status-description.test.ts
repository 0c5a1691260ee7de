import { statusDescription } from '../../../src/forges/port/postings.ts';
import { meaningOfSuccess, NOTHING_REQUIRED, withoutDetails } from '../../../src/review/verdict.ts';
import test from '../../helpers/test.ts';

const described: (text: string, end?: string) => string = statusDescription;

for (const [what, text, expected] of [
  ['plain text', 'Waiting for bob’s approval – 你好', 'Waiting for bob’s approval – 你好'],
  ['characters above U+FFFF', 'on 🔥🔥, 𠮷', 'on \ufffd, \ufffd'],
  ['emoji of several characters', '👩‍🚒🇩🇪 there', '\ufffd there'],
  ['halves of surrogate pairs', 'a\ud83dz\udd25', 'a\ufffdz\ufffd'],
  ['control characters', 'a\u0000\u001bz\u0085', 'a\ufffdz\ufffd'],
  ['marks that change the direction', '\u202eevil\u2066', '\ufffdevil\ufffd'],
  ['lines and spaces', ' one\r\ntwo\t\u2028three\u00a0 ', 'one two three'],
] as const) {
  test(`a description holds ${what}`, (t) => {
    t.is(described(text), expected);
    t.is(described(described(text)), expected);
  });
}

test('a description has at most 140 characters, the end among them', (t) => {
  t.is(described('x'.repeat(141)), `${'x'.repeat(139)}…`);
  t.is(described('🔥 '.repeat(70)), '\ufffd '.repeat(70).trim());
  t.is(described('x'.repeat(200), ' (end\n🔥)'), `${'x'.repeat(131)}… (end \ufffd)`);
});

for (const description of [
  'All 2 rules that apply are met',
  '2 rules overridden: hotfix',
  '#12: 1 rule overridden: hotfix (#13 has this commit too)',
  'Not enforced: 1 rule would fail: titled',
  'Not enforced. This commit has too many statuses to show a verdict: push a new commit',
  NOTHING_REQUIRED,
]) {
  test(`without details a status means the same: ${description}`, (t) => {
    const status = { context: 'gatehouse', state: 'success', description: statusDescription(description) } as const;
    const plain = withoutDetails({ ...status, targetUrl: 'https://forge.example.test/' });
    t.is(plain.state, 'success');
    t.is(meaningOfSuccess(plain.description), meaningOfSuccess(description));
    t.is(plain.targetUrl, undefined);
  });
}
