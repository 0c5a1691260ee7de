import test from 'ava';
import { isContextOf, statusContext } from '../../../src/forges/port/status-context.ts';

test('a status has a name of the template for any branch, in any case', (t) => {
  for (const branch of ['main', 'release/1.2', 'x'.repeat(300)]) {
    for (const template of ['gatehouse/{base}', '{base} by gatehouse', 'a {base} b {base} c']) {
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
