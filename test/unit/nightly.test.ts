import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { parse } from 'yaml';
import test from '../helpers/test.ts';
import { type Command, type Part, partsOf } from '../nightly/parts.ts';
import { playPart, type Row } from '../nightly/play-part.ts';
import { exitCodeOf, report } from '../nightly/report.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const parts = partsOf({ seed: 1, times: 3 });
const commands = parts.flatMap((part) => part.commands);

test('the nightly workflow has a job for each part', (t) => {
  const { jobs } = parse(read('.github/workflows/nightly.yml'));
  t.deepEqual(
    jobs.part.strategy.matrix.part,
    parts.map(({ name }) => name),
  );
});

test('each nightly command is a script of package.json, with files that exist', (t) => {
  const { scripts } = JSON.parse(read('package.json'));
  for (const { argv } of commands) {
    const [, , , script = '', , ...args] = argv;
    t.true(script in scripts, argv.join(' '));
    for (const pattern of args.filter((argument) => argument.endsWith('.ts'))) {
      t.not(globSync(pattern, { cwd: ROOT }).length, 0, pattern);
    }
  }
});

test('each test that is not in npm test is in a part of the nightly run', (t) => {
  const named = JSON.stringify(commands) + read('package.json');
  const files = globSync('test/**/*.nightly.ts', { cwd: ROOT });
  t.true(files.length > 0);
  t.deepEqual(
    files.filter((file) => !named.includes(file)),
    [],
  );
});

test('the nightly run draws by its own seed, and has the large sizes', (t) => {
  const filesIn = (name: string) => commandsOf(name).flatMap(({ argv }) => argv);
  t.true(filesIn('seeds').includes('test/unit/forges/described-payloads.test.ts'));
  t.true(filesIn('seeds').includes('test/unit/facts/authors.test.ts'));
  t.true(filesIn('large').includes('test/stories/burst.test.ts'));
  t.true(commandsOf('seeds').every(({ env }) => env['TEST_SEED'] === '1'));
  t.is(commandsOf('repeat').length, 3);
});

const commandsOf = (name: string) => parts.find((part) => part.name === name)?.commands ?? [];

const running = (code: string): Command => ({
  argv: [process.execPath, '-e', code],
  env: { SAID: 'from its variables' },
});
const GOOD = running('console.log(process.env.SAID)');
const BAD = running('console.log("bad"); process.exitCode = 3');

async function play(
  t: ExecutionContext,
  part: Omit<Part, 'name'>,
  signal = new AbortController().signal,
  progress: (line: string) => void = () => {},
) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-nightly-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const log = (command: number) => join(folder, `${command}.log`);
  const row = await playPart({ name: 'planted', ...part }, { log, progress, progressMs: 50, signal });
  return { row, log: (command: number) => readFile(log(command), 'utf8') };
}

test('a part is red if one of its commands is, and the others are run all the same', async (t) => {
  const { row, log } = await play(t, { limitMinutes: 1, commands: [BAD, GOOD] });
  t.is(row.outcome, 'RED');
  t.regex(row.said, /^bad \(.*0\.log\); from its variables$/);
  t.deepEqual([await log(0), await log(1)], ['bad\n', 'from its variables\n']);
});

test('a part passes whose commands pass, beside processes that end with it', async (t) => {
  const { row } = await play(t, { limitMinutes: 1, commands: [GOOD], busy: 1 });
  t.deepEqual([row.outcome, row.said], ['passed', 'from its variables']);
});

test('a command that cannot be started makes a part red', async (t) => {
  const { row } = await play(t, { limitMinutes: 1, commands: [{ argv: ['no-such-program'], env: {} }] });
  t.is(row.outcome, 'RED');
});

test('a part whose tool is missing is left out, and nothing of it is run', async (t) => {
  const { row } = await play(t, { limitMinutes: 1, commands: [BAD], lacks: async () => 'there is no hammer' });
  t.deepEqual([row.outcome, row.said], ['left out', 'because there is no hammer']);
});

test('a test that passes only the second time makes a part red', async (t) => {
  const flaky = running('console.log("FLAKY: test/a.test.ts › a title\\n2 passed, 0 failed")');
  const { row } = await play(t, { limitMinutes: 1, commands: [flaky] });
  t.deepEqual([row.outcome, row.said], ['RED', 'FLAKY: test/a.test.ts › a title; 2 passed, 0 failed']);
});

/** Has a process of its own, which says how it ends. */
const INNER =
  'process.once("SIGTERM", () => { console.log("inner ended"); process.exit(); }); console.log("started"); setInterval(() => {}, 1_000)';
const OUTER = `process.once("SIGTERM", () => {}); require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(INNER)}], { stdio: "inherit" })`;

test('a part that is ended ends all that it has started, and begins nothing more', async (t) => {
  const stop = new AbortController();
  const onLine = (line: string) => line.endsWith('started') && stop.abort();
  const { row, log } = await play(t, { limitMinutes: 1, commands: [running(OUTER), GOOD] }, stop.signal, onLine);
  t.is(row.outcome, 'RED');
  t.regex(row.said, /; was ended$/);
  t.is(await log(0), 'started\ninner ended\n');
  await t.throwsAsync(log(1), { code: 'ENOENT' });
});

test('a part ends at its limit, and says so', async (t) => {
  const { row } = await play(t, { limitMinutes: 0.01, commands: [running('setInterval(() => {}, 1_000)')] });
  t.is(row.outcome, 'RED');
  t.regex(row.said, /; ended after its limit of 0\.01 minutes$/);
});

test('a part that is ended by hand has not passed', async (t) => {
  const { row } = await play(t, { limitMinutes: 1, commands: [GOOD] }, AbortSignal.abort());
  t.deepEqual([row.outcome, row.said], ['RED', 'was ended']);
});

const row = (name: string, outcome: Row['outcome']): Row => ({ name, outcome, seconds: 125, said: `${name} | said` });

test('the table of a nightly run has a line for each part, and counts them', (t) => {
  t.is(
    report([row('one', 'passed'), row('other', 'RED'), row('third', 'left out')]),
    `| Part  | Outcome  | Time      | Last line |
|-------|----------|-----------|---|
| one   | passed   | 2 min 5 s | one \\| said |
| other | RED      | 2 min 5 s | other \\| said |
| third | left out |           | third \\| said |

1 passed, 1 red, 1 left out
`,
  );
});

test('a nightly run fails if a part was red, and if none was run', (t) => {
  t.is(exitCodeOf([row('one', 'passed'), row('two', 'left out')]), 0);
  t.is(exitCodeOf([row('one', 'passed'), row('two', 'RED')]), 1);
  t.is(exitCodeOf([row('one', 'left out')]), 1);
  t.is(exitCodeOf([]), 1);
});
