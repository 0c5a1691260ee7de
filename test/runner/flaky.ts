import { existsSync, writeFileSync } from 'node:fs';
import test from '../helpers/test.ts';

/** Fails in the first run, of which this file is the trace, and passes in the second. */
const trace = process.env['PLANTED_TRACE'] ?? '';

test('passes in both runs', (t) => t.pass());

test('fails in the first run only', (t) => {
  const isSecond = existsSync(trace);
  writeFileSync(trace, '');
  t.true(isSecond, 'the machine was slow');
});
