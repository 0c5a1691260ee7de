import { isContextOf, statusContext } from '../../../src/forges/port/status-context.ts';
import test from '../../helpers/test.ts';

test('a status has a name of the template for any branch, in any case', (t) => {
  for (const branch of ['main', 'release/1.2', 'x'.repeat(300), 'party-🎉', '🎉'.repeat(100)]) {
    for (const template of ['gatehouse/{base}', '{base} by gatehouse', 'a {base} b {base} c', '🚪 {base}']) {
      t.true(isContextOf(template, statusContext(template, branch)), `${template} ${branch}`);
      t.true(isContextOf(template, statusContext(template, branch).toUpperCase()), `${template} ${branch}`);
    }
  }
  t.true(isContextOf('Gatehouse', 'gatehouse'));
});

test('a status of another name is not of the template', (t) => {
  for (const name of ['ci/web', 'gatehouse', 'gatehouse/', 'my gatehouse/main', '']) {
    t.false(isContextOf('gatehouse/{base}', name), name);
  }
  t.false(isContextOf('gatehouse', 'gatehouse/main'));
});

test('a name has nothing that a forge refuses, and is that of one branch alone', (t) => {
  const branches = ['🎉', '🚀', '🎉🚀', '\u202e', '\ud83d', '\u0000', '1f389', '-1f389-', 'U+1F389', '\ufffd'];
  const names = branches.map((branch) => statusContext('gatehouse/{base}', branch));
  t.deepEqual(names.slice(0, 4), [
    'gatehouse/:1f389:',
    'gatehouse/:1f680:',
    'gatehouse/:1f389::1f680:',
    'gatehouse/:202e:',
  ]);
  t.is(new Set(names).size, branches.length);
  t.false(/[\p{Cc}\p{Cf}\p{Cs}\u{10000}-\u{10ffff}]/u.test(names.join('')));
  const long = ['🎉', '🚀'].map((last) => statusContext('gatehouse/{base}', `${'🎉'.repeat(60)}${last}`));
  t.deepEqual(
    long.map((name) => name.length),
    [255, 255],
  );
  t.not(long[0], long[1]);
});
