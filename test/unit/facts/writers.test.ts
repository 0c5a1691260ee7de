import { isDeepStrictEqual } from 'node:util';
import type { Present, Reading } from '../../../src/facts/fact.ts';
import { factsOf } from '../../../src/facts/table.ts';
import { writers as fact, mayWrite, type Writers } from '../../../src/facts/writers.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import type { WriteAccess } from '../../../src/forges/port/pull-request.ts';
import type { YesNo } from '../../../src/forges/port/yes-no.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import test from '../../helpers/test.ts';

type Reviews = NonNullable<Given['reviews']>;

/** Reads who may write among those who approve or object. */
function read(given: Given, writeAccess: WriteAccess, name: ForgeName = 'github') {
  const facts = factsOf({ author: 'ann', ...given });
  const values: ReadonlyMap<string, unknown> = new Map(Object.entries(facts));
  const forge: Partial<Forge> = { name };
  const reading: Reading<typeof facts.writers> = {
    forge: forge as Forge,
    pullRequest: facts.pullRequest,
    preloaded: {},
    baseSha: '',
    statusContext: 'gatehouse',
    authorTrailers: [],
    writeAccess,
    ownerTeams: async () => [],
    before: facts.writers,
    of: async <Value>({ name }: { readonly name: string; readonly unread: Value }) => values.get(name) as Value,
  };
  return fact.read(reading, ['objectors', 'resolvers', 'approvers']);
}

function people(name: string, count: number, review: Omit<Reviews[number], 'author'>): Reviews {
  return Array.from({ length: count }, (_, index) => ({ author: `${name}-${index}`, ...review }));
}

const UNTOLD = { official: null };
const OBJECTS = { state: 'changes-requested' } as const;

test('the forge is asked about a hundred people, objectors first, ten at once', async (t) => {
  const asked: string[] = [];
  let running = 0;
  let most = 0;
  const read150 = await read(
    { reviews: [...people('approver', 90, UNTOLD), ...people('objector', 60, { ...UNTOLD, ...OBJECTS })] },
    async (login) => {
      asked.push(login);
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return 'no';
    },
  );
  t.is(most, 10);
  t.deepEqual(asked.slice(58, 62), ['objector-58', 'objector-59', 'approver-0', 'approver-1']);
  t.is(asked.length, 100);
  t.deepEqual(
    ['approver-39', 'approver-40', 'approver-89', 'nobody'].map((login) => mayWrite(read150, login)),
    ['no', 'unknown', 'unknown', 'unknown'],
  );
});

test('of whom the review tells it, nobody is asked about, and a program never may write', async (t) => {
  const told = await read(
    {
      reviews: [
        { author: 'Wanda', official: true },
        { author: 'sam', official: false, ...OBJECTS },
        { author: 'helper[bot]', bot: true, ...UNTOLD, ...OBJECTS },
        { author: 'ann', ...UNTOLD },
      ],
    },
    async () => t.fail('asked'),
  );
  t.deepEqual(
    ['WANDA', 'sam', 'Helper[bot]', 'ann'].map((login) => mayWrite(told, login)),
    ['yes', 'no', 'no', 'unknown'],
  );
});

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: everybody is asked about, since that costs no request each`, async (t) => {
    const objectors = people('objector', 150, { ...UNTOLD, ...OBJECTS });
    const answers = await read({ reviews: [...objectors, { author: 'bob', ...UNTOLD }] }, async () => 'no', name);
    t.is(mayWrite(answers, 'bob'), 'no');
    t.deepEqual(new Set(answers.answers.values()), new Set(['no']));
  });
}

test('those who have resolved conversations are asked about before those who approve', async (t) => {
  const given = { reviews: people('approver', 150, UNTOLD), threads: [{ by: 'carol', resolved_by: 'bob' }] };
  t.is(mayWrite(await read(given, async () => 'yes'), 'bob'), 'yes');
});

/** What the resync finds where people may write as `now` says, and what the verdict was judged by. */
async function compare(value: Writers, now: WriteAccess, name: ForgeName = 'github') {
  const { change } = fact;
  if (change.noticedBy !== 'digest') {
    throw new Error('the resync does not look');
  }
  const parts = change.askAgain?.(value, []) ?? [];
  const forge: Partial<Forge> = { name, writeAccess: () => now };
  const pull = { repository: 'octo/app', number: 1, headSha: '', baseBranch: 'main', statusContext: '' };
  const present: Present = { forge: forge as Forge, ...pull, once: (_, work) => work() };
  return { judged: change.plain(value), found: change.plain(await change.readAgain(present, parts)) };
}

const CROWD: Given = {
  reviews: [
    { author: 'helper[bot]', bot: true, ...UNTOLD, ...OBJECTS },
    ...people('objector', 60, { official: false, ...OBJECTS }),
    ...people('approver', 90, { official: false }),
    { author: 'Wanda', official: true },
  ],
  threads: [{ by: 'carol', resolved_by: 'Rita' }],
};

test('a resync asks about writers first, then about those who can end a success', async (t) => {
  const value = await read(CROWD, async () => 'no');
  const asked: string[] = [];
  const { judged, found } = await compare(value, async (login) => {
    asked.push(login);
    return login === 'wanda' ? 'yes' : 'no';
  });
  t.deepEqual([asked.length, asked[0], asked[1], asked[61]], [100, 'wanda', 'objector-0', 'rita']);
  t.deepEqual(found, judged, 'of those beyond nothing else is known');
});

for (const login of ['wanda', 'objector-59', 'rita', 'approver-89'] as const) {
  test(`a resync finds that ${login} may write, or may not, and what is unknown`, async (t) => {
    const value = await read(CROWD, async () => 'no', 'gitea');
    const before = login === 'wanda' ? 'yes' : 'no';
    const now = (changed: YesNo) => async (one: string) => (one === login ? changed : one === 'wanda' ? 'yes' : 'no');
    for (const changed of ['yes', 'no', 'unknown'] as const) {
      const { judged, found } = await compare(value, now(changed), 'gitea');
      // An approver who may not write makes nothing green, whether that can be read or not.
      const isSame = changed === before || (login === 'approver-89' && changed === 'unknown');
      t.is(isDeepStrictEqual(found, judged), isSame, changed);
    }
  });
}

test('a resync finds that an approver may write or not who was unknown', async (t) => {
  const value = await read({ reviews: [{ author: 'bob', ...UNTOLD }] }, async () => 'unknown');
  for (const [now, isSame] of [
    ['unknown', true],
    ['yes', false],
    ['no', false],
  ] as const) {
    const { judged, found } = await compare(value, async () => now);
    t.is(isDeepStrictEqual(found, judged), isSame, now);
  }
});

test('in a case of a policy, no program may write', (t) => {
  const { writers } = factsOf({ reviews: [{ author: 'Helper[bot]', bot: true, official: true, ...OBJECTS }] });
  t.is(mayWrite(writers, 'helper[bot]'), 'no');
});
