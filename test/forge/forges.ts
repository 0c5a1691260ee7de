import type { ExecutionContext, TestFn } from 'ava';
import { makeForge } from '../../src/forges/make-forge.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import type { InlineComment } from '../../src/forges/port/postings.ts';
import type { PullRequestRef } from '../../src/forges/port/pull-request.ts';
import { sharedGitea } from '../helpers/gitea.ts';
import { makeSlots } from '../helpers/slots.ts';
import { realForge } from './real.ts';
import { simulatedForge } from './simulated.ts';
import type { Site, TestForge } from './site.ts';

/**
 * How many tests of a file talk to one forge at a time. A real Gitea on two cores, which sends webhooks one after the
 * other, answers all tests at once later than any limit of time allows.
 */
const TESTS_AT_A_TIME = 3;

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
  const slots = new Map(Object.keys(makers).map((kind) => [kind, makeSlots(TESTS_AT_A_TIME)] as const));
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
        const free = await slots.get(kind)?.take();
        try {
          await (forge === undefined ? t.fail('the forge did not start') : body(t, forge));
        } finally {
          free?.();
        }
      });
    }
  };
  return Object.assign(define(test), { serial: define(test.serial) });
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
