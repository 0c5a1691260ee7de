import type { ExecutionContext } from 'ava';
import fc from '../helpers/property.ts';
import { sized } from '../helpers/size.ts';
import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { SEED } from '../simulated-forge/api/seed.ts';
import type { CheckRun, CheckSuite } from '../simulated-forge/world.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const POLICY = {
  '.gatehouse.yml': 'version: 1\nrules: [{ id: ci, require: { checks: { all: true, at_least: first } } }]\n',
};
const OURS = 'gatehouse/main';
const GREEN: readonly string[] = ['success', 'skipped', 'neutral'];

type ForgeName = (typeof FORGES)[number];

/** Sets a commit status. Its webhook can be lost; Forgejo sends none. */
async function report(scene: Scene, number: number, context: string, state: string, isLost = false): Promise<void> {
  const { headSha } = scene.forge.pull(scene.repository, number);
  const status = scene.forge.setStatus(scene.repository, headSha, { context, state, author: 'ci', description: '' });
  if (!isLost && scene.forge.name !== 'forgejo') {
    await scene.tell({ kind: 'status', status });
  }
}

/** How many random histories of a pull request's checks are played. */
const SEQUENCES = sized(10, 200);
const TIMEOUT_MS = sized(3, 20) * 60_000;

/** What happens to one pull request, on a forge with check suites or without. */
type Step = (site: Played) => Promise<void>;

/** The model: what the forge shows of one pull request. */
interface Played {
  readonly scene: Scene;
  readonly number: number;
  readonly statuses: Map<string, string>;
  readonly suites: { readonly suite: CheckSuite; readonly runs: Map<string, CheckRun> }[];
  /** Statuses that Gatehouse had set before this step. */
  greens: number;
  /** Whether the last change was told. */
  told: boolean;
}

function isGreen({ statuses, suites }: Played): boolean {
  const results = [
    ...statuses.values(),
    ...suites.flatMap(({ runs }) => [...runs.values()].map(({ conclusion }) => conclusion ?? 'open')),
    ...suites.flatMap(({ suite: { set } }) => (set === undefined ? [] : [set.conclusion ?? 'open'])),
  ];
  return statuses.has('first') && results.every((result) => GREEN.includes(result));
}

async function tell({ scene }: Played, event: Parameters<Scene['tell']>[0], isLost: boolean): Promise<boolean> {
  if (!isLost) {
    await scene.tell(event);
  }
  return !isLost;
}

function setsStatus(context: string, state: string, isLost: boolean): Step {
  return async (played) => {
    await report(played.scene, played.number, context, state, isLost);
    played.statuses.set(context, state);
    played.told = !isLost && played.scene.forge.name !== 'forgejo';
  };
}

/** A run that tried less than that before it does not replace it. */
function triedBy({ conclusion }: CheckRun): number {
  return conclusion === 'cancelled' ? 1 : conclusion === 'skipped' || conclusion === 'neutral' ? 0 : 2;
}

/** A run begins or ends, in a workflow of its own or in one that there is: there it replaces that of its name. */
function runs(job: string, conclusion: string | undefined, inNewSuite: boolean, isLost: boolean): Step {
  return async (played) => {
    const { forge, repository } = played.scene;
    const { headSha } = forge.pull(repository, played.number);
    const last = played.suites.at(-1);
    const within =
      last === undefined || inNewSuite
        ? { suite: forge.openSuite(repository, headSha, 'github-actions'), runs: new Map<string, CheckRun>() }
        : last;
    if (within !== last) {
      played.suites.push(within);
    }
    const made = { name: job, app: 'github-actions', suite: within.suite, ...(conclusion && { conclusion }) };
    const run = forge.runCheck(repository, headSha, made);
    const before = within.runs.get(job);
    if (!before || before.conclusion === null || triedBy(run) >= triedBy(before)) {
      within.runs.set(job, run);
    }
    played.told = await tell(played, { kind: 'check-run', run }, isLost);
  };
}

/** A suite is between two jobs, which GitHub tells nobody, or has ended by itself. */
function turns(conclusion: string | null, isLost: boolean): Step {
  return async (played) => {
    const { suite } = played.suites.at(-1) ?? {};
    played.told = false;
    if (suite !== undefined) {
      suite.set = { status: conclusion === null ? 'in_progress' : 'completed', conclusion };
      played.told = await tell(played, { kind: 'check-suite', suite }, isLost || conclusion === null);
    }
  };
}

