import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DOOR, WORKER } from '../helpers/door.ts';
import { type Story, tellStory } from '../helpers/story.ts';
import type { SimulatedForge } from '../simulated-forge/simulated-forge.ts';

/** How much is missed. */
export interface OutageSize {
  readonly repositories: number;
  readonly pullRequests: number;
  readonly deliveries: number;
  /** That the forge accepts. */
  readonly writesAMinute: number;
  /** In which every status has to be right. */
  readonly seconds: number;
}

/** GitHub accepts about 80 writes a minute. `large` is what is wanted of Gatehouse; `full` is half of it, in half the time. */
export const OUTAGE: Readonly<Record<'large' | 'full' | 'short', OutageSize>> = {
  large: { repositories: 100, pullRequests: 270, deliveries: 7_000, writesAMinute: 80, seconds: 600 },
  full: { repositories: 50, pullRequests: 135, deliveries: 3_500, writesAMinute: 80, seconds: 300 },
  short: { repositories: 8, pullRequests: 24, deliveries: 400, writesAMinute: Number.POSITIVE_INFINITY, seconds: 300 },
};

export interface Outage {
  readonly size: OutageSize;
  /** From the start of the worker until every status was right. Undefined: not in time. */
  readonly seconds: number | undefined;
  readonly requests: number;
  readonly writes: number;
  /** Pull requests that were given a success that they had not earned. */
  readonly falseGreen: number;
  /** Of all pairs of repositories, the share in which the one that was changed later had its first status first. */
  readonly recentFirst: number;
  readonly wrong: readonly string[];
}

const POLICY = (title: string) => `version: 1
rules:
  - id: title
    require: { title: '${title}' }
  - id: reviewed
    when: { title: 'reviewed' }
    require: { approvals: { count: 1 } }
`;
/** Without the outage: until all are reviewed. */
const OPENED_MS = 600_000;
const POLL_MS = 200;
const OWNER = 'acme';
const CONTEXT = 'gatehouse/main';

/** Before the outage, what happens meanwhile, and the state of the status that is right afterwards. */
interface Fate {
  readonly title: string;
  happens(forge: SimulatedForge, repository: string, number: number): void;
  readonly after: string;
}

const FATES: readonly Fate[] = [
  {
    title: 'feat: things',
    happens: (forge, repository, number) => forge.edit(repository, number, { title: 'things' }),
    after: 'failure',
  },
  {
    title: 'things',
    happens: (forge, repository, number) => forge.edit(repository, number, { title: 'feat: things' }),
    after: 'success',
  },
  {
    title: 'feat: things',
    happens: (forge, repository, number) => forge.close(repository, number),
    after: 'pending',
  },
  {
    title: 'feat: reviewed things',
    happens(forge, repository, number) {
      const [review] = forge.pull(repository, number).reviews;
      forge.dismiss(repository, number, review?.id ?? 0);
    },
    after: 'pending',
  },
];

interface Expected {
  readonly repository: string;
  readonly number: number;
  readonly after: string;
}

/** The door is away for an hour, and nothing of what happened is sent again by itself. */
export async function playOutage(size: OutageSize): Promise<Outage> {
  const asApp = ({ app }: SimulatedForge) => {
    app.install(OWNER);
    return { FORGE_TOKEN: '', GITHUB_APP_ID: app.id, GITHUB_APP_PRIVATE_KEY: app.privateKey };
  };
  await using story = await tellStory('github', {}, asApp, DOOR);
  const { forge } = story;
  forge.rateLimit.remaining = Number.MAX_SAFE_INTEGER;
  const before = await openAll(story, size);
  forge.age(60 * 60_000);
  const expected = before.map(({ fate, ...ref }) => {
    fate.happens(forge, ref.repository, ref.number);
    forge.age((60 * 60_000) / before.length);
    return { ...ref, after: fate.after };
  });
  const all = pushPolicies(forge, expected);
  const begin = Date.now() - 60 * 60_000;
  for (let index = 0; index < size.deliveries; index++) {
    const deliveredAt = new Date(begin + (index / size.deliveries) * 60 * 60_000).toISOString();
    forge.addDelivery({ guid: randomUUID(), event: 'pull_request', statusCode: 0, deliveredAt });
  }

  forge.forgetRequests();
  forge.rateLimit.remaining = 5_000;
  forge.contentLimit.perMinute = size.writesAMinute;
  // They were written before that hour.
  forge.contentLimit.writtenAt.splice(0);
  const posted = new Map(all.map((one) => [keyOf(one), forge.statuses(one.repository, headOf(forge, one)).length]));
  const start = performance.now();
  const worker = await story.openDoor({}, WORKER);
  while (wrongOnes(forge, all).length > 0 && performance.now() - start < size.seconds * 1_000) {
    await sleep(POLL_MS);
  }
  const wrong = wrongOnes(forge, all);
  const result = {
    size,
    seconds: wrong.length === 0 ? (performance.now() - start) / 1_000 : undefined,
    requests: forge.seen.length,
    writes: forge.writes(),
    falseGreen: all.filter(
      (one) =>
        one.after !== 'success' &&
        forge
          .statuses(one.repository, headOf(forge, one))
          .slice(posted.get(keyOf(one)))
          .some(({ state }) => state === 'success'),
    ).length,
    recentFirst: shareInOrder(forge, all),
    wrong: wrong.map((one) => `${keyOf(one)} is ${stateOf(forge, one)} instead of ${one.after}`),
  };
  forge.contentLimit.perMinute = Number.POSITIVE_INFINITY;
  await worker[Symbol.asyncDispose]();
  return result;
}

