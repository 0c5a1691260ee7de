import { PassThrough } from 'node:stream';
import test from 'ava';
import { questionsOn, resolve, UNATTENDED } from '../../src/commands/setup/questions.ts';
import { until } from '../helpers/until.ts';

function terminal() {
  const input = new PassThrough();
  let printed = '';
  const questions = questionsOn(input, {
    write(text) {
      printed += text;
    },
  });
  return { input, questions, printed: () => printed };
}

test('a secret is not printed, neither when it is typed nor with the arrow keys', async (t) => {
  const { input, questions, printed } = terminal();
  const secret = questions.ask({ text: 'Token', option: 'TOKEN', hidden: true });
  await until(() => printed().includes('Token: '));
  input.write('s3cr3t-value\n');
  t.is(await secret, 's3cr3t-value');
  const name = questions.ask({ text: 'Name', option: '--name' });
  await until(() => printed().includes('Name: '));
  input.write('\u001b[A');
  input.write('alice\n');
  t.is(await name, 'alice');
  t.false(printed().includes('s3cr3t'), printed());
  t.true(printed().includes('alice'));
});

test('a question is asked again until the answer has no fault', async (t) => {
  const { input, questions, printed } = terminal();
  const fault = (text: string) => (text === 'b' ? undefined : 'it must be b');
  const asked = questions.ask({ text: 'Letter', option: '--letter', fault });
  await until(() => printed().includes('Letter: '));
  input.write('\n');
  await until(() => printed().includes('an answer is required'));
  input.write('a\n');
  await until(() => printed().includes('it must be b'));
  input.write('b\n');
  t.is(await asked, 'b');
});

test('an empty line is the fallback, and yes for a confirmation', async (t) => {
  const { input, questions, printed } = terminal();
  const asked = questions.ask({ text: 'URL', option: '--url', fallback: 'https://github.com' });
  await until(() => printed().includes('URL [https://github.com]: '));
  input.write('\n');
  t.is(await asked, 'https://github.com');
  for (const [typed, expected] of [
    ['', true],
    ['y', true],
    ['n', false],
    ['what', false],
  ] as const) {
    const already = printed().length;
    const confirmed = questions.confirm('Sure?');
    await until(() => printed().slice(already).includes('Sure?'));
    input.write(`${typed}\n`);
    t.is(await confirmed, expected, typed);
  }
});

test('the end of the input ends the command', async (t) => {
  const { input, questions, printed } = terminal();
  const asked = questions.ask({ text: 'Name', option: '--name' });
  await until(() => printed().includes('Name: '));
  input.end();
  await t.throwsAsync(asked, { message: /stopped at a question/ });
});

test('without anybody to ask, what is missing is wrong usage', async (t) => {
  const question = { text: 'Name', option: '--name', fault: () => 'no' };
  await t.throwsAsync(UNATTENDED.ask(question), { message: /^--name is missing/ });
  t.is(await UNATTENDED.ask({ ...question, fallback: 'x' }), 'x');
  await t.throwsAsync(() => resolve(UNATTENDED, 'given', question), { name: 'UsageError', message: '--name: no' });
});