const isLost = fc.boolean();
const ofStatus = fc
  .tuple(fc.constantFrom('first', 'lint'), fc.constantFrom('pending', 'success', 'success', 'failure'), isLost)
  .map((drawn) => setsStatus(...drawn));
const ofRun = fc
  .tuple(
    fc.constantFrom('build', 'test'),
    fc.constantFrom(undefined, 'success', 'success', 'skipped', 'neutral', 'failure', 'cancelled'),
    fc.boolean(),
    isLost,
  )
  .map((drawn) => runs(...drawn));
const ofSuite = fc.tuple(fc.constantFrom(null, 'success', 'failure'), isLost).map((drawn) => turns(...drawn));

const STEPS = 5;
/** So many pull requests share a repository. Of one author or repository, more would have to wait for their share. */
const TOGETHER = 20;

/** GitHub's check suites need more of them. */
const SHARES = { github: 1, gitea: 5, forgejo: 10 } as const;

for (const name of FORGES) {
  const count = Math.ceil(SEQUENCES / SHARES[name]);
  test.serial(`${name}: no sequence of checks is green too early, and all are at the end`, async (t) => {
    t.timeout(TIMEOUT_MS);
    // GitHub's 5,000 requests and queries an hour are too few for all histories.
    const { rateLimit, graphql } = gatehouse(name).forge;
    rateLimit.remaining = Number.MAX_SAFE_INTEGER;
    graphql.points.remaining = Number.MAX_SAFE_INTEGER;
    const step: fc.Arbitrary<Step> = name === 'github' ? fc.oneof(ofStatus, ofRun, ofRun, ofSuite) : ofStatus;
    const histories = fc.sample(fc.array(step, { minLength: STEPS, maxLength: STEPS }), { numRuns: count });
    for (let at = 0; at < count; at += TOGETHER) {
      await playTogether(t, name, histories.slice(at, at + TOGETHER), `seed ${SEED}, from ${at}`);
    }
  });
}

/** Plays histories step by step, one on each pull request of a repository. */
async function playTogether(
  t: ExecutionContext,
  name: ForgeName,
  histories: readonly (readonly Step[])[],
  which: string,
): Promise<void> {
  const scene = gatehouse(name).scene(POLICY);
  const played: Played[] = [];
  for (const [index] of histories.entries()) {
    const author = `dev-${scene.repository.replace(/\W/g, '-')}-${index}`;
    const number = await scene.open({ [`${index}.txt`]: 'a\n' }, { author });
    played.push({ scene, number, statuses: new Map(), suites: [], greens: 0, told: true });
  }
  await scene.settled();
  for (let at = 0; at < STEPS; at++) {
    for (const [index, one] of played.entries()) {
      await histories[index]?.[at]?.(one);
    }
    await scene.settled();
    check(t, played, `${which}, step ${at}`, ({ told }) => told);
  }
  await scene.resync();
  check(t, played, `${which}, after the resync`, () => true);
  for (const one of played) {
    await endWell(one);
  }
  await scene.resync();
  t.true(played.every(isGreen));
  check(t, played, `${which}, at the end`, () => true);
}

/** `isKnown`: whether Gatehouse must have heard of the last change. */
function check(t: ExecutionContext, played: readonly Played[], when: string, isKnown: (one: Played) => boolean): void {
  for (const one of played) {
    const { scene, number } = one;
    const { headSha } = scene.forge.pull(scene.repository, number);
    const own = scene.forge.statuses(scene.repository, headSha).filter(({ context }) => context === OURS);
    const greens = own.filter(({ state }) => state === 'success').length;
    const about = `${when}, #${number}`;
    t.false(greens > one.greens && !isGreen(one), `green too early: ${about}`);
    one.greens = greens;
    if (isKnown(one)) {
      t.is(scene.status(number, OURS)?.state, isGreen(one) ? 'success' : 'pending', about);
    }
  }
}

/** Everything ends as a success, and nobody hears of it. */
async function endWell(one: Played): Promise<void> {
  const { forge, repository } = one.scene;
  const { headSha } = forge.pull(repository, one.number);
  for (const context of ['first', 'lint']) {
    await setsStatus(context, 'success', true)(one);
  }
  for (const { suite, runs: begun } of one.suites) {
    delete suite.set;
    for (const job of begun.keys()) {
      const made = { name: job, app: 'github-actions', suite, conclusion: 'success' };
      begun.set(job, forge.runCheck(repository, headSha, made));
    }
  }
}
