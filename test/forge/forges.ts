import type { ExecutionContext } from 'ava';
import { makeForge } from '../../src/forges/make-forge.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import type { InlineComment } from '../../src/forges/port/postings.ts';
import type { PullRequestRef } from '../../src/forges/port/pull-request.ts';
import { sharedGitea } from '../helpers/gitea.ts';
import { PATIENCE } from '../helpers/patience.ts';
import type { Site } from '../helpers/site.ts';
import { makeSlots } from '../helpers/slots.ts';
import type { Test } from '../helpers/test.ts';
import type { Changes } from '../simulated-forge/git.ts';
import { realForge } from './real.ts';
import { simulatedForge } from './simulated.ts';
import type { TestForge } from './test-forge.ts';

/**
 * How many tests of a file talk to one forge at a time. A real Gitea on two cores, which sends webhooks one after the
 * other, answers all tests at once later than any limit of time allows.
 */
const TESTS_AT_A_TIME = 3;

export type Body = (t: ExecutionContext, forge: TestForge) => Promise<void>;

/** A test of the simulated Gitea and, where the run has one, of the real one. */
export interface OnBoth extends OnSome {
  /** Before all others and alone: what it does to the forge concerns every repository. */
  serial(title: string, body: Body): void;
}

type OnSome = (title: string, body: Body) => void;

/** The same on every forge: `both` has the Giteas, `every` the simulated GitHub, too, and `all` the simulated Forgejo. */
export function onForges(test: Test): { readonly all: OnSome; readonly every: OnSome; readonly both: OnBoth } {
  const gitea = sharedGitea();
  const makers: Readonly<Record<string, () => Promise<TestForge>>> = {
    'simulated GitHub': () => simulatedForge('github'),
    'simulated Forgejo': () => simulatedForge('forgejo'),
    'simulated Gitea': () => simulatedForge('gitea'),
    ...(gitea === undefined ? {} : { 'real Gitea': async () => realForge(gitea) }),
  };
  const kinds = Object.keys(makers);
  const giteas = kinds.filter((kind) => kind.endsWith('Gitea'));
  const used = new Set<string>();
  const forges = new Map<string, TestForge>();
  const slots = new Map(kinds.map((kind) => [kind, makeSlots(TESTS_AT_A_TIME)] as const));
  test.before(async () => {
    for (const kind of used) {
      const forge = await makers[kind]?.();
      if (forge !== undefined) {
        forges.set(kind, forge);
      }
    }
  });
  test.after.always(async () => {
    await Promise.all([...forges.values()].map((forge) => forge.close()));
  });
  const define = (among: readonly string[], register: Test | Test['serial']) => (title: string, body: Body) => {
    for (const kind of among) {
      used.add(kind);
      register(`${kind}: ${title}`, async (t) => {
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
  return {
    all: define(kinds, test),
    every: define(['simulated GitHub', ...giteas], test),
    both: Object.assign(define(giteas, test), { serial: define(giteas, test.serial) }),
  };
}

export const onBothForges = (test: Test): OnBoth => onForges(test).both;

/** Gatehouse's own client. It ends with the test. */
export function clientOf(t: ExecutionContext, { name, url, token }: TestForge): Forge {
  const client = makeForge({ forge: name, url, credentials: { kind: 'token', token } }, { patience: PATIENCE });
  t.teardown(() => client.close());
  return client;
}

export const refOf = (site: Site, number: number): PullRequestRef => ({ repository: site.repository, number });

export const FILES = { 'app.ts': 'one\ntwo\nthree\n' };
export const CHANGED = { 'app.ts': 'one\n2\nthree\nfour\n' };

/** A pull request from the branch `topic`, and Gatehouse's own client. */
export async function openTopic(
  t: ExecutionContext,
  forge: TestForge,
  files: Changes = FILES,
  changes: Changes = CHANGED,
) {
  const site = await forge.site(files);
  const sha = await site.push('topic', changes);
  const number = await site.open('topic', { title: 'feat: count', body: 'Because.' });
  const path = `/repos/${site.repository}`;
  const pull = `${path}/pulls/${number}`;
  return { site, client: clientOf(t, forge), sha, number, ref: refOf(site, number), path, pull };
}

/** As a review does: after reading what is there. */
export async function postInlines(
  client: Forge,
  ref: PullRequestRef,
  sha: string,
  comments: readonly InlineComment[],
): Promise<void> {
  const { reviews } = await client.ownInlineComments(ref, sha);
  await client.createInlineComments(ref, sha, comments, reviews);
}
