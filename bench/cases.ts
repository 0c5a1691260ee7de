/**
 * `npm run bench:cases`: how long `gatehouse test` takes for 1,000 and 5,000 cases beside one case, which is the start of the process.
 * Prints a table, and exits with 1 when 1,000 cases took two seconds or longer.
 */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeMachine, load } from './machine.ts';
import { type Spread, spread } from './stats.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const ROUNDS = 5;
const SIZES = [1_000, 5_000];
const MAX_MS_FOR_1000 = 2_000;
const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs|chore|refactor|test)(\\(.+\\))?!?: ' }
  - id: tests-with-code
    when: { files: ['src/**', '!**/*.md'], not: { author: ['renovate[bot]'] } }
    require: { files: ['test/**'] }
  - id: small
    require: { changed_lines: '<= 600', except: ['**/package-lock.json', 'gen/**'] }
  - id: no-focused-tests
    forbid: { added_lines: '\\b(debugger|it\\.only)\\b', in: ['**/*.ts'] }
  - id: security-review
    when: { files: ['auth/**'] }
    require: { any: [{ approvals: { count: 1, from: [sally] } }, { label: security-waived }] }
`;

const before = load();
const folder = await mkdtemp(join(tmpdir(), 'gatehouse-cases-'));
try {
  await writeFile(join(folder, '.gatehouse.yml'), POLICY);
  const files = await Promise.all([1, ...SIZES].map(writeCases));
  const [start, ...grown] = await measure(files);
  if (start === undefined) {
    throw new Error('nothing was measured');
  }
  const rows = SIZES.map((size, index) => ({ size, ms: (grown[index]?.median ?? Number.NaN) - start.median }));
  process.stdout.write(`Machine: ${describeMachine()}
Command: npm run bench:cases
Load average: ${before} at the beginning, ${load()} at the end
Median of ${ROUNDS} rounds; one case, with the start of the process: ${start.median.toFixed(0)} ms

| Cases | Beside the start |
|--:|--:|
${rows.map(({ size, ms }) => `| ${size.toLocaleString('en')} | ${ms.toFixed(0)} ms |`).join('\n')}
`);
  process.exitCode = rows.some(({ size, ms }) => size === 1_000 && ms >= MAX_MS_FOR_1000) ? 1 : 0;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Every case is another pull request. */
async function writeCases(count: number): Promise<string> {
  const cases = Array.from(
    { length: count },
    (
      _,
      index,
    ) => `  - given: { title: 'feat: ${index}', files: [{ path: src/${index}.ts, added: ['let a = ${index}'] }] }
    expect: { conventional-title: holds, tests-with-code: does not hold, security-review: does not apply }
`,
  );
  const file = join(folder, `cases-${count}.yml`);
  await writeFile(file, `cases:\n${cases.join('')}`);
  return file;
}

/** In milliseconds, each file in turn, so that what else the machine does meets all of them. */
async function measure(files: readonly string[]): Promise<readonly Spread[]> {
  const times = files.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    files.forEach((file, index) => {
      const begin = performance.now();
      const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'test', '--cases', file], {
        cwd: folder,
        env: { PATH: process.env['PATH'] },
      });
      if (status !== 0) {
        throw new Error(`gatehouse test exited with ${status}: ${stdout}${stderr}`);
      }
      times[index]?.push(performance.now() - begin);
    });
  }
  return times.map(spread);
}
