import type { Reading } from '../../../src/facts/fact.ts';
import { factsOf } from '../../../src/facts/table.ts';
import { writers as fact, mayWrite } from '../../../src/facts/writers.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import type { WriteAccess } from '../../../src/forges/port/pull-request.ts';
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

test('in a case of a policy, no program may write', (t) => {
  const { writers } = factsOf({ reviews: [{ author: 'Helper[bot]', bot: true, official: true, ...OBJECTS }] });
  t.is(mayWrite(writers, 'helper[bot]'), 'no');
});
