import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { TWO_RULES } from '../test/helpers/policies.ts';
import { type GatehouseProcess, gatehouse, portsOf } from '../test/helpers/process.ts';
import { type SimulatedForge, startSimulatedForge } from '../test/simulated-forge/simulated-forge.ts';
import { SECRET } from './contenders.ts';
import type { BenchDatabase } from './databases.ts';

/** Pull requests to review: a door and workers in separate processes, the forge in this one. */
export interface ReviewSite extends AsyncDisposable {
  readonly forge: SimulatedForge;
  readonly numbers: readonly number[];
  /** Starts a worker, which ends with the site. */
  work(settings?: Readonly<Record<string, string>>): Promise<GatehouseProcess>;
  /** Changes the title, and sends the webhook. */
  retitle(number: number, title: string): Promise<void>;
  /** Those of the pull requests that do not have this state. */
  unsettled(numbers: readonly number[], state: string): readonly number[];
  /** Waits until all but so many have this state. */
  settled(numbers: readonly number[], state: string, allBut?: number): Promise<void>;
}

const REPOSITORY = 'acme/widgets';
const POLL_MS = 1;
/** The job engine may skip a job for a minute, if another one of its key was active when it last counted. */
const GIVE_UP_MS = 150_000;

export async function openReviewSite(database: BenchDatabase, pullRequests: number): Promise<ReviewSite> {
  await database.clear();
  await using closers = new AsyncDisposableStack();
  const forge = closers.adopt(await startSimulatedForge({ forge: 'github' }), (started) => started.stop());
  // A thousand reviews would use up GitHub's hourly rate limit.
  forge.rateLimit.remaining = Number.MAX_SAFE_INTEGER;
  forge.createRepository(REPOSITORY, { '.gatehouse.yml': TWO_RULES });
  const numbers = Array.from({ length: pullRequests }, (_, index) => {
    forge.commit(REPOSITORY, `topic-${index}`, { [`src/${index}.ts`]: 'one\ntwo\n' });
    return forge.openPullRequest(REPOSITORY, {
      head: `topic-${index}`,
      title: 'feat: begin',
      author: `author-${index}`,
    });
  });
  const processes = closers.use(new AsyncDisposableStack());
  const run = async (role: 'serve' | 'work', settings: Readonly<Record<string, string>>) => {
    const process = gatehouse([role], {
      DATABASE_URL: database.url,
      REDIS_URL: database.redisUrl,
      PORT: '0',
      METRICS_PORT: '0',
      HOST: '127.0.0.1',
      DRAIN_SECONDS: '0',
      ...settings,
    });
    processes.defer(async () => {
      process.child.kill('SIGTERM');
      await process.ended();
    });
    await portsOf(process);
    return process;
  };
  const { port } = await portsOf(await run('serve', { WEBHOOK_SECRET: SECRET }));
  const stateOf = (number: number) => forge.statuses(REPOSITORY, forge.pull(REPOSITORY, number).headSha).at(-1)?.state;
  const unsettled = (which: readonly number[], state: string) => which.filter((number) => stateOf(number) !== state);
  const close = closers.move();
  return {
    forge,
    numbers,
    unsettled,
    work: (settings) =>
      run('work', { FORGE_URL: forge.url, FORGE_TOKEN: forge.token, RESYNC_MINUTES: '1440', ...settings }),
    async retitle(number, title) {
      forge.edit(REPOSITORY, number, { title });
      const event = { kind: 'pull-request', number, action: 'edited' } as const;
      const details = { secret: SECRET, deliveryId: randomUUID() };
      await forge.deliver(`http://127.0.0.1:${port}/webhook`, REPOSITORY, event, details);
    },
    async settled(which, state, allBut = 0) {
      const deadline = performance.now() + GIVE_UP_MS;
      // The forge runs on this event loop, so polling must be cheap.
      while (unsettled(which, state).length > allBut) {
        if (performance.now() > deadline) {
          throw new Error(`no ${state} within ${GIVE_UP_MS} ms`);
        }
        await sleep(which.length > 1 ? 50 : POLL_MS);
      }
    },
    [Symbol.asyncDispose]: () => close.disposeAsync(),
  };
}
