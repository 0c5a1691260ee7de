import {
  type ReportedRun,
  type ReportedSuite,
  standingChecks,
  standingStatuses,
} from '../../../src/forges/standing-checks.ts';
import fc from '../../helpers/property.ts';
import test from '../../helpers/test.ts';

const RESULTS = ['success', 'failure', 'skipped', 'neutral', 'cancelled', 'stale', 'pending'];
const ENDED = ['success', 'failure'];
const TRIED = [...ENDED, 'pending'];

/** Suites of two sources, each with runs one after the other: an id is also a time. */
const suites = fc
  .array(
    fc.record({
      source: fc.constantFrom('one', 'two'),
      isWorkflow: fc.boolean(),
      runs: fc.array(fc.tuple(fc.constantFrom('test', 'lint'), fc.constantFrom(...RESULTS)), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((drawn) => drawn.map(({ source, isWorkflow, runs }, suite) => reported(suite, source, isWorkflow, runs)));

function reported(
  id: number,
  source: string,
  isWorkflow: boolean,
  runs: readonly (readonly [name: string, state: string])[],
): ReportedSuite {
  return {
    id,
    source,
    isWorkflow,
    reporter: source,
    state: 'success',
    runs: runs.map(([name, state], index) => runOf(id * 10 + index, name, state, source)),
  };
}

function runOf(id: number, name: string, state: string, reporter = 'ci'): ReportedRun {
  return {
    kind: 'check-run',
    name,
    state,
    reporter,
    id,
    startedAt: id,
    endedAt: state === 'pending' ? Number.NaN : id,
  };
}

/** The runs of a source and name in one of these states, newest first. */
function runsOf(
  all: readonly ReportedSuite[],
  of: Pick<ReportedRun, 'name' | 'reporter'>,
  states: readonly string[],
): readonly ReportedRun[] {
  return all
    .filter(({ source }) => source === of.reporter)
    .flatMap(({ runs }) => runs)
    .filter(({ name, state }) => name === of.name && states.includes(state))
    .toSorted((one, other) => other.id - one.id);
}

test('the newest run that tried counts of each source, in any order of arrival', (t) => {
  const shuffled = suites.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  );
  fc.assert(
    fc.property(shuffled, ([all, inAnyOrder]) => {
      const { runs } = standingChecks(inAnyOrder.map((suite) => ({ ...suite, runs: suite.runs.toReversed() })));
      t.deepEqual(runs, standingChecks(all).runs);
      for (const run of all.flatMap((suite) => suite.runs)) {
        const [newest] = runsOf(all, run, RESULTS);
        const [ended] = runsOf(all, run, ENDED);
        const standing = runsOf([{ ...reported(0, run.reporter, true, []), runs }], run, RESULTS);
        const stands = (one: ReportedRun | undefined) => standing.some(({ id }) => id === one?.id);
        const waits = standing.some(({ id, state }) => state === 'pending' && id > (ended?.id ?? -1));
        t.true(standing.length > 0);
        t.true(ended === undefined || stands(ended) || waits, JSON.stringify({ all, runs }));
        t.true(newest?.state !== 'pending' || stands(newest), JSON.stringify({ all, runs }));
      }
    }),
  );
});

test('a check suite counts until each of its names is replaced by a newer one that ran', (t) => {
  fc.assert(
    fc.property(suites, (all) => {
      const counted = standingChecks(all).suites.length;
      const replaced = all.filter(({ id, source, runs }) => {
        const newer = all.filter((other) => other.source === source && other.id > id);
        const names = runs.filter(({ state }) => ENDED.includes(state)).map(({ name }) => name);
        return (
          newer.some((other) => other.runs.some(({ state }) => TRIED.includes(state))) &&
          names.every((name) => runsOf(newer, { name, reporter: source }, TRIED).length > 0)
        );
      });
      t.true(counted >= all.length - replaced.length, JSON.stringify(all));
    }),
  );
});

test('of more than a hundred runs of a name the newest counts, wherever it stands', (t) => {
  const runs = Array.from({ length: 150 }, (_, index) => runOf(index, 'test', index === 149 ? 'failure' : 'success'));
  for (const isWorkflow of [true, false]) {
    const of = reported(1, 'ci', isWorkflow, []);
    t.deepEqual(standingChecks([{ ...of, runs: runs.toReversed() }]).runs, runs.slice(-1));
  }
});

test('jobs whose times are not known, or of one second, stand side by side', (t) => {
  const failed = runOf(1, 'test', 'failure');
  const passed = runOf(2, 'test', 'success');
  for (const others of [
    [{ ...failed, endedAt: Number.NaN }, passed],
    [failed, { ...passed, startedAt: Number.NaN }],
    [failed, { ...passed, startedAt: failed.endedAt }],
  ]) {
    t.is(standingChecks([{ ...reported(1, 'a', true, []), runs: others }]).runs.length, 2);
  }
});

/** Each as [name, state, start, end], oldest first. */
type Timed = readonly [name: string, state: string, startedAt: number, endedAt: number];

const FAILED: Timed = ['test', 'failure', 1, 5];
const PASSED: Timed = ['test', 'success', 7, 9];
const PASSED_FIRST: Timed = ['test', 'success', 1, 5];
const FAILED_LAST: Timed = ['test', 'failure', 7, 9];
const LINT_TWICE: readonly [Timed, Timed] = [
  ['lint', 'failure', 1, 4],
  ['lint', 'failure', 7, 9],
];
const OPEN = Number.NaN;

for (const [what, state, runs, counted] of [
  ['in a suite that failed', 'failure', [FAILED, PASSED], 2],
  ['in a suite that failed, the failure last', 'failure', [PASSED_FIRST, FAILED_LAST], 1],
  ['in a suite that failed, three of them', 'failure', [FAILED, PASSED, ['test', 'success', 11, 12]], 3],
  ['in a suite that timed out', 'timed_out', [['test', 'timed_out', 1, 5], PASSED], 2],
  ['in a suite that was cancelled', 'cancelled', [['test', 'cancelled', 1, 5], PASSED], 2],
  ['before a skipped job of a suite that failed', 'failure', [FAILED, PASSED, ['lint', 'skipped', 9, 9]], 2],
  ['before a cancelled job of a suite that failed', 'failure', [FAILED, PASSED, ['lint', 'cancelled', 9, 9]], 2],
  ['in a suite between two jobs', 'pending', [FAILED, PASSED], 2],
  ['beside a job that is not over', 'pending', [['lint', 'pending', 1, OPEN], FAILED, PASSED], 2],
  ['before a job that is not over', 'pending', [FAILED, PASSED, ['lint', 'pending', 11, OPEN]], 2],
  ['in a suite, the last of which is not over', 'pending', [FAILED, ['test', 'pending', 7, OPEN]], 1],
  ['beside a job that failed', 'failure', [['lint', 'failure', 2, 8], FAILED, PASSED], 2],
  ['in two attempts, the last of which passed', 'success', [FAILED, PASSED], 1],
  ['in two attempts, the rest skipped', 'neutral', [FAILED, PASSED], 1],
  ['in two attempts, both with another failure', 'failure', [FAILED, PASSED, ...LINT_TWICE], 1],
  ['in two attempts, the last of which was cancelled', 'cancelled', [FAILED, PASSED, ['lint', 'cancelled', 8, 9]], 1],
] satisfies readonly (readonly [string, string, readonly Timed[], number])[]) {
  test(`jobs of one name ${what}: ${counted} count`, (t) => {
    const timed = runs.map(([name, result, startedAt, endedAt], id) => ({
      ...runOf(id, name, result),
      startedAt,
      endedAt,
    }));
    const standing = standingChecks([{ ...reported(1, 'a', true, []), state, runs: timed }]).runs;
    t.is(standing.filter(({ name }) => name === 'test').length, counted);
  });
}

test('the newest status of a source that was not skipped counts', (t) => {
  for (const [counts, ...newestFirst] of [
    ['failure', 'skipped', 'pending', 'failure'],
    ['skipped', 'skipped', 'pending'],
    ['pending', 'pending', 'success'],
    ['success', 'success', 'skipped', 'failure'],
  ] as const) {
    const statuses = newestFirst.map((state) => ({ kind: 'status' as const, name: 'ci', reporter: 'actions', state }));
    t.deepEqual(
      standingStatuses(statuses).map(({ state }) => state),
      [counts],
    );
  }
});