/** All reviewed, by a worker that then ends. */
async function openAll(story: Story, { repositories, pullRequests }: OutageSize) {
  const { forge, door } = story;
  const names = Array.from({ length: repositories }, (_, index) => `${OWNER}/site-${index}`);
  for (const name of names) {
    forge.createRepository(name, { '.gatehouse.yml': POLICY('^feat: ') });
  }
  const opened = Array.from({ length: pullRequests }, (_, index) => {
    const repository = names[index % repositories] ?? '';
    const fate = FATES[index % FATES.length] ?? FATES[0];
    if (fate === undefined) {
      throw new Error('there is no fate');
    }
    forge.commit(repository, `topic-${index}`, { [`${index}.txt`]: 'one\n' });
    const number = forge.openPullRequest(repository, { head: `topic-${index}`, title: fate.title });
    if (fate.title.includes('reviewed')) {
      forge.review(repository, number, 'bob', 'approved');
    }
    return { repository, number, fate };
  });
  await door.database.query('INSERT INTO gatehouse.repositories (name) SELECT unnest($1::text[])', [names]);
  const worker = await story.openDoor({}, WORKER);
  const isReviewed = ({ repository, number, fate }: (typeof opened)[number]) =>
    stateOf(forge, { repository, number }) === (fate.title.startsWith('feat') ? 'success' : 'failure');
  const deadline = performance.now() + OPENED_MS;
  while (!opened.every(isReviewed)) {
    if (performance.now() > deadline) {
      throw new Error('the pull requests were not reviewed before the outage');
    }
    await sleep(POLL_MS);
  }
  for (const name of names) {
    await story.settledFor(name);
  }
  await worker[Symbol.asyncDispose]();
  return opened;
}

/** To every tenth repository: what was green there is no longer. */
function pushPolicies(forge: SimulatedForge, all: readonly Expected[]): readonly Expected[] {
  const names = [...new Set(all.map(({ repository }) => repository))].filter((_, index) => index % 10 === 0);
  for (const name of names) {
    forge.commit(name, 'main', { '.gatehouse.yml': POLICY('^fix: ') });
  }
  return all.map((one) => {
    const isOpen = forge.pull(one.repository, one.number).state === 'open';
    return names.includes(one.repository) && isOpen ? { ...one, after: 'failure' } : one;
  });
}

/** `all`: in the order of their changes. Repositories take turns, so the first status of each says when its turn came. */
function shareInOrder(forge: SimulatedForge, all: readonly Expected[]): number {
  const recentFirst = [...new Set(all.toReversed().map(({ repository }) => repository))];
  const posts = forge.seen.filter(({ method, path }) => method === 'POST' && path.includes('/statuses/'));
  const places = recentFirst.map((name) => posts.findIndex(({ path }) => path.startsWith(`/repos/${name}/`)));
  const turns = places.filter((place) => place !== -1);
  const pairs = turns.flatMap((turn, index) => turns.slice(index + 1).map((other) => turn < other));
  return pairs.filter(Boolean).length / pairs.length;
}

type Ref = Pick<Expected, 'repository' | 'number'>;

function headOf(forge: SimulatedForge, { repository, number }: Ref): string {
  return forge.pull(repository, number).headSha;
}

function stateOf(forge: SimulatedForge, one: Ref): string | undefined {
  return forge.statuses(one.repository, headOf(forge, one)).findLast(({ context }) => context === CONTEXT)?.state;
}

function wrongOnes(forge: SimulatedForge, all: readonly Expected[]): readonly Expected[] {
  return all.filter((one) => stateOf(forge, one) !== one.after);
}

function keyOf({ repository, number }: Ref): string {
  return `${repository}#${number}`;
}
