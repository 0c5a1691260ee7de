/**
 * `npm run test:nightly`: what takes too long, or needs too much of a machine, for every change, as parts one after the
 * other. A red part ends no other. A part whose tool is missing is left out. What is printed is kept in `dist/nightly`.
 * `--list` names the parts, `--only <name>…` chooses some, `--times <number>` is how often `repeat` runs everything.
 * Ends with 1 when a part was red, when a test was flaky, and when nothing could be run.
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Part, partsOf } from './parts.ts';
import { playPart, type Row } from './play-part.ts';
import { exitCodeOf, report } from './report.ts';

const FOLDER = 'dist/nightly';
const USAGE_ERROR = 64;
const DEFAULT_TIMES = '3';

const { values, positionals } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    times: { type: 'string', default: DEFAULT_TIMES },
    seed: { type: 'string', default: new Date().toISOString().slice(0, 10).replaceAll('-', '') },
  },
  allowPositionals: true,
});
const say = (line: string) => process.stdout.write(`${line}\n`);
const chosen = chooseParts();

if (values.list) {
  for (const { name, limitMinutes, lacks } of chosen) {
    const lacking = await lacks?.();
    say(
      `${name.padEnd(10)}  at most ${limitMinutes} min${lacking === undefined ? '' : `; left out here, because ${lacking}`}`,
    );
  }
} else {
  process.exitCode = await play(chosen);
}

function chooseParts(): readonly Part[] {
  const [seed, times] = [Number(values.seed), Number(values.times)];
  if (!(Number.isInteger(seed) && Number.isInteger(times) && times > 0)) {
    return refuse('--seed and --times take whole numbers');
  }
  const parts = partsOf({ seed, times });
  const asked = [...values.only, ...positionals];
  const unknown = asked.find((name) => !parts.some((part) => part.name === name));
  if (unknown !== undefined || (values.only.length === 0 && positionals.length > 0)) {
    return refuse(`expected --only and one of ${parts.map(({ name }) => name).join(', ')}`);
  }
  return parts.filter(({ name }) => asked.length === 0 || asked.includes(name));
}

function refuse(why: string): never {
  process.stderr.write(`test:nightly: ${why}\n`);
  process.exit(USAGE_ERROR);
}

async function play(parts: readonly Part[]): Promise<number> {
  const stop = new AbortController();
  process.on('SIGINT', () => stop.abort());
  process.on('SIGTERM', () => stop.abort());
  mkdirSync(FOLDER, { recursive: true });
  const rows: Row[] = [];
  for (const [index, part] of parts.entries()) {
    if (stop.signal.aborted) {
      break;
    }
    say(`${index + 1}/${parts.length}  ${part.name}, at most ${part.limitMinutes} min`);
    const row = await playPart(part, {
      log: (command) => join(FOLDER, `${part.name}${command === 0 ? '' : `-${command + 1}`}.log`),
      progress: (line) => say(`      ${line}`),
      signal: stop.signal,
    });
    say(`      ${row.outcome}: ${row.said}`);
    rows.push(row);
  }
  const table = report(rows);
  say(`\n${table}`);
  // On GitHub, the page of the run shows it.
  if (process.env['GITHUB_STEP_SUMMARY'] !== undefined) {
    appendFileSync(process.env['GITHUB_STEP_SUMMARY'], table);
  }
  return stop.signal.aborted ? 1 : exitCodeOf(rows);
}
