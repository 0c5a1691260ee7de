import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import test from '../helpers/test.ts';
import { type Command, type Part, partsOf } from '../nightly/parts.ts';
import { playPart, type Row } from '../nightly/play-part.ts';
import { exitCodeOf } from '../nightly/report.ts';

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

const running = (code: string): Command => ({
  argv: [process.execPath, '-e', code],
  env: { SAID: 'from its variables' },
});
const GOOD = running('console.log(process.env.SAID)');
const BAD = running('console.log("bad"); process.exitCode = 3');

test('a part passes only when it was run to its end, by commands that pass at once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-nightly-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const flaky = running('console.log("FLAKY: a.test.ts › a title\\n2 passed, 0 failed")');
  const endless = running('setInterval(() => {}, 1_000)');
  const none = { argv: ['no-such-program'], env: {} } as const;
  const cases: readonly (readonly [Partial<Part>, Row['outcome'], said: RegExp, signal?: AbortSignal])[] = [
    [{ commands: [GOOD], busy: 1 }, 'passed', /^from its variables$/],
    [{ commands: [BAD, GOOD] }, 'RED', /^bad \(.*0\.log\); from its variables$/],
    [{ commands: [none] }, 'RED', /0\.log/],
    [{ commands: [flaky] }, 'RED', /^FLAKY: a\.test\.ts › a title; 2 passed, 0 failed$/],
    [{ commands: [endless], limitMinutes: 0.01 }, 'RED', /; ended after its limit of 0\.01 minutes$/],
    [{ commands: [GOOD] }, 'RED', /^was ended$/, AbortSignal.abort()],
    [{ commands: [BAD], lacks: async () => 'there is no hammer' }, 'left out', /^because there is no hammer$/],
  ];
  for (const [part, outcome, said, signal = new AbortController().signal] of cases) {
    const setting = { log: (command: number) => join(folder, `${command}.log`), progress: () => {}, signal };
    const row = await playPart({ name: 'planted', limitMinutes: 1, commands: [], ...part }, setting);
    t.is(row.outcome, outcome, row.said);
    t.regex(row.said, said);
  }
});

const row = (name: string, outcome: Row['outcome']): Row => ({ name, outcome, seconds: 125, said: `${name} | said` });

test('a nightly run fails if a part was red, and if none was run', (t) => {
  t.is(exitCodeOf([row('one', 'passed'), row('two', 'left out')]), 0);
  t.is(exitCodeOf([row('one', 'passed'), row('two', 'RED')]), 1);
  t.is(exitCodeOf([row('one', 'left out')]), 1);
  t.is(exitCodeOf([]), 1);
});
