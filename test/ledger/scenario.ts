import type { Person } from '../helpers/gitea-container.ts';
import { MAIN } from '../helpers/site.ts';
import { eventually } from '../helpers/until.ts';
import type { Ground } from './ground.ts';

const RELEASE = 'release';
export const POLICY = `version: 1
rules:
  - id: title
    require: { title: '^feat: ' }
`;

/** What was done, in the words of the ledger. */
export interface Truth {
  readonly branch: string;
  /** Commits to the outcomes that are right. */
  readonly outcomes: Map<string, readonly string[]>;
  /** Of each force-push the commits that it took away, newest first. */
  readonly lost: (readonly string[])[];
}

export interface Scenario {
  readonly ground: Ground;
  readonly random: () => number;
  /** Ends the worker and starts another one. */
  readonly restartWorker: () => Promise<void>;
  readonly counts: Map<string, number>;
}

export interface Amounts {
  readonly merges: number;
  readonly bypasses: number;
  readonly pushes: number;
  readonly forcePushes: number;
}

/** Every action once at least, in the order that `random` draws. `acted`: after each. */
export async function playScenario(
  scenario: Scenario,
  amounts: Amounts,
  acted: () => void = () => {},
): Promise<readonly Truth[]> {
  const { ground, random } = scenario;
  const main: Truth = { branch: MAIN, outcomes: new Map(), lost: [] };
  const release: Truth = { branch: RELEASE, outcomes: new Map(), lost: [] };
  await ground.requireStatus(MAIN, `gatehouse/${MAIN}`);
  // What the repository began with.
  for (const sha of await ground.commits(MAIN)) {
    main.outcomes.set(sha, ['direct']);
  }
  const actions = [
    ...repeat(amounts.merges, () => merge(scenario, main, 'feat: it', 'bob', ['passed'])),
    ...repeat(amounts.bypasses, () => merge(scenario, main, 'it', 'alice', ['bypassed'])),
    ...repeat(amounts.pushes, () => push(scenario, main)),
    ...repeat(amounts.forcePushes, () => forcePush(scenario, main)),
    () => remakeBranch(scenario, release),
    () => ground.site.rename(`${ground.site.repository.split('/')[1]}-renamed`),
  ];
  await merge(scenario, main, 'feat: first', 'bob', ['passed']);
  for (const act of shuffled(actions, random)) {
    if (random() < 0.05) {
      await scenario.restartWorker();
    }
    await act();
    acted();
  }
  return [main, release];
}

const repeat = <T>(times: number, act: T): readonly T[] => Array.from({ length: times }, () => act);

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

let files = 0;
function newFile(): Record<string, string> {
  files += 1;
  return { [`file-${files}.txt`]: `${files}\n` };
}

function count({ counts }: Scenario, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

/** Does something to a branch, with the webhooks of it or without, and notes what came by it. */
async function change(
  { ground, random, counts }: Scenario,
  { branch, outcomes }: Truth,
  right: readonly string[],
  act: () => Promise<unknown>,
): Promise<'told' | 'lost'> {
  const isLost = random() < 0.3;
  const before = await ground.tip(branch);
  if (isLost) {
    counts.set(LOST, (counts.get(LOST) ?? 0) + 1);
    await ground.site.loseWebhooks(true);
  }
  await act();
  if (isLost) {
    await ground.site.loseWebhooks(false);
  }
  for (const [index, sha] of (await ground.commits(branch, before)).entries()) {
    outcomes.set(sha, index > 0 && ground.mayBeUnknown(isLost) ? [...right, 'unknown'] : right);
  }
  return isLost ? 'lost' : 'told';
}

const LOST = 'with its webhooks lost';

async function merge(
  scenario: Scenario,
  truth: Truth,
  title: string,
  by: Person,
  right: readonly string[],
): Promise<'told' | 'lost'> {
  const { ground, random } = scenario;
  const { site } = ground;
  const topic = `topic-${files}`;
  const amount = 1 + Math.floor(random() * 3);
  await site.push(topic, ...Array.from({ length: amount }, newFile));
  const number = await site.open(topic, { title, base: truth.branch });
  const wanted = right.includes('passed') ? 'success' : 'failure';
  await eventually(`${site.repository}#${number} is ${wanted}`, async () => {
    const status = await site.status(number, `gatehouse/${truth.branch}`);
    return status?.state === wanted;
  });
  let method = ground.methods[Math.floor(random() * ground.methods.length)] ?? 'merge';
  if (random() < 0.3 && method !== FAST_FORWARD && truth.branch === MAIN) {
    await push(scenario, truth);
  }
  const told = await change(scenario, truth, right, async () => {
    method = await ground.mergePull(number, by, method);
  });
  count(scenario, `merged by ${method}`);
  count(scenario, right.includes('passed') ? 'merged when green' : 'merged past a red status by an administrator');
  return told;
}

/** Only where nothing came to the base since. */
export const FAST_FORWARD = 'fast-forward-only';

async function push(scenario: Scenario, truth: Truth): Promise<'told' | 'lost'> {
  count(scenario, 'pushed directly');
  return change(scenario, truth, ['direct'], () => scenario.ground.site.push(truth.branch, newFile()));
}

async function forcePush(scenario: Scenario, truth: Truth): Promise<void> {
  const { ground } = scenario;
  const first = await push(scenario, truth);
  const [pushed = '', back = ''] = await ground.commits(truth.branch);
  const second = await change(scenario, truth, ['direct'], () => ground.forcePush(truth.branch, back, newFile()));
  if (first === 'told' && second === 'told') {
    truth.lost.push([pushed]);
  } else {
    // What was pushed and taken away before a resync is nowhere to be seen.
    count(scenario, 'force-pushed without a webhook of it');
  }
  count(scenario, 'force-pushed');
}

/** A branch that a policy judges pull requests into is watched. */
async function remakeBranch(scenario: Scenario, truth: Truth): Promise<void> {
  const { ground } = scenario;
  await ground.site.push(truth.branch, newFile());
  await merge(scenario, truth, 'feat: release', 'bob', ['passed']);
  const merged = await merge(scenario, truth, 'not released', 'alice', ['bypassed']);
  const [tip = '', back = ''] = await ground.commits(truth.branch);
  await ground.site.deleteBranch(truth.branch);
  if (merged === 'told') {
    truth.lost.push([tip]);
  }
  await ground.makeBranch(truth.branch, back);
  await push(scenario, truth);
  count(scenario, 'branch deleted and made again');
}
