import { globSync, readFileSync } from 'node:fs';
import test from 'ava';
import { GRANTS } from '../../src/db/rights.ts';

/** Of an upsert, too: there is no other INSERT before its DO UPDATE. */
const PATTERNS = {
  INSERT: /INSERT INTO gatehouse\.(\w+)/g,
  UPDATE: /(?:UPDATE|INSERT INTO) gatehouse\.(\w+)(?:(?<=UPDATE gatehouse\.\w+)|(?:(?!INSERT INTO)[^;])*?DO UPDATE)/g,
  DELETE: /DELETE FROM gatehouse\.(\w+)/g,
} as const;

test('doctor tries each right that a statement of the service needs, and no other', (t) => {
  const sources = globSync('src/**/*.ts', { exclude: ['src/db/rights.ts'] });
  const code = sources.map((file) => readFileSync(file, 'utf8')).join(';\n');
  const ofTables = Object.entries(GRANTS).flatMap(([names, rights]) =>
    names.split(' ').map((name) => ({ name, rights })),
  );
  for (const right of ['INSERT', 'UPDATE', 'DELETE'] as const) {
    const needed = new Set([...code.matchAll(PATTERNS[right])].map(([, table]) => table));
    const tried = ofTables.filter(({ name, rights }) => !name.includes('.') && rights.includes(right));
    t.deepEqual(tried.map(({ name }) => name).sort(), [...needed].sort(), right);
  }
  const tables = readFileSync('src/db/migrations/0001_tables.sql', 'utf8').matchAll(/CREATE TABLE gatehouse\.(\w+)/g);
  const read = ofTables.map(({ name }) => name).filter((name) => !name.includes('.') && name !== 'migrations');
  t.deepEqual(read.sort(), [...tables].map(([, table]) => table).sort());
});
