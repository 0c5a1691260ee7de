import fc from '../helpers/property.ts';
import { sized } from '../helpers/size.ts';
import { forgesOf, pathsOfReads, resyncNow, type Scene, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const POLICY = `version: 1
rules:
  - id: approved
    require: { approvals: { count: 1, committers: true } }
  - id: no-objection
    forbid: { changes_requested: true }
`;
const PEOPLE = ['ann', 'ben', 'cat', 'dan', 'eve'];
const PULLS = 8;
const STEPS = 8;
/** More, up to so many, until each kind of success and objection was seen. */
const HISTORIES = sized(1, 4);
const MAX_HISTORIES = 16;

type Word = 'approved' | 'changes-requested' | 'commented' | 'dismiss' | 'ask';
type Step = { readonly person: string; readonly inCapitals: boolean; readonly pull: number } & (
  | { readonly does: Word /** Whether its webhook is. */; readonly lost: boolean }
  /** `during`: while a review reads, rather than between two. */
  | { readonly does: 'gain' | 'lose'; readonly during: boolean }
);

/** Forges compare logins without regard to case. */
const who = { person: fc.constantFrom(...PEOPLE), inCapitals: fc.boolean(), pull: fc.nat(PULLS - 1) };
const OFTEN = ['approved', 'approved', 'approved', 'approved', 'changes-requested', 'changes-requested'] as const;
const word = fc.record({
  ...who,
  does: fc.constantFrom<Word>(...OFTEN, 'commented', 'dismiss', 'ask'),
  lost: fc.boolean(),
});
const permission = (during: boolean, ...does: readonly ('gain' | 'lose')[]) =>
  fc.record({ ...who, does: fc.constantFrom(...does), during: fc.constant(during) });
const SELDOM_LOST = ['gain', 'gain', 'lose'] as const;
const history = fc.record({
  steps: fc.array(fc.oneof(word, word, permission(true, ...SELDOM_LOST), permission(false, ...SELDOM_LOST)), {
    minLength: STEPS,
    maxLength: STEPS,
  }),
  /** Nothing shows these but the permissions themselves. */
  afterwards: fc.array(permission(false, 'gain', 'lose'), { minLength: 1, maxLength: 3 }),
});

/** What people stand by: the latest decision of each, unless it was dismissed. */
function standing(scene: Scene, number: number): ReadonlyMap<string, string> {
  const latest = new Map<string, string>();
  for (const { author, state, dismissed } of scene.forge.pull(scene.repository, number).reviews) {
    if (state !== 'commented') {
      latest.set(author.toLowerCase(), dismissed ? 'dismissed' : state);
    }
  }
  return latest;
}

/** Ends one of the successes, which steps that are drawn seldom do. */
function approversLost(scene: Scene, [number]: readonly number[]): readonly Step[] {
  const words = number === undefined ? [] : [...standing(scene, number)];
  return words
    .filter(([, word]) => word === 'approved')
    .map(([person]) => ({ person, inCapitals: true, pull: 0, does: 'lose', during: false }));
}

async function take(scene: Scene, numbers: readonly number[], step: Step): Promise<void> {
  const { forge, repository } = scene;
  const { person, inCapitals, pull } = step;
  const login = inCapitals ? person.toUpperCase() : person;
  const number = numbers[pull] ?? 0;
  if ('during' in step) {
    const change = () => (step.does === 'gain' ? forge.removeOutsider(login) : forge.addOutsider(login));
    if (step.during) {
      scene.when(undefined, pathsOfReads(repository, number), change);
      await scene.settled(scene.edit(number, { title: `feat: ${forge.pull(repository, number).title.length}` }));
    } else {
      change();
    }
    return;
  }
  await scene.loseWebhooks(step.lost);
  const last = forge.pull(repository, number).reviews.findLast(({ author }) => author.toLowerCase() === person);
  if (step.does === 'dismiss') {
    await (last === undefined ? undefined : scene.dismiss(number, last.id));
  } else if (step.does === 'ask') {
    forge.requestReview(repository, number, login);
    await scene.tell({ kind: 'pull-request', number, action: 'review_requested' });
  } else {
    await scene.review(number, login, step.does);
  }
  await scene.settled();
  await scene.loseWebhooks(false);
}

/** What is wrong with the successes that stand now, which they are, and how many objections stand. */
function look(scene: Scene, numbers: readonly number[], writers: ReadonlySet<string>) {
  const wrong: string[] = [];
  const green = new Set<number>();
  let objections = 0;
  for (const number of numbers) {
    const words = standing(scene, number);
    const by = (wanted: string) => [...words].filter(([login, word]) => word === wanted && writers.has(login));
    const objecting = by('changes-requested').length;
    objections += objecting;
    if (scene.status(number)?.state === 'success') {
      green.add(number);
      if (objecting > 0 || by('approved').length === 0) {
        wrong.push(`${number}: ${[...words].join(' ')}; may write: ${[...writers]}`);
      }
    }
  }
  return { wrong, green, objections };
}

for (const name of FORGES) {
  test(`${name}: after a resync, no success stands against those who may write now`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY });
    const numbers: number[] = [];
    for (let index = 0; index < PULLS; index++) {
      numbers.push(await story.open({ [`${index}.txt`]: 'one\n' }));
    }
    await story.settled();
    const writers = new Set(PEOPLE);
    const seen = { green: 0, objections: 0, ended: 0 };
    const check = async (what: unknown) => {
      await resyncNow(story);
      const { wrong, green, objections } = look(story, numbers, writers);
      t.deepEqual(wrong, [], JSON.stringify(what));
      seen.green += green.size;
      seen.objections += objections;
      return green;
    };
    const takeAll = async (steps: readonly Step[]) => {
      for (const step of steps) {
        await take(story, numbers, step);
        if (step.does === 'gain') {
          writers.add(step.person);
        } else if (step.does === 'lose') {
          writers.delete(step.person);
        }
      }
    };
    const isAllTried = () => seen.green > 0 && seen.objections > 0 && seen.ended > 0;
    for (const [index, { steps, afterwards }] of fc.sample(history, { numRuns: MAX_HISTORIES }).entries()) {
      if (index >= HISTORIES && isAllTried()) {
        break;
      }
      // So that there are words enough which count.
      for (const person of PEOPLE) {
        story.forge.removeOutsider(person);
        writers.add(person);
      }
      await takeAll(steps);
      // What was changed this very second is looked at again by each resync: the next one has to find what it finds.
      story.forge.age(60_000);
      const before = await check(steps);
      await takeAll([...afterwards, ...approversLost(story, [...before])]);
      const after = await check({ steps, afterwards });
      seen.ended += [...before].filter((number) => !after.has(number)).length;
    }
    t.log(`${seen.green} green, ${seen.objections} objections that stand, ${seen.ended} green ended by a permission`);
    t.true(isAllTried(), 'all were tried');
  });
}
