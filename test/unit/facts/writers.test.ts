import test from 'ava';
import type { Reading } from '../../../src/facts/fact.ts';
import { factsOf } from '../../../src/facts/table.ts';
import { writers as fact, mayWrite } from '../../../src/facts/writers.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { WriteAccess } from '../../../src/forges/port/pull-request.ts';
import type { Given } from '../../../src/review/cases/given.ts';

type Reviews = NonNullable<Given['reviews']>;

/** Reads who may write among those who approve or object. */
function read(reviews: Reviews, writeAccess: WriteAccess, roles = ['objectors', 'approvers']) {
  const facts = factsOf({ author: 'ann', reviews });
  const values: ReadonlyMap<string, unknown> = new Map(Object.entries(facts));
  const forge: Partial<Forge> = { name: 'github' };
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
  return fact.read(reading, roles);
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
    [...people('approver', 90, UNTOLD), ...people('objector', 60, { ...UNTOLD, ...OBJECTS })],
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
    [
      { author: 'Wanda', official: true },
      { author: 'sam', official: false, ...OBJECTS },
      { author: 'helper[bot]', bot: true, ...UNTOLD, ...OBJECTS },
      { author: 'ann', ...UNTOLD },
    ],
    async () => t.fail('asked'),
  );
  t.deepEqual(
    ['WANDA', 'sam', 'Helper[bot]', 'ann'].map((login) => mayWrite(told, login)),
    ['yes', 'no', 'no', 'unknown'],
  );
});

test('asked about again are a hundred people, first those who may write, and no program', async (t) => {
  const { change } = fact;
  if (change.noticedBy !== 'digest') {
    return t.fail();
  }
  const value = await read(
    [
      { author: 'helper[bot]', bot: true, ...UNTOLD, ...OBJECTS },
      ...people('objector', 150, { official: false, ...OBJECTS }),
      { author: 'Wanda', official: true },
    ],
    async () => 'no',
  );
  const again = change.askAgain?.(value, []) ?? [];
  t.deepEqual([again.length, again[0], again[1]], [100, 'wanda', 'objector-0']);
  const now = { answers: new Map(again.map((login) => [login, mayWrite(value, login)])) };
  t.deepEqual(change.plain(value), change.plain(now));
});
