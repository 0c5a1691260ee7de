import type { ExecutionContext, TestFn } from 'ava';
import type { Forge } from '../../src/forges/forge.ts';
import { makeForge } from '../../src/forges/make-forge.ts';
import type { InlineComment } from '../../src/forges/postings.ts';
import type { PullRequestRef } from '../../src/forges/pull-request.ts';
import { sharedGitea } from '../helpers/gitea.ts';
import { realForge } from './real.ts';
import { simulatedForge } from './simulated.ts';
import type { Site, TestForge } from './site.ts';

/**
 * How many tests of a file talk to one forge at a time. AVA starts all at once, and a real Gitea on two cores, which
 * sends webhooks one after the other, then needs longer for each answer than any limit of time allows.
 */
const LANES = 3;

export type Body = (t: ExecutionContext, forge: TestForge) => Promise<void>;

export interface OnBoth {
  (title: string, body: Body): void;
  /** Before all others and alone: what it does to the forge concerns every repository. */
  serial(title: string, body: Body): void;
}

/** Each test is one of the simulated Gitea and, where the run has one, of the real one. */
export function onBothForges(test: TestFn): OnBoth {
  const gitea = sharedGitea();
  const makers = {
    simulated: simulatedForge,
    ...(gitea === undefined ? {} : { real: async () => realForge(gitea) }),
  };
  const forges = new Map<string, TestForge>();
  const inLane = makeLanes();
  test.before('start the forges', async () => {
    for (const [kind, make] of Object.entries(makers)) {
      forges.set(kind, await make());
    }
  });
  test.after.always('stop the forges', async () => {
    await Promise.all([...forges.values()].map((forge) => forge.close()));
  });
  const define = (register: TestFn | TestFn['serial']) => (title: string, body: Body) => {
    for (const kind of Object.keys(makers)) {
      register(`${kind} Gitea: ${title}`, async (t) => {
        const forge = forges.get(kind);
        await (forge === undefined ? t.fail('the forge did not start') : inLane(kind, () => body(t, forge)));
      });
    }
  };
  return Object.assign(define(test), { serial: define(test.serial) });
}

/** Runs what it gets in turn: of each kind as many at a time as there are lanes. */
function makeLanes() {
  const lanes = new Map<string, { readonly ends: Promise<unknown>[]; next: number }>();
  return (kind: string, run: () => Promise<void>): Promise<void> => {
    const { ends, next } = lanes.get(kind) ?? { ends: [], next: 0 };
    const done = (ends[next] ?? Promise.resolve()).then(run);
    ends[next] = done.catch(() => {});
    lanes.set(kind, { ends, next: (next + 1) % LANES });
    return done;
  };
}

/** Gatehouse's own client. It ends with the test. */
export function clientOf(t: ExecutionContext, { url, token }: TestForge): Forge {
  const client = makeForge({ forge: 'gitea', url, credentials: { kind: 'token', token } }, {});
  t.teardown(() => client.close());
  return client;
}

export const refOf = (site: Site, number: number): PullRequestRef => ({ repository: site.repository(), number });

/** As a review does: after a look at what is there. */
export async function postInlines(
  client: Forge,
  ref: PullRequestRef,
  sha: string,
  comments: readonly InlineComment[],
): Promise<void> {
  const { reviews } = await client.ownInlineComments(ref, sha);
  await client.createInlineComments(ref, sha, comments, reviews);
}
