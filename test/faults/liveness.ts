/** How long `/health/live` takes while the policies of a hostile author use up the time of the threads. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { inTime } from '../helpers/deadline.ts';
import { SECRET } from '../helpers/door.ts';
import { noise, policy, SLOW_TO_EVALUATE, SLOW_TO_PARSE } from '../helpers/hostile-policies.ts';
import { gatehouse, portsOf } from '../helpers/process.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';
import type { Answers } from './ask-liveness.ts';
import { untilReady } from './world.ts';

const PARSED = 'acme/parsed';
const EVALUATED = 'acme/evaluated';
/** Of another owner, and not hostile. */
const CALM = 'octo/calm';
/** What happens to each, by the threads' limit. */
const EXPECTED: Readonly<Record<string, string>> = { [PARSED]: 'failure', [EVALUATED]: 'error' };
const VERDICTS_MS = 180_000;
const POLL_MS = 100;

export interface Liveness {
  readonly busy: Answers;
  readonly idle: Answers;
  /** Of the threads' tasks, those that were ended: `parsePolicy 3, evaluate 3`. */
  readonly ended: string;
  /** From the webhook to the status of another repository's pull request, opened behind all hostile ones. */
  readonly otherReviewMs: number;
  readonly bad: boolean;
}

/**
 * Starts door and worker in one process, with these stores, and reviews so many pull requests of each kind there. `idlePort` is
 * that of a process that has nothing to do, asked at the same time.
 */
export async function measureLiveness(
  env: Readonly<Record<string, string>>,
  idlePort: number,
  pullRequests: number,
): Promise<Liveness> {
  const forge = await startSimulatedForge({ forge: 'github' });
  const busy = gatehouse(['serve', '--with-worker'], {
    ...env,
    PORT: '0',
    METRICS_PORT: '0',
    FORGE_URL: forge.url,
    FORGE_TOKEN: forge.token,
    RESYNC_MINUTES: '1440',
  });
  try {
    const { port, metricsPort } = await portsOf(busy);
    await untilReady(port);
    const opened = openPullRequests(forge, pullRequests);
    const asking = new Worker(new URL('./ask-liveness.ts', import.meta.url), { workerData: [port, idlePort] });
    const answered = once(asking, 'message');
    for (const { repository, number } of opened) {
      const event = { kind: 'pull-request', number, action: 'opened' } as const;
      await forge.deliver(`http://127.0.0.1:${port}/webhook`, repository, event, { secret: SECRET });
    }
    const otherReviewMs = await reviewAnother(forge, port);
    const states = await untilJudged(forge, opened);
    asking.postMessage('stop');
    const [[ofBusy, ofIdle]] = (await inTime('the thread that asks has ended', answered)) as [[Answers, Answers]];
    const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    const ended = ['parsePolicy', 'evaluate'].map((task) => ({ task, times: endedTimes(metrics, task) }));
    return {
      busy: ofBusy,
      idle: ofIdle,
      ended: ended.map(({ task, times }) => `${task} ${times}`).join(', '),
      otherReviewMs,
      bad:
        [ofBusy, ofIdle].some(({ times, others }) => times.length === 0 || others.length > 0) ||
        ended.some(({ times }) => times < pullRequests) ||
        opened.some(({ repository }, index) => states[index] !== EXPECTED[repository]),
    };
  } finally {
    busy.child.kill('SIGTERM');
    await busy.ended();
    await forge.stop();
  }
}

async function reviewAnother(forge: SimulatedForge, port: number): Promise<number> {
  forge.createRepository(CALM, { '.gatehouse.yml': policy(`    require: { title: '^feat: ' }`) });
  const headSha = forge.commit(CALM, 'topic', { 'a.txt': 'a\n' });
  const number = forge.openPullRequest(CALM, { head: 'topic', title: 'feat: a' });
  const begin = performance.now();
  const event = { kind: 'pull-request', number, action: 'opened' } as const;
  await forge.deliver(`http://127.0.0.1:${port}/webhook`, CALM, event, { secret: SECRET });
  await untilJudged(forge, [{ repository: CALM, headSha }]);
  return performance.now() - begin;
}

/** Each is a little different, for what hit a limit is not tried again until it changes. */
function openPullRequests(forge: SimulatedForge, amount: number) {
  forge.createRepository(PARSED, { 'README.md': 'x\n' });
  forge.createRepository(EVALUATED, { '.gatehouse.yml': policy(SLOW_TO_EVALUATE) });
  const change = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`src/${index}.txt`, noise(1_000)]));
  return Array.from({ length: amount }, (_, index) => [
    { repository: PARSED, files: { '.gatehouse.yml': `${SLOW_TO_PARSE}# ${index}\n` } },
    { repository: EVALUATED, files: { ...change, 'index.txt': `${index}\n` } },
  ])
    .flat()
    .map(({ repository, files }, index) => {
      const head = `topic-${index}`;
      const headSha = forge.commit(repository, head, files);
      return { repository, headSha, number: forge.openPullRequest(repository, { head }) };
    });
}

/** The last state of each, when none is pending any more or the time is over. */
async function untilJudged(
  forge: SimulatedForge,
  opened: readonly { readonly repository: string; readonly headSha: string }[],
): Promise<readonly string[]> {
  const deadline = performance.now() + VERDICTS_MS;
  for (;;) {
    const states = opened.map(
      ({ repository, headSha }) => forge.statuses(repository, headSha).at(-1)?.state ?? 'pending',
    );
    if (!states.includes('pending') || performance.now() > deadline) {
      return states;
    }
    await sleep(POLL_MS);
  }
}

function endedTimes(metrics: string, task: string): number {
  return Number(new RegExp(`gatehouse_tasks_ended_total\\{task="${task}",limit="time"\\} (\\d+)`).exec(metrics)?.[1]);
}
