import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import test from '../helpers/test.ts';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
/** Of a function's own: lines of functions nested in it are counted as theirs. */
const MAX_FUNCTION_LINES = 60;
/** Plain tables of definitions. */
const TABLES: readonly string[] = ['makeMetrics'];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(ts|c?js)$/.test(file));

function source(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}

/**
 * Imports point down this list and never up; rooms on one level do not know each other. What every
 * room may use stands at the bottom.
 */
const LEVELS: readonly (readonly string[])[] = [
  ['main.js'],
  ['commands'],
  ['composition'],
  ['http', 'jobs'],
  ['audit'],
  ['inbox', 'review', 'forges'],
  ['db'],
  ['lifecycle.ts', 'metrics.ts', 'tracing'],
  ['log.ts', 'version.ts'],
  ['config'],
  ['facts'],
  ['forges/port'],
  ['common'],
  ['oldest-node.cjs'],
];

/** A folder that has a level of its own, else the folder or file at the top of src. */
function roomOf(file: string): string {
  const [room = file, inner] = file.split('/');
  return levelOf(`${room}/${inner}`) >= 0 ? `${room}/${inner}` : room;
}

function levelOf(room: string): number {
  return LEVELS.findIndex((level) => level.includes(room));
}

function importsOf(file: string): readonly string[] {
  const pattern = /(?:^(?:import|export)\s+(?:[^'"]*?\sfrom\s+)?|\bimport\()['"](\.[^'"]+)['"]/gm;
  return [...source(file).matchAll(pattern)].map(([, specifier = '']) =>
    relative(SRC, join(SRC, dirname(file), specifier)),
  );
}

test('every file of src is in a folder that has a level', (t) => {
  for (const file of files) {
    t.true(levelOf(roomOf(file)) >= 0, file);
  }
});

test('imports point one way', (t) => {
  const arrows = files.flatMap((file) => importsOf(file).map((target) => ({ file, target })));
  t.true(arrows.length > files.length, 'the imports were found');
  for (const { file, target } of arrows) {
    if (target.startsWith('..')) {
      t.is(target, '../package.json', `${file} reaches out of src`);
      continue;
    }
    const from = roomOf(file);
    const to = roomOf(target);
    if (from === to) {
      continue;
    }
    t.true(levelOf(from) < levelOf(to), `${file} imports ${target}, which points up or sideways`);
  }
});

test('no files import each other in a circle, types included', (t) => {
  const imports = new Map(files.map((file) => [file, importsOf(file)]));
  t.is(circleIn(imports)?.join(' → '), undefined);
});

test('no folders inside a room import each other in a circle, types included', (t) => {
  for (const room of ['commands', 'forges', 'jobs', 'review']) {
    const imports = importsInside(room);
    t.true(imports.size > 1, `${room} was found`);
    t.is(circleIn(imports)?.join(' → '), undefined, room);
  }
});

/** What the folders and files at the top of a room import of one another. */
function importsInside(room: string): ReadonlyMap<string, readonly string[]> {
  const inner = (file: string) => (file.startsWith(`${room}/`) ? file.split('/')[1] : undefined);
  const imports = new Map<string, string[]>();
  for (const file of files) {
    const from = inner(file);
    if (from === undefined) {
      continue;
    }
    const targets = importsOf(file).flatMap((target) => inner(target) ?? []);
    imports.set(from, [...(imports.get(from) ?? []), ...targets.filter((target) => target !== from)]);
  }
  return imports;
}

test('a circle is found behind imports that are in none', (t) => {
  const imports = new Map([
    ['a', ['b', 'c']],
    ['b', []],
    ['c', ['b', 'd']],
    ['d', ['e']],
    ['e', ['b', 'c']],
  ]);
  t.deepEqual(circleIn(imports), ['c', 'd', 'e', 'c']);
  imports.set('e', ['b']);
  t.is(circleIn(imports), undefined);
});

/** Files of which each imports the next one, and the last is the first; undefined: there are none. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined {
  const finished = new Set<string>();
  function follow(file: string, path: readonly string[]): readonly string[] | undefined {
    if (finished.has(file)) {
      return undefined;
    }
    const here = [...path, file];
    if (path.includes(file)) {
      return here.slice(path.indexOf(file));
    }
    for (const target of imports.get(file) ?? []) {
      const circle = follow(target, here);
      if (circle !== undefined) {
        return circle;
      }
    }
    finished.add(file);
    return undefined;
  }
  for (const file of imports.keys()) {
    const circle = follow(file, []);
    if (circle !== undefined) {
      return circle;
    }
  }
  return undefined;
}

test(`no function has more than ${MAX_FUNCTION_LINES} lines of its own`, (t) => {
  const functions = files.flatMap((file) => functionsIn(source(file)).map((found) => ({ file, ...found })));
  t.true(functions.length > 2 * files.length, 'the functions were found');
  t.deepEqual(
    functions.filter(({ name, ownLines }) => ownLines > MAX_FUNCTION_LINES && !TABLES.includes(name)),
    [],
  );
});

test('lines of a nested function are not counted as those of the function around it', (t) => {
  const text = ['function outer() {', '  const inner = () => {', '    return 1;', '  };', '  return [inner];', '}'];
  const method = ['const it = {', '  method() {', '    return 2;', '  },', '};'];
  t.deepEqual(functionsIn([...text, ...method].join('\n')), [
    { name: 'outer', line: 1, ownLines: 3 },
    { name: '', line: 2, ownLines: 3 },
    { name: '', line: 8, ownLines: 3 },
  ]);
});

/** Every function of a text, with its own name if it has one. A line that begins or ends a nested function is the nested one's. */
function functionsIn(text: string) {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineOf = (offset: number) => starts.findLastIndex((start) => start <= offset) + 1;
  const around: Set<number>[] = [];
  const found: { readonly name: string; readonly line: number; readonly lines: ReadonlySet<number> }[] = [];

  function enter({ start, end, id }: { start: number; end: number; id?: { name: string } | null }): void {
    const lines = new Set<number>();
    for (let line = lineOf(start); line <= lineOf(end); line++) {
      lines.add(line);
      for (const outer of around) {
        outer.delete(line);
      }
    }
    around.push(lines);
    found.push({ name: id?.name ?? '', line: lineOf(start), lines });
  }
  const leave = () => void around.pop();
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: ({ start, end }) => enter({ start, end }),
    'ArrowFunctionExpression:exit': leave,
  }).visit(parseSync('source.ts', text).program);
  return found.map(({ name, line, lines }) => ({ name, line, ownLines: lines.size }));
}

