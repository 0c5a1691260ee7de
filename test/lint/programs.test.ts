import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from '../helpers/test.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const VALUES = /^(?:import|export) (?!type\b)[^;]*?from '([^']+)'|^import '([^']+)'/gm;
const PROGRAM = /exec node -r \.\/src\/oldest-node\.cjs (\S+\.ts)/;

/** What a file loads, and what that loads: paths from the root, and names of packages. */
function loadedBy(file: string, loaded = new Set<string>()): ReadonlySet<string> {
  if (loaded.has(file)) {
    return loaded;
  }
  loaded.add(file);
  for (const [, from, alone] of readFileSync(join(ROOT, file), 'utf8').matchAll(VALUES)) {
    const target = from ?? alone ?? '';
    if (!target.startsWith('.')) {
      loaded.add(target);
    } else if (target.endsWith('.ts')) {
      loadedBy(relative(ROOT, join(ROOT, dirname(file), target)), loaded);
    }
  }
  return loaded;
}

test('no program of package.json loads AVA, which refuses to run outside its own command', (t) => {
  const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  );
  const programs = Object.values(scripts).flatMap((script) => PROGRAM.exec(script)?.slice(1) ?? []);
  t.true(programs.includes('test/faults/faults.ts'));
  t.deepEqual(
    programs.filter((program) => loadedBy(program).has('ava')),
    [],
  );
});
