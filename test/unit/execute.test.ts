import { execute } from '../helpers/execute.ts';
import test from '../helpers/test.ts';

test('a program is given its input, and what it prints is returned', async (t) => {
  t.deepEqual(await execute('sh', ['-c', 'cat; echo why >&2'], { input: 'what' }), { stdout: 'what', stderr: 'why\n' });
});

test('a program that does not end is never waited for', async (t) => {
  const running = execute('sleep', ['600'], { timeoutMs: 100 });
  const error = await t.throwsAsync<Error & { stderr: string }>(running, {
    message: /^sleep 600 was killed, after 100 ms at the latest\n/,
  });
  t.regex(error?.stderr ?? '', /was killed/);
});

test('a program that fails keeps its exit code and its words', async (t) => {
  const failing = execute('sh', ['-c', 'echo no >&2; exit 3']);
  t.like(await t.throwsAsync(failing), { code: 3, stderr: 'no\n' });
});