test('only the configuration reads the environment', (t) => {
  const readers = files.filter((file) => /process\.env\b/.test(source(file)));
  // main hands it to the configuration; version reads what the image's build recorded.
  t.deepEqual(readers.sort(), ['main.js', 'version.ts']);
});

/** All that is loaded together with a file: what it imports as a value, and so on. Packages by their names. */
function loadedWith(file: string): ReadonlySet<string> {
  return followed(
    file,
    /^(?:import|export)\s+(?!type\b)(?:([^'"]*?)\sfrom\s+)?['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm,
  );
}

/** The same without what is imported later, by `import(…)`. */
function loadedAtOnce(file: string): ReadonlySet<string> {
  return followed(file, /^(?:import|export)\s+(?!type\b)(?:([^'"]*?)\sfrom\s+)?['"]([^'"]+)['"]/gm);
}

function followed(file: string, statement: RegExp, loaded = new Set<string>()): ReadonlySet<string> {
  loaded.add(file);
  for (const [, names = '', specifier = '', dynamic = ''] of source(file).matchAll(statement)) {
    const target = specifier || dynamic;
    const onlyTypes = /^\{(?:\s*type\s[^,}]+,?)+\s*\}$/.test(names.trim());
    if (onlyTypes || target.endsWith('package.json')) {
      continue;
    }
    const next = target.startsWith('.') ? relative(SRC, join(SRC, dirname(file), target)) : target;
    if (!target.startsWith('.')) {
      loaded.add(next);
    } else if (!loaded.has(next)) {
      followed(next, statement, loaded);
    }
  }
  return loaded;
}

/** What reads, compiles or matches the text of a policy, of cases or of a pull request, in a time that its author chooses. */
const FOR_WORKERS =
  /^(?:yaml|re2js|picomatch|leven)$|^review\/(?:matching|cases)\/|^review\/policy\/(?:nearest|parse|yaml)\.ts$|^review\/predicates\/index\.ts$|^review\/evaluation\/evaluate\.ts$|^review\/workers\/tasks\.ts$/;

test('nothing that loops over a policy or its patterns is loaded outside the workers', (t) => {
  const inWorkers = [...loadedWith('review/workers/worker.ts')].filter((name) => FOR_WORKERS.test(name));
  for (const needed of ['yaml', 're2js', 'leven', 'review/matching/glob.ts', 'review/cases/parse.ts']) {
    t.true(inWorkers.includes(needed), `workers load ${needed}`);
  }
  const loaded = loadedWith('composition/service.ts');
  t.true(loaded.has('review/judge.ts') && loaded.has('pg-boss'), 'the service was followed');
  t.deepEqual(
    [...loaded].filter((name) => FOR_WORKERS.test(name)),
    [],
  );
});

const TABLES_OF_COMMANDS: readonly string[] = ['commands/table.ts', 'commands/policy-commands.ts'];

test('a command is loaded when it runs, and checking a policy loads no service', (t) => {
  t.deepEqual(
    [...loadedAtOnce('commands/table.ts')].filter((name) => !TABLES_OF_COMMANDS.includes(name)),
    [],
  );
  t.true(loadedAtOnce('commands/serve.ts').has('koa'), 'the service was followed');
  for (const command of ['commands/check.ts', 'commands/test.ts']) {
    const service = [...loadedAtOnce(command)].filter((name) =>
      /^(?:koa|pg|pg-boss|ioredis)$|^composition\//.test(name),
    );
    t.deepEqual(service, [], command);
  }
});
