import { deepStrictEqual as deepEqual } from 'node:assert';
import { FORGES, type ForgeName } from '../../src/forges/port/forges.ts';
import fc from '../helpers/property.ts';
import { sized } from '../helpers/size.ts';
import { ALL_FORGES, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { SEED } from '../simulated-forge/api/seed.ts';
import type { Fault } from '../simulated-forge/faults.ts';

/** Their forges fail and lose webhooks. */
const gatehouse = shareStories(test, ALL_FORGES, { own: true });

const SEQUENCES = sized(20, 100);
const PARTS = sized(1, 10);
const POLICY_PATH = '.gatehouse.yml';
const WORDS = ['feat', 'fix'] as const;

/** Titles have to begin with this word. */
const policyOf = (word: string) => `version: 1\nrules:\n  - { id: titled, require: { title: '^${word}: ' } }\n`;
const POLICY = policyOf('feat');
const extending = (repository: string) => `version: 1\nextends: ${repository}@main\nrules: []\n`;

/** After a status was posted, or before a verdict is saved. */
type Death = 'answered' | 'saved';

/** Has the next write of an armed kind fail, whoever it is by, and tries a failed job again at once. */
const DEATHS = `
  CREATE TABLE public.armed AS SELECT kind, 0::bigint AS until FROM unnest(ARRAY['answered', 'saved']) AS kind;
  CREATE SEQUENCE public.answered;
  CREATE SEQUENCE public.saved;
  CREATE SEQUENCE public.died;
  CREATE FUNCTION public.die() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('public.' || TG_ARGV[0]) <= (SELECT until FROM public.armed WHERE kind = TG_ARGV[0]) THEN
        RAISE EXCEPTION 'killed at %', nextval('public.died');
      END IF;
      RETURN NEW;
    END $$;
  CREATE TRIGGER die BEFORE UPDATE ON gatehouse.statuses FOR EACH ROW
    WHEN (NEW.answered > OLD.answered) EXECUTE FUNCTION public.die('answered');
  CREATE TRIGGER die BEFORE UPDATE ON gatehouse.reviews FOR EACH ROW
    WHEN (NEW.reviewed_at > OLD.reviewed_at) EXECUTE FUNCTION public.die('saved');
  CREATE FUNCTION public.hurry() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.start_after := now();
      RETURN NEW;
    END $$;
  CREATE TRIGGER hurry BEFORE UPDATE ON gatehouse_jobs.job_common FOR EACH ROW
    WHEN (NEW.state = 'retry') EXECUTE FUNCTION public.hurry()`;

/** One step of a sequence. `which` chooses among what is there. */
interface Step {
  readonly action: keyof typeof ACTIONS;
  readonly which: number;
  readonly isGood: boolean;
  /** Whether Gatehouse comes to rest before the next one. */
  readonly settles: boolean;
}

interface World {
  readonly scene: Scene;
  /** What its policy extends, if it extends one. */
  readonly shared: Scene;
  readonly numbers: number[];
  readonly heads: string[];
  readonly groups: { readonly number: number; readonly headSha: string }[];
  files: number;
  /** Whether Gatehouse can find all of it in a resync alone. */
  isHidden: boolean;
}

type Act = (world: World, step: Step) => unknown;

const pullOf = ({ scene }: World, number: number) => scene.forge.pull(scene.repository, number);
const branchOf = ({ which }: Step) => (which % 2 === 0 ? 'main' : 'next');
const titleOf = ({ isGood, which }: Step) => (isGood ? `${WORDS[which % 2]}: things` : 'things');
/** Each judged for itself: an author is judged for so often in an hour. */
const authorIn = ({ scene }: World) => scene.repository.replace(/^.*\/(scene-\d+).*$/, 'author-of-$1');
const newFile = (world: World) => ({ [`${++world.files}.txt`]: `${world.files}\n` });

/** The policy of a branch. A merge may bring one, or take it away. */
const policyAt = ({ forge, repository }: Scene, branch: string) => forge.textOf(repository, branch, POLICY_PATH);

function some<T>(all: readonly T[], { which }: Step): T | undefined {
  return all[which % Math.max(1, all.length)];
}

/** Of an open pull request, if there is one. */
const onOpen =
  (act: (world: World, number: number, step: Step) => unknown): Act =>
  async (world, step) => {
    const open = world.numbers.filter((number) => pullOf(world, number).state === 'open');
    const number = some(open, step);
    await (number === undefined ? undefined : act(world, number, step));
  };

/** Of the next requests to set a status. */
const onPost =
  (fault: Omit<Fault, 'method' | 'path'>): Act =>
  (world) => {
    world.isHidden = true;
    world.scene.forge.fault({ method: 'POST', path: /\/statuses\/[0-9a-f]{40}$/, times: 1, ...fault });
  };

/** The next write of this kind fails, as if its worker were killed just before. Its job is tried again. */
const onWrite =
  (kind: Death): Act =>
  async ({ scene }) => {
    const sequence = `(SELECT last_value + is_called::int FROM public.${kind})`;
    await scene.door.database.query(`UPDATE public.armed SET until = ${sequence} WHERE kind = $1`, [kind]);
  };

/** What people, the forge, the network and the machine do. */
const ACTIONS = {
  open: async (world, step) => {
    const details = { title: titleOf(step), base: branchOf(step), author: authorIn(world) };
    world.numbers.push(await world.scene.open(newFile(world), details));
  },
  twin: async (world, step) => {
    const { scene, numbers } = world;
    const number = some(numbers, step);
    if (number !== undefined) {
      const from = scene.forge.fork(scene.repository, `twin-${scene.repository.slice(5)}-${++world.files}`);
      const details = { from, title: titleOf(step), base: branchOf(step), author: authorIn(world) };
      numbers.push(await scene.open(pullOf(world, number).headBranch, details));
    }
  },
  edit: onOpen(({ scene }, number, step) => scene.edit(number, { title: titleOf(step) })),
  push: onOpen(async (world, number) => {
    world.heads.push(world.scene.head(number));
    await world.scene.push(number, newFile(world));
  }),
  pushBack: onOpen(async (world, number, step) => {
    const { scene, heads } = world;
    const head = some(heads, step);
    if (head !== undefined && pullOf(world, number).headRepository.fullName === scene.repository) {
      scene.forge.pushCommit(scene.repository, number, head);
      await scene.send({ kind: 'pull-request', number, action: 'synchronize' });
    }
  }),
  close: onOpen(({ scene }, number) => scene.close(number)),
  reopen: async (world, step) => {
    const closed = world.numbers.filter((number) => world.scene.state(number) === 'closed');
    const number = some(closed, step);
    await (number === undefined ? undefined : world.scene.reopen(number));
  },
  retarget: onOpen(({ scene }, number, step) => scene.retarget(number, branchOf(step))),
  merge: onOpen(async ({ scene }, number) => {
    if (scene.forge.merge(scene.repository, number)) {
      await scene.send({ kind: 'pull-request', number, action: 'closed' });
    }
  }),
  rename: async (world, { which }) => {
    // What is stored under the old name is found by the next resync.
    world.isHidden = true;
    await world.scene.rename(`${world.scene.repository.slice(5).replace(/-r\d$/, '')}-r${which}`);
  },
  policy: async ({ scene, shared }, { which }) => {
    const branch = which % 2 === 0 ? 'main' : 'next';
    const policy = [POLICY, policyOf('fix'), extending(shared.repository), undefined, POLICY][which >> 1];
    if (policyAt(scene, branch) !== policy) {
      await scene.push(branch, { [POLICY_PATH]: policy ?? null });
    }
  },
  share: async (world, { which, isGood }) => {
    const { scene, shared } = world;
    // Which policy a review reads that is under way, only the next resync can tell.
    await scene.settled();
    world.isHidden ||= !isGood;
    await shared.loseWebhooks(!isGood);
    await shared.push('main', { [POLICY_PATH]: policyOf(WORDS[which % 2] ?? '') });
    await shared.settled();
    await shared.loseWebhooks(false);
  },
  impersonate: onOpen(async (world, number, { which, isGood }) => {
    const { scene } = world;
    const context = `gatehouse/${pullOf(world, number).baseBranch}`;
    const status = { context, state: which % 3 === 0 ? 'failure' : 'success', author: 'mallory', description: '' };
    const made = scene.forge.setStatus(scene.repository, scene.head(number), status);
    if (isGood && FORGES[scene.forge.name].sendsStatuses) {
      await scene.send({ kind: 'status', status: made });
    } else {
      world.isHidden = true;
    }
  }),
  loseWebhooks: async (world, { isGood }) => {
    world.isHidden = true;
    await world.scene.loseWebhooks(isGood);
  },
  failReads: (world, { which }) => {
    world.isHidden = true;
    const path = new RegExp(`^/repos/${world.scene.repository}/(?:contents|git|raw)/|/facts`);
    world.scene.forge.fault({ path, times: which + 1, fault: { kind: 'status', status: 502 } });
  },
  loseAnswer: onPost({ afterwards: true, fault: { kind: 'status', status: 502 } }),
  refusePost: onPost({ fault: { kind: 'status', status: 403 } }),
  delayPost: onPost({ fault: { kind: 'late' } }),
  dieAfterPost: onWrite('answered'),
  dieBeforeSave: onWrite('saved'),
  enqueue: onOpen(async (world, number) => {
    const { scene, groups } = world;
    if (scene.forge.name === 'github' && pullOf(world, number).baseBranch === 'main') {
      const headSha = scene.forge.enqueue(scene.repository, number);
      groups.push({ number, headSha });
      await scene.send({ kind: 'merge-group', action: 'checks_requested', number, headSha });
    }
  }),
  dequeue: async (world) => {
    const group = world.groups.pop();
    if (group !== undefined) {
      world.scene.forge.dequeue(world.scene.repository, group.number);
      // Its pull request may have another base by now.
      const left = { action: 'destroyed', reason: 'dequeued', base: 'main' } as const;
      await world.scene.send({ kind: 'merge-group', ...left, ...group });
    }
  },
} as const satisfies Readonly<Record<string, Act>>;

type Action = Step['action'];

const all = Object.keys(ACTIONS) as Action[];
const STORMY: readonly Action[] = [
  ...(['loseWebhooks', 'failReads', 'loseAnswer', 'refusePost', 'delayPost'] as const),
  ...(['dieAfterPost', 'dieBeforeSave'] as const),
];

/** Without them there is little to go wrong. */
const OFTEN: readonly Action[] = ['open', 'edit', 'push', 'close', 'twin', 'retarget'];

function sequenceOf(actions: readonly Action[]) {
  const step = {
    action: fc.oneof(fc.constantFrom(...OFTEN), fc.constantFrom(...actions)),
    which: fc.nat(9),
    isGood: fc.boolean(),
    settles: fc.boolean(),
  };
  return fc.array(fc.record(step), { minLength: 8, maxLength: 20 });
}

const sequence = fc.oneof(sequenceOf(all.filter((action) => !STORMY.includes(action))), sequenceOf(all));

/** Everything arrives, and if need be the next resync has looked. */
async function comeToRest(world: World): Promise<void> {
  const { scene, isHidden } = world;
  await scene.settled();
  await scene.door.database.query('UPDATE public.armed SET until = 0');
  scene.forge.clearFaults();
  await scene.loseWebhooks(false);
  if (isHidden) {
    scene.forge.carryOutLate();
    await scene.door.database.query(
      `UPDATE gatehouse.statuses
          SET posted_at = posted_at - interval '3 minutes', unsure_until = unsure_until - interval '3 minutes'`,
    );
    await scene.resync();
  }
}

/** What a fresh judge would say: success, failure, or none without a policy. */
function judge(world: World, number: number): string {
  const { scene, shared } = world;
  const { title, baseBranch } = pullOf(world, number);
  const own = policyAt(scene, baseBranch);
  if (own === undefined) {
    return 'none';
  }
  const rules = own.includes('extends') ? policyAt(shared, 'main') : own;
  return WORDS.some((word) => title.startsWith(`${word}: `) && rules === policyOf(word)) ? 'success' : 'failure';
}

/** Each success that nobody has earned, in words. */
function unearned(world: World): readonly string[] {
  const { scene, numbers, groups } = world;
  const { forge, repository } = scene;
  const newest = new Map(forge.statuses(repository).map((status) => [`${status.sha} ${status.context}`, status]));
  const queued = new Set(groups.map(({ headSha }) => headSha));
  return [...newest.values()].flatMap(({ sha, context, state, author }) => {
    const there = numbers.filter((number) => {
      const { headSha, baseBranch } = pullOf(world, number);
      return headSha === sha && `gatehouse/${baseBranch}` === context;
    });
    const open = there.filter((number) => scene.state(number) === 'open');
    const isMerged = there.some((number) => scene.state(number) === 'merged');
    if (state !== 'success' || queued.has(sha) || (open.length === 0 && (isMerged || author !== 'gatehouse'))) {
      return [];
    }
    const bad = open.filter((number) => judge(world, number) === 'failure');
    return open.length > 0 && bad.length === 0 ? [] : [`${sha} ${context} by ${author}: #${bad.join(', #')}`];
  });
}

/** Each open pull request that does not show what it is. */
function wronglyShown(world: World): readonly string[] {
  const { scene, numbers } = world;
  const open = numbers.filter((number) => scene.state(number) === 'open' && judge(world, number) !== 'none');
  return open.flatMap((number) => {
    const { headSha, baseBranch } = pullOf(world, number);
    const sharing = open.filter((other) => {
      const pull = pullOf(world, other);
      return pull.headSha === headSha && pull.baseBranch === baseBranch;
    });
    const worst = sharing.some((other) => judge(world, other) === 'failure') ? 'failure' : 'success';
    const shown = scene.status(number, `gatehouse/${baseBranch}`)?.state;
    return shown === worst ? [] : [`#${number} is ${worst} and shows ${shown}`];
  });
}

const deadly: Partial<Record<ForgeName, Promise<unknown>>> = {};

async function play(name: ForgeName, steps: readonly Step[]): Promise<World> {
  const scene = gatehouse(name).scene({ [POLICY_PATH]: POLICY });
  const shared = gatehouse(name).scene({ [POLICY_PATH]: POLICY });
  deadly[name] ??= scene.door.database.query(DEATHS);
  await deadly[name];
  scene.forge.rateLimit.remaining = Number.MAX_SAFE_INTEGER;
  scene.forge.graphql.points.remaining = Number.MAX_SAFE_INTEGER;
  scene.forge.commit(scene.repository, 'next', { [POLICY_PATH]: POLICY });
  const world: World = { scene, shared, numbers: [], heads: [], groups: [], files: 0, isHidden: false };
  for (const step of steps) {
    await ACTIONS[step.action](world, step);
    await (step.settles ? scene.settled() : undefined);
  }
  await comeToRest(world);
  return world;
}

for (const part of Array.from({ length: PARTS }, (_, index) => index + 1)) {
  for (const name of ALL_FORGES) {
    const title = 'whatever happens, a success stands only where every open pull request has earned it';
    test.serial(`${name}: ${title}${part === 1 ? '' : ` (${part})`}`, async (t) => {
      const property = fc.asyncProperty(sequence, async (steps) => {
        const world = await play(name, steps);
        // A resync does not look for failures that others have set over a success.
        const isForged = steps.some(({ action }) => action === 'impersonate');
        deepEqual([...unearned(world), ...(isForged ? [] : wronglyShown(world))], []);
        // So that the resyncs of later sequences do not look at it.
        const { scene, shared } = world;
        const names = [scene.repository, shared.repository];
        const { database } = scene.door;
        await database.query('DELETE FROM gatehouse.repositories WHERE name = ANY ($1)', [names]);
        await database.query('DELETE FROM gatehouse.reviews WHERE repository = ANY ($1)', [names]);
      });
      // Each smaller sequence would take as long as this one.
      await fc.assert(property, {
        numRuns: SEQUENCES,
        seed: SEED * 1_000 + part,
        endOnFailure: true,
        includeErrorInReport: true,
      });
      t.pass();
    });
  }
}
