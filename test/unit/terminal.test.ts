import { hasColours } from '../../src/commands/terminal.ts';
import test from '../helpers/test.ts';

const screen = { isTTY: true, write: () => true };
const pipe = { write: () => true };

test('colours are used on terminals, unless they are disabled', (t) => {
  t.true(hasColours({ stdout: screen, env: {} }));
  t.true(hasColours({ stdout: screen, env: { NO_COLOR: '' } }));
  t.false(hasColours({ stdout: screen, env: { NO_COLOR: '1' } }));
  t.false(hasColours({ stdout: screen, env: { TERM: 'dumb' } }));
  t.false(hasColours({ stdout: pipe, env: {} }));
});
