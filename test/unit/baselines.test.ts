import type pg from 'pg';
import type { Forge } from '../../src/forges/port/forge.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
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

interface Present {
  /** Undefined: it is not there, or not shown. An error: what the forge answers instead. */
  readonly repository: RepositoryNow | undefined | ForgeError;
  /** Of its policy. */
  readonly text?: string;
}

/** A forge whose policy repository a test replaces. `is`: looks at it as it is then, and returns the problem and the text in force. */
function replaceable() {
  let present: Present = { repository: FIRST };
  let looks = 0;
  const { pool, row } = oneRow();
  const baselines = baselinesOf(pool, {
    async repository() {
      if (present.repository instanceof ForgeError) {
        throw present.repository;
      }
      return present.repository;
    },
    branchCommit: async () => `commit ${looks}`,
    fileAt: async (_repository, path) => (path === '.gatehouse.yml' ? present.text : undefined),
  });
  const is = async (repository: Present['repository'], text?: string) => {
    const id = repository instanceof ForgeError ? 0 : Number(repository?.id);
    present = { repository, text: text ?? textOf(id) };
    looks += 1;
    await baselines.refresh(NAME);
    return [row().problem, row().inForce?.text];
  };
  return { baselines, is };
}

const BROKEN = 'version: 2\nrules: []\n';
const of = async (baselines: Baselines) => (await baselines.of('acme/widgets')).kind;

test('another repository under the name of the baseline is not trusted', async (t) => {
  const { is } = replaceable();
  t.deepEqual(await is(FIRST), [null, textOf(1)]);
  t.deepEqual(await is({ ...FIRST, id: '2' }), ['replaced', textOf(1)]);
  t.deepEqual(await is(undefined), ['missing', textOf(1)]);
  t.deepEqual(await is({ ...FIRST, id: '2' }), ['replaced', textOf(1)]);
  t.deepEqual(await is(FIRST), [null, textOf(1)]);
});

test("a baseline ends where its owner's name belongs to another account", async (t) => {
  const { is } = replaceable();
  await is(FIRST);
  t.deepEqual(await is({ ...FIRST, id: '2', ownerId: '20' }), [null, textOf(2)]);
});

test('a broken, lost, renamed or unreadable baseline leaves the last good one', async (t) => {
  const { is } = replaceable();
  t.deepEqual(await is(FIRST), [null, textOf(1)]);
  t.deepEqual(await is(FIRST, BROKEN), ['broken', textOf(1)]);
  t.deepEqual(await is(new ForgeError('refused', 'no')), ['unreadable', textOf(1)]);
  t.deepEqual(await is(undefined), ['missing', textOf(1)]);
  // The forge redirects the old name to the repository, which may belong to somebody else now.
  t.deepEqual(await is({ ...FIRST, name: 'mallory/taken' }, textOf(9)), ['missing', textOf(1)]);
  t.deepEqual(await is(FIRST, textOf(2)), [null, textOf(2)]);
});

test('a first baseline that is broken is an error, not the absence of one', async (t) => {
  const { baselines, is } = replaceable();
  t.deepEqual(await is(FIRST, BROKEN), ['broken', undefined]);
  t.is(await of(baselines), 'broken');
  await is(FIRST);
  t.is(await of(baselines), 'policy');
});

test('nothing is judged while it is not known whether there is a baseline', async (t) => {
  const { baselines, is } = replaceable();
  await t.throwsAsync(is(new ForgeError('unavailable', 'no')), { message: 'no' });
  await t.throwsAsync(of(baselines), { message: 'no' });
});

test('an owner without a visible policy repository has none, until it is seen', async (t) => {
  const { baselines, is } = replaceable();
  t.deepEqual(await is(undefined), [null, undefined]);
  t.is(await of(baselines), 'none');
  t.deepEqual(await is(FIRST), [null, textOf(1)]);
  t.is(await of(baselines), 'policy');
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
