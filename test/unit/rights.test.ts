import { globSync, readFileSync } from 'node:fs';
import { tablesFor } from '../../src/db/rights.ts';
import test from '../helpers/test.ts';

/** Of an upsert, too: there is no other INSERT before its DO UPDATE. */
const PATTERNS = {
  INSERT: /INSERT INTO gatehouse\.(\w+)/g,
  UPDATE: /(?:UPDATE|INSERT INTO) gatehouse\.(\w+)(?:(?<=UPDATE gatehouse\.\w+)|(?:(?!INSERT INTO)[^;])*?DO UPDATE)/g,
  DELETE: /DELETE FROM gatehouse\.(\w+)/g,
} as const;

test('doctor tries each right that a statement of the service needs, and no other', (t) => {
  const sources = globSync('src/**/*.ts', { exclude: ['src/db/rights.ts'] });
  const code = sources.map((file) => readFileSync(file, 'utf8')).join(';\n');
  const triedOf = (right: Parameters<typeof tablesFor>[0]) =>
    tablesFor(right)
      .flatMap((table) => (table.startsWith('gatehouse.') ? [table.replace('gatehouse.', '')] : []))
      .sort();
  for (const right of ['INSERT', 'UPDATE', 'DELETE'] as const) {
    const needed = new Set([...code.matchAll(PATTERNS[right])].map(([, table]) => table));
    t.deepEqual(triedOf(right), [...needed].sort(), right);
  }
  const tables = readFileSync('src/db/migrations/0001_tables.sql', 'utf8').matchAll(/CREATE TABLE gatehouse\.(\w+)/g);
  t.deepEqual(triedOf('SELECT'), ['migrations', ...[...tables].map(([, table]) => table)].sort());
});
