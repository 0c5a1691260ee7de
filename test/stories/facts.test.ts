import { hash } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import { FACT_NAMES, FACTS, type FactName } from '../../src/facts/table.ts';
import { FORGES as ROWS } from '../../src/forges/port/forges.ts';
import { ALL_FORGES, pathsOfReads, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import type { Changes } from '../simulated-forge/git.ts';

/**
 * Of every fact in the table, on every forge: a change of it ends the success that depended on it, with its webhook and
 * without one, and where it cannot be read there is no success. The compiler asks how people change a new fact.
 */
const gatehouse = shareStories(test, ALL_FORGES, { own: true });

interface Way {
  /** A condition that holds once `prepare` is done, and no longer after `change`. */
  readonly require?: string;
  readonly forbid?: string;
  /** Other files of the base branch. */
  readonly files?: Changes;
  readonly prepare?: (scene: Scene, number: number) => Promise<unknown>;
  /** What people do, with its webhooks unless they are lost. */
  readonly change: (scene: Scene, number: number) => Promise<unknown>;
  /** The requests that read it, as the path of the pull request and that of the repository. */
  readonly reads: (repository: string, number: number) => RegExp;
}

const OWNERS = 'a.txt @bob\n';
/** As git computes it. */
const OWNERS_ID = hash('sha1', `blob ${OWNERS.length}\0${OWNERS}`);

/** Forgejo sends no webhook of a status. */
async function report(scene: Scene, number: number, state: string): Promise<void> {
  const status = { context: 'build', state, author: 'bob', description: '' };
  const set = scene.forge.setStatus(scene.repository, scene.head(number), status);
  if (scene.forge.name !== 'forgejo') {
    await scene.send({ kind: 'status', status: set });
  }
}

function stateOf(scene: Scene, number: number): string {
  return scene.status(number, 'gatehouse/main')?.state ?? 'none';
}

const approved = (scene: Scene, number: number) => scene.review(number, 'bob', 'approved');
const team = (scene: Scene) => `acme/${scene.repository.split('/')[1]}`;

const WAYS: Readonly<Record<FactName, Way>> = {
  changedFiles: {
    require: "changed_files: '<= 1'",
    change: (scene, number) => scene.push(number, { 'b.txt': 'b\n' }),
    reads: (repository, number) => pathsAndMore(repository, number, 'files|diff'),
  },
  commits: {
    require: "commits: { count: '<= 1' }",
    change: (scene, number) => scene.push(number, { 'a.txt': 'b\n' }),
    reads: (repository, number) => pathsAndMore(repository, number, 'commits'),
  },
  reviews: {
    forbid: 'changes_requested: true',
    change: (scene, number) => scene.review(number, 'bob', 'changes-requested'),
    reads: (repository, number) => pathsAndMore(repository, number, 'reviews'),
  },
  lastChange: {
    require: 'approvals: { count: 1, committers: true, fresh: true }',
    prepare: approved,
    change: (scene, number) => scene.forcePush(number, { 'a.txt': 'other\n' }),
    reads: (repository, number) => new RegExp(`/repos/${repository}/issues/${number}/timeline|^/graphql.*/timeline`),
  },
  merges: {
    require: 'approvals: { count: 1, committers: true, fresh: except-updates }',
    prepare: approved,
    change: (scene, number) => scene.push(number, { 'a.txt': 'other\n' }),
    reads: (repository, number) => pathsAndMore(repository, number, 'commits'),
  },
  requestedReviews: {
    forbid: 'reviews_requested: true',
    change: (scene, number) => scene.requestReview(number, 'bob'),
    reads: (repository, number) => new RegExp(`/repos/${repository}/pulls/${number}/(?:requested_reviewers|reviews)`),
  },
  triage: {
    forbid: 'assignee: bob',
    change: (scene, number) => scene.assign(number, 'bob'),
    reads: (repository, number) => new RegExp(`^/repos/${repository}/pulls/${number}$`),
  },
  repository: {
    forbid: 'visibility: private',
    change: (scene) => scene.setPrivate(true),
    reads: (repository) => new RegExp(`^/repos/${repository}$`),
  },
  codeOwners: {
    require: 'approvals: { count: 1, committers: true, from: CODEOWNERS }',
    files: { CODEOWNERS: OWNERS },
    prepare: approved,
    change: (scene) => scene.push('main', { CODEOWNERS: 'a.txt @carol\n' }),
    // GitHub gives it with the pull request, or else by its path; Gitea by the id of its content.
    reads: (repository, number) =>
      new RegExp(
        `^/graphql/repos/${repository}/pulls/${number}/facts$|/contents/.*CODEOWNERS$|/git/blobs/${OWNERS_ID}`,
      ),
  },
  checks: {
    require: 'checks: { name: build }',
    prepare: (scene, number) => report(scene, number, 'success'),
    change: (scene, number) => report(scene, number, 'failure'),
    reads: (repository) => new RegExp(`/repos/${repository}/(?:commits/[^/]+/(?:status|check-)|statuses/)`),
  },
  conversations: {
    require: 'threads: {}',
    change: (scene, number) => scene.commentInline(number, 'bob', { path: 'a.txt', line: 1, body: 'Why?' }),
    reads: (repository, number) => new RegExp(`/repos/${repository}/pulls/${number}/(?:comments|reviews)`),
  },
  writers: {
    require: 'approvals: { count: 1, committers: true }',
    async prepare(scene, number) {
      scene.forge.removeOutsider('dora');
      await scene.review(number, 'dora', 'approved');
    },
    change: async (scene) => scene.forge.addOutsider('dora'),
    reads: (repository, number) =>
      new RegExp(`${pathsOfReads(repository, number).source}|/repos/${repository}/(?:assignees|collaborators/dora)`),
  },
  teams: {
    require: "approvals: { count: 1, committers: true, from: ['@TEAM'] }",
    async prepare(scene, number) {
      scene.forge.createTeam(team(scene), ['bob']);
      await approved(scene, number);
    },
    change: async (scene) => scene.forge.createTeam(team(scene), ['carol']),
    reads: () => /\/teams\//,
  },
};

/** Where GitHub reads it with the pull request, that. */
function pathsAndMore(repository: string, number: number, kinds: string): RegExp {
  return new RegExp(
    `${pathsOfReads(repository, number).source}|/repos/${repository}/pulls/${number}(?:/|\\.)(?:${kinds})`,
  );
}

function policyOf({ require, forbid }: Way, teamName: string): string {
  const condition = require === undefined ? `forbid: { ${forbid} }` : `require: { ${require} }`;
  return `version: 1\nrules:\n  - id: one\n    ${condition.replace('TEAM', teamName)}\n`;
}

function tellsOf(fact: FactName, forge: (typeof ALL_FORGES)[number]): boolean {
  const { change, forges } = FACTS[fact];
  // A push always has a webhook.
  return change === 'commits' || forges[forge].webhooks.length > 0;
}

const MINUTE_MS = 60_000;
const FILES = { 'a.txt': 'a\n' };

for (const name of ALL_FORGES) {
  function sceneFor(fact: FactName): Scene {
    const scene = gatehouse(name).scene(WAYS[fact].files ?? {});
    scene.forge.commit(scene.repository, 'main', { '.gatehouse.yml': policyOf(WAYS[fact], team(scene)) });
    return scene;
  }

  interface Arranged {
    readonly fact: FactName;
    readonly scene: Scene;
    readonly number: number;
  }

  /** Pull requests whose success depends on a fact, each on one. Nobody has been told of them. */
  async function arrange(facts: readonly FactName[]): Promise<readonly Arranged[]> {
    const arranged: Arranged[] = [];
    for (const fact of facts) {
      const scene = sceneFor(fact);
      const number = scene.openSilently(FILES);
      await scene.loseWebhooks(true);
      await WAYS[fact].prepare?.(scene, number);
      await scene.loseWebhooks(false);
      arranged.push({ fact, scene, number });
    }
    // What was changed this very second is looked at again by each resync.
    gatehouse(name).forge.age(MINUTE_MS);
    return arranged;
  }

  async function succeed(t: ExecutionContext, arranged: readonly Arranged[]): Promise<void> {
    for (const { fact, scene, number } of arranged) {
      await scene.judge(number);
      t.is(stateOf(scene, number), 'success', `${fact}: ${scene.comments(number)}`);
    }
  }

  test.serial(`${name}: no success stands on a fact that changed while its webhook was lost`, async (t) => {
    const opened = await arrange(FACT_NAMES);
    await succeed(t, opened);
    for (const { fact, scene, number } of opened) {
      await scene.loseWebhooks(true);
      const pull = scene.forge.pull(scene.repository, number);
      const { updatedAt } = pull;
      await WAYS[fact].change(scene, number);
      await scene.settled();
      if (FACTS[fact].change === 'unseen') {
        // Not every forge moves it with every change: it has to be found without.
        pull.updatedAt = updatedAt;
      }
    }
    await gatehouse(name).resyncAll();
    for (const { fact, scene, number } of opened) {
      await scene.settled();
      t.not(stateOf(scene, number), 'success', fact);
    }
  });

  test.serial(`${name}: no success stands on a fact after the webhook of its change`, async (t) => {
    const opened = await arrange(FACT_NAMES.filter((fact) => tellsOf(fact, name)));
    await succeed(t, opened);
    for (const { fact, scene, number } of opened) {
      await WAYS[fact].change(scene, number);
      await scene.settled();
      t.not(stateOf(scene, number), 'success', fact);
    }
  });

  test.serial(`${name}: a fact that cannot be read is never green`, async (t) => {
    for (const { fact, scene, number } of await arrange(FACT_NAMES)) {
      let asked = 0;
      const path = WAYS[fact].reads(scene.repository, number);
      const counting = Object.assign(/^/, {
        test(asks: string) {
          const isOne = path.test(asks);
          asked += Number(isOne);
          return isOne;
        },
      });
      scene.forge.fault({ path: counting, fault: { kind: 'status', status: 403 } });
      await scene.judge(number);
      t.true(asked > 0, `${ROWS[name].title} was asked for ${fact}`);
      t.not(stateOf(scene, number), 'success', fact);
      scene.forge.clearFaults();
    }
  });

  const announced = FACT_NAMES.filter((fact) =>
    FACTS[fact].forges[name].webhooks.some(({ starts }) => starts === 'asking'),
  );

  test.serial(`${name}: before a fact is read, it is stored that its webhooks are waited for`, async (t) => {
    // Of these, others than the review's facts are read in the same way before: the pull request, and its status.
    const readBefore: readonly FactName[] = name === 'github' ? ['triage'] : ['triage', 'checks'];
    for (const { fact, scene, number } of await arrange(announced.filter((one) => !readBefore.includes(one)))) {
      let stored: readonly unknown[] | undefined;
      scene.when(undefined, WAYS[fact].reads(scene.repository, number), async () => {
        const query = 'SELECT asks FROM gatehouse.reviews WHERE repository = $1';
        stored = (await scene.door.database.query(query, [scene.repository])).rows;
      });
      await scene.judge(number);
      // Else what changes after the reading would start no review.
      t.deepEqual(stored, [{ asks: [fact] }], fact);
    }
  });

  test.serial(`${name}: a webhook of what no rule looks at asks the forge nothing`, async (t) => {
    for (const fact of announced) {
      const scene = gatehouse(name).scene({
        '.gatehouse.yml': "version: 1\nrules: [{ id: it, require: { title: '.' } }]\n",
      });
      const number = await scene.settled(scene.open(FILES));
      const before = scene.forge.seen.length;
      await WAYS[fact].change(scene, number);
      await scene.settled();
      const asked = scene.forge.seen.slice(before).filter(({ path }) => path.includes(`/repos/${scene.repository}/`));
      t.deepEqual(asked, [], fact);
    }
  });
}
