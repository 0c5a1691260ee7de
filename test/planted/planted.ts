/**
 * `npm run test:planted`: plants the faults of ./faults in a copy of this checkout, one after the other, and tells
 * which of them the tests notice. Ends with 1 when one is not caught, unless its entry says so.
 * `--only door,jobs-fence` names ids, or how they begin; `--all` runs every test for each fault, and not only those that
 * its entry names. What the tests print is kept in `dist/planted`.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { execute } from '../helpers/execute.ts';
import { playPart, type Row, timeOf } from '../nightly/play-part.ts';
import { FAULTS, type Fault, plant } from './faults.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LOGS = join(ROOT, 'dist/planted');
/** A fault can make tests wait forever: then it is caught. */
const LIMIT_MINUTES = 10;
const LIMIT_MINUTES_OF_ALL = 60;
const LOOK_MS = 500;
/** How AVA names one that has failed. */
const FAILED = /✘ \[fail\]: (.+)/;
const USAGE_ERROR = 64;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const stop = new AbortController();
process.on('SIGINT', () => stop.abort());
process.on('SIGTERM', () => stop.abort());

const chosen = FAULTS.filter(
  ({ id }) => values.only === undefined || values.only.split(',').some((start) => id.startsWith(start)),
);
if (chosen.length === 0) {
  process.stderr.write(`test:planted: no fault begins with ${values.only}\n`);
  process.exitCode = USAGE_ERROR;
} else {
  process.exitCode = await play(chosen);
}

async function play(faults: readonly Fault[]): Promise<number> {
  for (const fault of faults) {
    plant(fault, readFileSync(join(ROOT, fault.file), 'utf8'));
  }
  mkdirSync(LOGS, { recursive: true });
  const copy = await copyCheckout();
  try {
    const files = values.all ? [] : [...new Set(faults.flatMap(({ tests }) => tests))].sort();
    say(`without a fault, ${values.all ? 'all tests' : `${files.length} test files`}`);
    const sound = await runTests(copy, {
      name: 'sound',
      limitMinutes: LIMIT_MINUTES_OF_ALL,
      files,
      progress: () => {},
      signal: stop.signal,
    });
    if (sound.outcome !== 'passed') {
      say(`not green without a fault: ${sound.said}`);
      return 1;
    }
    const caught = new Set<string>();
    for (const [index, fault] of faults.entries()) {
      const { outcome, seconds, said } = await runWith(fault, copy);
      if (stop.signal.aborted) {
        return 1;
      }
      if (outcome === 'RED') {
        caught.add(fault.id);
      }
      const what = outcome === 'RED' ? 'caught' : 'NOT CAUGHT';
      say(`${index + 1}/${faults.length} ${what} ${fault.id} ${timeOf(seconds)}: ${said}`);
    }
    return conclude(faults, caught);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** The files that git knows or would add, as they are now. A repository of its own, since some tests ask git. */
async function copyCheckout(): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'gatehouse-planted-'));
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await execute('git', listed, { cwd: ROOT });
  for (const file of new Set(stdout.split('\0'))) {
    if (file !== '' && existsSync(join(ROOT, file))) {
      cpSync(join(ROOT, file), join(copy, file), { verbatimSymlinks: true });
    }
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  await execute('git', ['init', '--quiet'], { cwd: copy });
  return copy;
}

/** Until the first test has failed, which is told. */
async function runWith(fault: Fault, copy: string): Promise<Row> {
  const path = join(copy, fault.file);
  const text = readFileSync(path, 'utf8');
  const enough = new AbortController();
  let failed: string | undefined;
  const look = () => {
    failed ??= FAILED.exec(readFileSync(logOf(fault.id), 'utf8'))?.[1];
    if (failed !== undefined) {
      enough.abort();
    }
  };
  writeFileSync(path, plant(fault, text));
  try {
    const files = values.all ? [] : fault.tests;
    const limitMinutes = values.all ? LIMIT_MINUTES_OF_ALL : LIMIT_MINUTES;
    const row = await runTests(copy, { name: fault.id, limitMinutes, files, progress: look, signal: enough.signal });
    look();
    return { ...row, said: failed ?? row.said };
  } finally {
    writeFileSync(path, text);
  }
}

interface Run {
  readonly name: string;
  readonly limitMinutes: number;
  /** None: all. */
  readonly files: readonly string[];
  readonly progress: () => void;
  readonly signal: AbortSignal;
}

function runTests(copy: string, { name, limitMinutes, files, progress, signal }: Run): Promise<Row> {
  const argv = [process.execPath, ...['-r', './src/oldest-node.cjs', 'test/run.ts'], ...files] as const;
  return playPart(
    { name, limitMinutes, commands: [{ argv, env: {}, cwd: copy }] },
    { log: () => logOf(name), progress, progressMs: LOOK_MS, signal: AbortSignal.any([stop.signal, signal]) },
  );
}

function logOf(name: string): string {
  return join(LOGS, `${name}.log`);
}

/** 1 when one is not caught that should be. */
function conclude(faults: readonly Fault[], caught: ReadonlySet<string>): number {
  say(`\n${caught.size} of ${faults.length} caught`);
  for (const { id, title, isCaught } of faults.filter((fault) => fault.isCaught !== caught.has(fault.id))) {
    say(isCaught ? `not caught: ${id} (${title})` : `caught, contrary to what its entry says: ${id}`);
  }
  return faults.some(({ id, isCaught }) => isCaught && !caught.has(id)) ? 1 : 0;
}
