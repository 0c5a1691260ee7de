import type pg from 'pg';
import type { Forge } from '../../src/forges/port/forge.ts';
import type { RepositoryNow } from '../../src/forges/port/pull-request.ts';
import { type Baselines, makeBaselines } from '../../src/jobs/resync/baselines.ts';
import { makeParseBaseline } from '../../src/jobs/resync/parsed-baselines.ts';
import type { BaselineRow } from '../../src/jobs/tables/baselines.ts';
import { makeLog } from '../../src/log.ts';
import { parsePolicy } from '../../src/review/policy/parse.ts';
import type { ReviewWorkers } from '../../src/review/workers/review-workers.ts';
import test from '../helpers/test.ts';

const NAME = 'acme/.gatehouse';
const FIRST: RepositoryNow = {
  ...{ id: '1', ownerId: '10', name: NAME, defaultBranch: 'main' },
  ...{ visibility: 'private', topics: undefined },
};

const textOf = (count: number) =>
  `version: 1\nrules: [{ id: small, locked: true, require: { changed_files: '<= ${count}' } }]\n`;

/** The baseline's row of one owner. */
function oneRow() {
  let stored: { state: string; revision: string } | undefined;
  const query = async (text: string, values: readonly string[]) => {
    if (text.startsWith('SELECT')) {
      return { rows: stored === undefined ? [] : [stored] };
    }
    stored = { state: values[1] ?? '', revision: String(Number(stored?.revision ?? 0) + 1) };
    return { rowCount: 1 };
  };
  const row = (): BaselineRow => JSON.parse(stored?.state ?? 'null');
  return { pool: { query } as unknown as pg.Pool, row };
}

type Parser = Pick<ReviewWorkers, 'parsePolicy'>;

const WORKERS: Parser = {
  parsePolicy: async (_repository, text, origin, role) => parsePolicy(text, origin, role),
};

function baselinesOf(pool: pg.Pool, forge: Partial<Forge>, workers: Parser = WORKERS): Baselines {
  return makeBaselines({
    forge: forge as Forge,
    pool,
    workers: workers as ReviewWorkers,
    name: '.gatehouse',
    log: makeLog('silent'),
  });
}

/** A forge whose policy repository a test replaces: `is`. Its policy allows as many files as the repository's id says. */
function replaceable() {
  let present: RepositoryNow | undefined = FIRST;
  const { pool, row } = oneRow();
  const baselines = baselinesOf(pool, {
    repository: async () => present,
    branchCommit: async () => `commit of ${present?.id}`,
    fileAt: async () => textOf(Number(present?.id)),
  });
  /** Looks at the repository as it is then, and returns the problem and the text in force. */
  const is = async (now: RepositoryNow | undefined) => {
    present = now;
    await baselines.refresh(NAME);
    return [row().problem, row().inForce?.text];
  };
  return is;
}

test('another repository under the name of the baseline is not trusted', async (t) => {
  const is = replaceable();
  t.deepEqual(await is(FIRST), [null, textOf(1)]);
  t.deepEqual(await is({ ...FIRST, id: '2' }), ['replaced', textOf(1)]);
  t.deepEqual(await is(undefined), ['missing', textOf(1)]);
  t.deepEqual(await is({ ...FIRST, id: '2' }), ['replaced', textOf(1)]);
  t.deepEqual(await is(FIRST), [null, textOf(1)]);
});

test("a baseline ends where its owner's name belongs to another account", async (t) => {
  const is = replaceable();
  await is(FIRST);
  t.deepEqual(await is({ ...FIRST, id: '2', ownerId: '20' }), [null, textOf(2)]);
});

test('a look that a push requests sees the push, also while another look runs', async (t) => {
  let commit = 'c1';
  const reading = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const { pool, row } = oneRow();
  const baselines = baselinesOf(pool, {
    repository: async () => FIRST,
    branchCommit: async () => commit,
    fileAt: async () => {
      reading.resolve();
      await goOn.promise;
      return textOf(1);
    },
  });
  const first = baselines.refresh('acme/widgets');
  await reading.promise;
  commit = 'c2';
  const pushed = [baselines.refresh(NAME), baselines.refresh(NAME)];
  goOn.resolve();
  await Promise.all([first, ...pushed]);
  t.is(row().inForce?.commit, 'c2');
});

test('a baseline that a lost worker did not parse is parsed again, and then once', async (t) => {
  const parse = WORKERS.parsePolicy;
  const lost = async () => {
    throw new Error('the worker ended without an answer');
  };
  const overLimit = async () => ({ ok: false, faults: [] }) as const;
  // The first is of the look at the forge.
  const attempts = [parse, lost, overLimit, parse];
  const { pool } = oneRow();
  const baselines = baselinesOf(
    pool,
    { repository: async () => FIRST, branchCommit: async () => 'c1', fileAt: async () => textOf(1) },
    { parsePolicy: (...given) => (attempts.shift() ?? lost)(...given) },
  );
  await baselines.refresh(NAME);
  await t.throwsAsync(baselines.of('acme/widgets'), { message: /ended without an answer/ });
  t.is((await baselines.of('acme/widgets')).kind, 'broken');
  t.is((await baselines.of('acme/widgets')).kind, 'policy');
  t.is((await baselines.of('acme/widgets')).kind, 'policy');
});

test('a baseline that is in use is not forgotten for one of another owner', async (t) => {
  const parses = new Map<string, number>();
  const parse = makeParseBaseline({
    parsePolicy(repository, text, origin, role) {
      parses.set(repository, (parses.get(repository) ?? 0) + 1);
      return WORKERS.parsePolicy(repository, text, origin, role);
    },
  });
  const file = { path: '.gatehouse.yml', text: textOf(1) };
  for (let owner = 0; owner < 300; owner++) {
    await parse('busy/.gatehouse', 'd', file);
    await parse(`owner-${owner}/.gatehouse`, 'd', file);
  }
  await parse('owner-0/.gatehouse', 'd', file);
  t.is(parses.get('busy/.gatehouse'), 1);
  t.is(parses.get('owner-0/.gatehouse'), 2, 'of an owner whose turn was long ago');
});
