import test from 'ava';

test('takes AVA with it', (t) => {
  process.kill(process.pid, 'SIGSEGV');
  t.pass();
});
