import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isGroup } from './groups.ts';
import type { AvaRun } from './run-ava.ts';
import type { Outcome } from './summary.ts';
import { type Failure, minus, plus } from './tally.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAX_FILES = 5;
/** Of all second runs together. */
const LIMIT_MS = 300_000;

/** Tests of what may never happen, by what that is: one failure there is a finding, whatever a second run would say. */
export const NEVER_TWICE: Readonly<Record<string, readonly string[]>> = {
  'exactly once, and nothing acknowledged is lost': [
    'integration/days',
    'integration/health',
    'integration/inbox',
    'integration/property',
    'integration/replay',
    'stories/burst',
  ],
  'races of jobs and reviews': [
    'integration/publisher',
    'integration/job-queue',
    'stories/published',
    'integration/resync-round',
    'integration/steps',
    'integration/take-job',
    'stories/finished-jobs',
    'stories/same-second',
    'stories/shared-head',
    'stories/stale-review',
    'stories/unqueued-resync',
  ],
  kills: ['integration/drain', 'integration/failover', 'stories/crash'],
  'a green that was not earned': [
    'integration/forges/authors',
    'integration/forges/conversations',
    'forge/code-owners',
    'forge/contract',
    'forge/conversations',
    'forge/people',
    'forge/stories',
    'integration/policy-in-force',
    'integration/forges/absent-files',
    'stories/agents',
    'stories/all-checks',
    'stories/baseline',
    'stories/changed-rules',
    'stories/checks',
    'stories/enforcement',
    'stories/facts',
    'stories/foreign-status',
    'integration/forges/members',
    'integration/forges/reviews',
    'integration/forges/writers',
    'stories/hostile',
    'stories/merge-queue',
    'stories/override',
    'stories/restored-policy',
    'stories/status-limit',
    'integration/forges/updates',
  ],
};

const neverTwice = new Set(Object.values(NEVER_TWICE).flatMap((names) => names.map((name) => `test/${name}.test.ts`)));

const isFinding = ({ file }: Failure): boolean => neverTwice.has(relative(ROOT, file));

/** Why no file may run once more after this run; undefined where the files that failed may. */
export function refusal({ tally, endedBy }: AvaRun): string | undefined {
  const [breakdown] = tally.breakdowns();
  if (endedBy !== undefined || tally.running().length > 0) {
    return 'the run did not come to its end';
  }
  if (breakdown !== undefined) {
    return breakdown;
  }
  const files = filesOf(tally.failures());
  const findings = filesOf(tally.failures().filter(isFinding));
  if (findings.length > 0) {
    return `what failed may never happen: ${findings.map((file) => relative(ROOT, file)).join(', ')}`;
  }
  const group = files.find(isGroup);
  if (group !== undefined) {
    return `${relative(ROOT, group)} failed beside its tests`;
  }
  return files.length > MAX_FILES ? `${files.length} files failed, and at most ${MAX_FILES} run again` : undefined;
}

const filesOf = (failures: readonly Failure[]) => [...new Set(failures.map(({ file }) => file))];

/**
 * Runs each file that failed once more, by itself. A test that passes then is flaky: it is named, and the run has passed. It
 * has failed all the same where a file crashed or hung, where too many failed, and where what failed may never happen.
 */
export async function runAgain(
  first: AvaRun,
  again: (file: string, signal: AbortSignal) => Promise<AvaRun>,
): Promise<Outcome> {
  const refused = refusal(first);
  const failures = first.tally.failures();
  let counts = first.tally.counts();
  if (refused !== undefined) {
    return { counts, exitCode: first.exitCode, closing: [`no file runs again: ${refused}`] };
  }
  const closing: string[] = [];
  const limit = AbortSignal.timeout(LIMIT_MS);
  let exitCode = failures.length === 0 ? first.exitCode : 0;
  for (const file of filesOf(failures)) {
    if (limit.aborted) {
      exitCode = first.exitCode;
      closing.push(`${relative(ROOT, file)} was not run again: the others took ${LIMIT_MS / 1000} seconds`);
      continue;
    }
    const second = await again(relative(ROOT, file), limit);
    if (second.exitCode !== 0) {
      exitCode = first.exitCode;
      closing.push(second.endedBy ?? `${relative(ROOT, file)} failed twice`);
      continue;
    }
    counts = plus(minus(counts, first.tally.counts(file)), second.tally.counts(file));
    const flaky = failures.filter((failure) => failure.file === file);
    closing.push(...flaky.map(({ title }) => `FLAKY: ${relative(ROOT, file)} › ${title}`));
  }
  return { counts, exitCode, closing };
}

/**
 * Keeps what is known of failures that may never happen, a file each, and returns a line for each: the error with its
 * seed, what was logged, and what ran beside it.
 */
export function keepFindings(
  failures: readonly Failure[],
  about: Readonly<Record<string, string>>,
  folder: string,
): string[] {
  return failures.filter(isFinding).map(({ file, title, text, beside }, index) => {
    mkdirSync(folder, { recursive: true });
    const kept = join(folder, `${basename(file, '.test.ts')}-${Date.now()}-${index}.txt`);
    const facts = Object.entries(about).map(([name, value]) => `${name}: ${value}`);
    const others = beside.map((other) => relative(ROOT, other)).join(', ');
    writeFileSync(kept, [`${relative(ROOT, file)} › ${title}`, ...facts, `beside: ${others}`, '', text, ''].join('\n'));
    return `FINDING: ${relative(ROOT, file)} › ${title} (kept in ${relative(ROOT, kept)})`;
  });
}
