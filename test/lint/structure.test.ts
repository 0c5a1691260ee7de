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

const source = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** Imports point down this list and never up; rooms on one level do not know each other. */
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

const levelOf = (room: string) => LEVELS.findIndex((level) => level.includes(room));

function importsOf(file: string): readonly string[] {
  const pattern = /(?:^(?:import|export)\s+(?:[^'"]*?\sfrom\s+)?|\bimport\()['"](\.[^'"]+)['"]/gm;
  return [...source(file).matchAll(pattern)].map(([, specifier = '']) =>
    relative(SRC, join(SRC, dirname(file), specifier)),
  );
}

const imports = new Map(files.map((file) => [file, importsOf(file)]));

test('imports point one way, between folders that all have a level', (t) => {
  const arrows = [...imports].flatMap(([file, targets]) => targets.map((target) => [file, target] as const));
  t.true(arrows.length > files.length, 'the imports were found');
  t.deepEqual(
    files.filter((file) => levelOf(roomOf(file)) < 0),
    [],
  );
  const wrong = arrows.filter(([file, target]) => {
    const [from, to] = [roomOf(file), roomOf(target)];
    return target !== '../package.json' && from !== to && levelOf(from) >= levelOf(to);
  });
  t.deepEqual(wrong, [], 'they point up, sideways or out of src');
});

test('no files, and no folders inside a room, import each other in a circle, types included', (t) => {
  t.deepEqual(inCircles(imports), []);
  for (const room of ['commands', 'forges', 'jobs', 'review']) {
    const inner = (file: string) => (file.startsWith(`${room}/`) ? (file.split('/')[1] ?? '') : '');
    const folders = Map.groupBy(imports, ([file]) => inner(file));
    folders.delete('');
    t.true(folders.size > 1, `${room} was found`);
    const between = [...folders].map(([from, within]) => {
      const targets = within.flatMap(([, imported]) => imported.map(inner));
      return [from, targets.filter((target) => target !== from)] as const;
    });
    t.deepEqual(inCircles(new Map(between)), [], room);
  }
});

test('a circle is found behind imports that are in none', (t) => {
  const some = new Map([
    ['a', ['b', 'c']],
    ['b', []],
    ['c', ['d']],
    ['d', ['c', 'e']],
    ['e', ['b']],
  ]);
  t.deepEqual(inCircles(some), ['c', 'd']);
});

/** What is left when those are taken away that import, or are imported by, nothing that is left. */
function inCircles(all: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const imported = new Set([...all.values()].flat());
  const kept = [...all].filter(([file, targets]) => imported.has(file) && targets.some((target) => all.has(target)));
  return kept.length === all.size ? [...all.keys()] : inCircles(new Map(kept));
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

test('only the publisher sets a status, and only tables know the table of statuses', (t) => {
  const naming = (pattern: RegExp) => files.filter((file) => !file.startsWith('forges/') && pattern.test(source(file)));
  t.deepEqual(naming(/\bforge\.setStatus\(/), ['jobs/publisher/post.ts']);
  t.deepEqual(naming(/gatehouse\.statuses\b/).sort(), [
    'jobs/retention.ts',
    'jobs/tables/repositories.ts',
    'jobs/tables/statuses.ts',
  ]);
});

test('only rulesOf asks by which texts a pull request is judged', (t) => {
  const asking = (name: string) => files.filter((file) => new RegExp(`(?<!function )\\b${name}\\(`).test(source(file)));
  for (const name of ['operatorPolicyDigest', 'digestOfBaseline', 'extendedDigest']) {
    t.deepEqual(asking(name), ['review/rules-of.ts'], name);
  }
  // The fact is what the file says at the same commit. Predicates read the text.
  const reading = asking('readCodeOwners').filter((file) => !file.startsWith('review/predicates/'));
  t.deepEqual(reading.sort(), ['facts/code-owners.ts', 'review/rules-of.ts']);
  t.deepEqual(asking('policyInForce').sort(), [
    'commands/doctor/policy.ts',
    'commands/history/backtest.ts',
    'jobs/review/run-command.ts',
    'review/rules-of.ts',
  ]);
});

test('only the configuration reads the environment', (t) => {
  const readers = files.filter((file) => /process\.env\b/.test(source(file)));
  // main hands it to the configuration; version reads what the image's build recorded.
  t.deepEqual(readers.sort(), ['main.js', 'version.ts']);
});

const AT_ONCE = /^(?:import|export)\s+(?!type\b)(?:([^'"]*?)\sfrom\s+)?['"]([^'"]+)['"]/gm;
/** With what is imported when it is needed, by `import(…)`. */
const LATER_TOO = new RegExp(`${AT_ONCE.source}|\\bimport\\(['"]([^'"]+)['"]\\)`, 'gm');
const ONLY_TYPES = /^\{(?:\s*type\s[^,}]+,?)+\s*\}$/;

/** All that is loaded together with a file: what it imports as a value, and so on. Packages by their names. */
function loadedWith(file: string, statement: RegExp, loaded = new Set<string>()): ReadonlySet<string> {
  loaded.add(file);
  for (const [, names = '', specifier = '', dynamic = ''] of source(file).matchAll(statement)) {
    const target = specifier || dynamic;
    const next = target.startsWith('.') ? relative(SRC, join(SRC, dirname(file), target)) : target;
    if (loaded.has(next) || ONLY_TYPES.test(names.trim()) || target.endsWith('package.json')) {
      continue;
    }
    if (target.startsWith('.')) {
      loadedWith(next, statement, loaded);
    } else {
      loaded.add(next);
    }
  }
  return loaded;
}

/** What reads, compiles or matches the text of a policy, of cases or of a pull request, in a time that its author chooses. */
const FOR_WORKERS =
  /^(?:yaml|re2js|picomatch|leven)$|^review\/(?:matching|cases)\/|^review\/policy\/(?:nearest|parse|yaml)\.ts$|^review\/predicates\/index\.ts$|^review\/evaluation\/evaluate\.ts$|^review\/workers\/tasks\.ts$/;

test('nothing that loops over a policy or its patterns is loaded outside the workers', (t) => {
  const inWorkers = [...loadedWith('review/workers/worker.ts', LATER_TOO)].filter((name) => FOR_WORKERS.test(name));
  for (const needed of ['yaml', 're2js', 'leven', 'review/matching/glob.ts', 'review/cases/parse.ts']) {
    t.true(inWorkers.includes(needed), `workers load ${needed}`);
  }
  const loaded = loadedWith('composition/service.ts', LATER_TOO);
  t.true(loaded.has('review/judge.ts') && loaded.has('pg-boss'), 'the service was followed');
  t.deepEqual(
    [...loaded].filter((name) => FOR_WORKERS.test(name)),
    [],
  );
});

const TABLES_OF_COMMANDS: readonly string[] = ['commands/table.ts', 'commands/policy-commands.ts'];

test('a command is loaded when it runs, and checking a policy loads no service', (t) => {
  t.deepEqual(
    [...loadedWith('commands/table.ts', AT_ONCE)].filter((name) => !TABLES_OF_COMMANDS.includes(name)),
    [],
  );
  t.true(loadedWith('commands/serve.ts', AT_ONCE).has('koa'), 'the service was followed');
  for (const command of ['commands/check.ts', 'commands/test.ts']) {
    const service = [...loadedWith(command, AT_ONCE)].filter((name) =>
      /^(?:koa|pg|pg-boss|ioredis)$|^composition\//.test(name),
    );
    t.deepEqual(service, [], command);
  }
});

test('the commands of the npm package never load a store or a server', (t) => {
  const loaded = loadedWith('commands/policy-commands.ts', LATER_TOO);
  t.true(loaded.has('commands/history/init.ts') && loaded.has('octokit'), 'the commands were followed');
  t.deepEqual(
    [...loaded].filter((name) => /^(?:koa|pg|pg-boss|ioredis|node-pg-migrate)$/.test(name)),
    [],
  );
});
