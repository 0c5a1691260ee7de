import { commandIn } from '../../src/forges/port/command.ts';
import test from '../helpers/test.ts';

const HEAD = 'b'.repeat(40);

test('an override has a rule, a commit, and the rest of the line as its reason', (t) => {
  const command = { kind: 'override', ruleId: 'titled', commit: HEAD, reason: 'hotfix 4711, see chat' } as const;
  const line = `/gatehouse override titled ${HEAD} hotfix 4711, see chat`;
  t.deepEqual(commandIn(line), command);
  t.deepEqual(commandIn(`${line}  \r\nmore\r\nlines`), command);
  t.deepEqual(commandIn(`${line}\rmore`), command);
  t.deepEqual(commandIn(`/gatehouse  override  titled  ${HEAD}  hotfix 4711, see chat`), command);
});

test('what is missing of a command to override is empty, and recheck stands alone', (t) => {
  t.deepEqual(commandIn('/gatehouse override'), { kind: 'override', ruleId: '', commit: '', reason: '' });
  t.deepEqual(commandIn('/gatehouse override a '), { kind: 'override', ruleId: 'a', commit: '', reason: '' });
  t.deepEqual(commandIn('/gatehouse recheck \r\nplease'), { kind: 'recheck' });
});

test('a command may be typed on a phone', (t) => {
  for (const recheck of [
    '/gatehouse recheck',
    '/Gatehouse recheck',
    '/GATEHOUSE Recheck',
    '/Gatehouse recheck. ',
    '/gatehouse recheck…',
    '/gatehouse\trecheck',
    '/gatehouse\u00a0recheck\u00a0',
    '/gatehouse \u202f recheck\r',
  ]) {
    t.deepEqual(commandIn(recheck), { kind: 'recheck' }, JSON.stringify(recheck));
  }
  const override = { kind: 'override', ruleId: 'Titled', commit: HEAD, reason: 'it’s “urgent”.' } as const;
  t.deepEqual(commandIn(`/Gatehouse\u00a0Override Titled ${HEAD}  it’s\u00a0“urgent”. `), override);
});

test('anything else after /gatehouse is an unknown command', (t) => {
  const alone = ['/gatehouse', '/gatehouse ', '/Gatehouse.'];
  const misspelled = ['/Gatehouse: recheck', '/gatehouse overide x', '/gatehouse re.check', '/gatehouse recheck .'];
  for (const text of [...alone, ...misspelled, '/gatehouse recheck please']) {
    t.deepEqual(commandIn(text), { kind: 'unknown' }, text);
  }
});

const OVERRIDE = `/gatehouse override titled ${HEAD} hotfix`;
for (const [what, text] of [
  ['a quotation', `> ${OVERRIDE}`],
  ['a fenced code block', `\`\`\`\n${OVERRIDE}\n\`\`\``],
  ['a code block by indentation', `    ${OVERRIDE}`],
  ['one leading space', ` ${OVERRIDE}`],
  ['a tab before it', `\t${OVERRIDE}`],
  ['a code span', `\`${OVERRIDE}\``],
  ['the second line', `Please:\n${OVERRIDE}`],
  ['the line after an empty one', `\r\n${OVERRIDE}`],
  ['details', `<details>\n\n${OVERRIDE}\n</details>`],
  ['details in one line', `<details>${OVERRIDE}</details>`],
  ['an HTML comment before it', `<!-- -->${OVERRIDE}`],
  ['a byte order mark', `\ufeff${OVERRIDE}`],
  ['a zero-width space', `\u200b${OVERRIDE}`],
  ['a right-to-left mark', `\u200f${OVERRIDE}`],
  ['another slash', OVERRIDE.replace('/', '\u2215')],
  ['a look-alike letter', OVERRIDE.replace('a', '\u0430')],
  ['a letter that is upper case alone', OVERRIDE.replace('s', '\u017f')],
  ['a list', `- ${OVERRIDE}`],
  ['a longer word', '/gatehouse-keeper override x'],
  ['a word that begins alike', '/Gatehouses'],
  ['nothing', ''],
] as const) {
  test(`${what} is no command`, (t) => {
    t.is(commandIn(text), undefined);
  });
}
