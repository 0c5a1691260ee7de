import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava, { type ExecutionContext } from 'ava';
import type pg from 'pg';
import { dropOldPartitions } from '../../src/audit/drop-partitions.ts';
import { append, openChain } from '../../src/audit/ledger/chains.ts';
import { type LedgerContent, link } from '../../src/audit/ledger/entry.ts';
import { readChain } from '../../src/audit/ledger/read-ledger.ts';
import { verifyChain } from '../../src/audit/ledger/verify.ts';
import { inTransaction } from '../../src/db/transaction.ts';
import { moveLedgerTip, settlesAt } from '../../src/jobs/tables/ledger.ts';
import { moveRepository } from '../../src/jobs/tables/repositories.ts';
import { makeLog } from '../../src/log.ts';
import { addMonth } from '../helpers/audit.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { gatehouse } from '../helpers/process.ts';

const test = ava.serial;
const TIMEOUT_MS = 60_000;
const CHAIN = '7';

const commit = (sha: string, more: object = {}): LedgerContent => ({
  kind: 'commit',
  branch: 'main',
  sha: sha.repeat(40),
  parent: null,
  outcome: 'direct',
  why: null,
  pullRequest: null,
  pushedBy: 'alice',
  committer: 'alice',
  ...more,
});

const passed = (sha: string) =>
  commit(sha, {
    outcome: 'passed',
    pullRequest: {
      number: 3,
      author: 'alice',
      head: 'f'.repeat(40),
      method: 'merge',
      mergedBy: 'bob',
      mergedAt: '2026-01-01T00:00:00Z',
      verdict: {
        state: 'success',
        answeredAt: '2026-01-01T00:00:00Z',
        enforced: true,
        approvals: [{ login: 'carol', sha: 'f'.repeat(40) }],
        overrides: [],
      },
    },
  });

const PASSED = passed('b');

async function withLedger(
  work: (pool: pg.Pool, url: string) => Promise<void>,
  contents: readonly LedgerContent[] = [...'acde'].map((sha) => commit(sha)),
): Promise<void> {
  const database = await makeMigratedDatabase();
  const pool = openPool(database.url);
  try {
    await openChain(pool, CHAIN, 'acme/widgets');
    await inTransaction(pool, TIMEOUT_MS, (client) => append(client, CHAIN, contents));
    await work(pool, database.url);
  } finally {
    await pool.end();
    await database.drop();
  }
}

async function verified(pool: pg.Pool) {
  return verifyChain(await readChain(pool, CHAIN), [], { days: 400, now: new Date() }).fault;
}

/** As the owner of the database can. */
async function unlocked(pool: pg.Pool, statement: string, values: readonly unknown[] = []): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'gatehouse.ledger'::regclass`,
  );
  for (const name of ['gatehouse.ledger', ...rows.map((row) => row.name)]) {
    await pool.query(
      `GRANT UPDATE, DELETE ON ${name} TO CURRENT_USER; ALTER TABLE ${name} DISABLE TRIGGER append_only`,
    );
  }
  await pool.query(statement, [...values]);
}

const run = (url: string, args: readonly string[]) => gatehouse(args, { DATABASE_URL: url }).ended();

test('nobody changes or removes an entry by mistake', async (t) => {
  await withLedger(async (pool) => {
    await t.throwsAsync(pool.query("UPDATE gatehouse.ledger SET entry = ''"));
    await t.throwsAsync(pool.query('DELETE FROM gatehouse.ledger'));
    t.is(await verified(pool), undefined);
  });
});

const TAMPERED: readonly (readonly [string, string, { position: number; problem: string }])[] = [
  [
    'an entry that was changed',
    "UPDATE gatehouse.ledger SET entry = replace(entry, 'direct', 'passed') WHERE position = 2",
    { position: 2, problem: 'changed' },
  ],
  [
    'an entry that was changed together with its hash',
    `UPDATE gatehouse.ledger SET entry = replace(entry, 'direct', 'passed'),
            hash = encode(sha256(convert_to(replace(entry, 'direct', 'passed'), 'UTF8')), 'hex') WHERE position = 2`,
    { position: 2, problem: 'changed' },
  ],
  [
    'the last entry, changed together with its hash',
    `UPDATE gatehouse.ledger SET entry = replace(entry, 'direct', 'passed'),
            hash = encode(sha256(convert_to(replace(entry, 'direct', 'passed'), 'UTF8')), 'hex') WHERE position = 4`,
    { position: 4, problem: 'changed' },
  ],
  [
    'a time that was changed',
    "UPDATE gatehouse.ledger SET recorded_at = recorded_at + interval '1 ms' WHERE position = 3",
    { position: 3, problem: 'changed' },
  ],
  ['an entry that was removed', 'DELETE FROM gatehouse.ledger WHERE position = 3', { position: 3, problem: 'removed' }],
  [
    'a first entry that was removed',
    'DELETE FROM gatehouse.ledger WHERE position = 1',
    { position: 1, problem: 'removed' },
  ],
  [
    'a last entry that was removed',
    'DELETE FROM gatehouse.ledger WHERE position = 4',
    { position: 4, problem: 'removed' },
  ],
  ['all of them removed', 'DELETE FROM gatehouse.ledger', { position: 1, problem: 'removed' }],
  [
    'an entry that was inserted',
    'INSERT INTO gatehouse.ledger SELECT * FROM gatehouse.ledger WHERE position = 2',
    { position: 2, problem: 'inserted' },
  ],
  [
    'an entry that was added at the end',
    'INSERT INTO gatehouse.ledger SELECT recorded_at, chain, 5, entry, hash FROM gatehouse.ledger WHERE position = 4',
    { position: 5, problem: 'changed' },
  ],
];

test('a chain that began under the new name gets the former one, once', async (t) => {
  await withLedger(async (pool) => {
    const formerNames = async () => {
      const { former } = await openChain(pool, CHAIN, 'acme/widgets');
      return former.map(({ name }) => name);
    };
    await moveRepository(pool, 'acme/OLD', 'acme/widgets');
    await moveRepository(pool, 'acme/old', 'acme/widgets');
    t.deepEqual(await formerNames(), ['acme/old']);
    await moveRepository(pool, 'acme/widgets', 'acme/WIDGETS');
    t.deepEqual(await formerNames(), ['acme/old']);
    await openChain(pool, '8', 'acme/new', 'acme/first');
    t.deepEqual(
      (await openChain(pool, '8', 'acme/new')).former.map(({ name }) => name),
      ['acme/first'],
    );
  });
});

test('a commit without a pull request never waits less because others came before', async (t) => {
  await withLedger(async (pool) => {
    const tip = { from: undefined, to: 'a', lookedAt: new Date(), pushes: [] };
    await inTransaction(pool, TIMEOUT_MS, (client) => moveLedgerTip(client, CHAIN, 'main', tip));
    const waits = async (newest: string) => (await settlesAt(pool, CHAIN, 'main', newest, 60)) !== undefined;
    t.true(await waits('b'));
    await pool.query("UPDATE gatehouse.ledger_branches SET seen_at = seen_at - interval '2 minutes'");
    t.false(await waits('b'), 'long enough');
    t.true(await waits('c'), 'it may be a merge that has just come');
  });
});

for (const [what, statement, fault] of TAMPERED) {
  test(`${what} is named`, async (t) => {
    await withLedger(async (pool, url) => {
      t.is(await verified(pool), undefined);
      await unlocked(pool, statement);
      t.deepEqual(await verified(pool), fault as Awaited<ReturnType<typeof verified>>);
      const { code, stdout } = await run(url, ['ledger', '--verify']);
      t.is(code, 1);
      t.regex(stdout, new RegExp(`acme/widgets .* entry ${fault.position} was ${fault.problem}`));
    });
  });
}

test('a copy of the heads shows that all hashes were computed anew', async (t) => {
  const contents = [...'acde'].map((sha) => commit(sha));
  let copy = '';
  await withLedger(async (_, url) => {
    copy = await copyOfHeads(t, url);
    t.is((await run(url, ['ledger', '--verify', '--against', copy])).code, 0);
  }, contents);
  await withLedger(
    async (_, url) => {
      t.is((await run(url, ['ledger', '--verify'])).code, 0);
      const { code, stdout } = await run(url, ['ledger', '--verify', '--against', copy]);
      t.is(code, 1);
      t.regex(stdout, /entry 4 was changed/);
    },
    contents.with(1, commit('f')),
  );
});

/** Entries as if they had been recorded then: in old months, unless it is now. */
async function addAt(pool: pg.Pool, times: readonly (Date | undefined)[]): Promise<void> {
  let { rows } = await readChain(pool, CHAIN);
  for (const time of times) {
    const last = rows.at(-1);
    const head = { chain: CHAIN, repository: 'acme/widgets', position: 0, hash: '', recordedAt: null, ...last };
    const row = link(head, commit('a'), time ?? new Date());
    await addMonth(pool, row.recordedAt.toISOString().slice(0, 7).replace('-', '_'));
    await pool.query('INSERT INTO gatehouse.ledger VALUES ($2, $1, $3, $4, $5)', [
      ...[CHAIN, row.recordedAt, row.position, row.text, row.hash],
    ]);
    await pool.query('UPDATE gatehouse.ledger_chains SET position = $2, hash = $3, recorded_at = $4 WHERE chain = $1', [
      ...[CHAIN, row.position, row.hash, row.recordedAt],
    ]);
    rows = [...rows, row];
  }
}

const OLD = new Date('2020-01-05T00:00:00Z');

test('a month that retention drops leaves an anchor that can be verified', async (t) => {
  await withLedger(async (pool, url) => {
    await addAt(pool, [OLD, OLD, undefined, undefined]);
    await dropOldPartitions(pool, 400, makeLog('silent'));
    const { rows: left } = await readChain(pool, CHAIN);
    t.deepEqual(
      left.map(({ position, text }) => [position, JSON.parse(text).kind]),
      [
        [3, 'commit'],
        [4, 'commit'],
        [5, 'anchor'],
      ],
    );
    const { code, stdout } = await run(url, ['ledger', '--verify']);
    t.is(code, 0);
    t.regex(stdout, /3 entries +unchanged, but 2 more were dropped by retention/);
    await unlocked(pool, 'DELETE FROM gatehouse.ledger WHERE position = 3');
    t.deepEqual(await verified(pool), { position: 3, problem: 'removed' });
  }, []);
});

test('an entry is never recorded before the one that it follows', async (t) => {
  await withLedger(async (pool) => {
    const later = new Date(Date.now() + TIMEOUT_MS);
    await addAt(pool, [later]);
    await inTransaction(pool, TIMEOUT_MS, (client) => append(client, CHAIN, [commit('b')]));
    t.deepEqual((await readChain(pool, CHAIN)).rows.at(-1)?.recordedAt, later);
  }, []);
});

/** As the owner of the database could: with the right hashes, and where the chain ends. */
async function appendForged(pool: pg.Pool, content: LedgerContent): Promise<void> {
  await inTransaction(pool, TIMEOUT_MS, (client) => append(client, CHAIN, [content]));
}

type Forging = (pool: pg.Pool, copied: { readonly hash: string }) => Promise<void>;

const FORGED: Readonly<Record<string, Forging>> = {
  'first entries that were removed, with an anchor': async (pool) => {
    const { rows } = await readChain(pool, CHAIN);
    await appendForged(pool, { kind: 'anchor', droppedUpTo: 2, hash: rows[1]?.hash ?? '' });
    await unlocked(pool, 'DELETE FROM gatehouse.ledger WHERE position <= 2');
  },
  'all entries removed, with an anchor': async (pool, { hash }) => {
    await appendForged(pool, { kind: 'anchor', droppedUpTo: 4, hash });
    await unlocked(pool, 'DELETE FROM gatehouse.ledger WHERE position <= 4');
  },
  'all entries removed, with an anchor that contradicts the copy': async (pool) => {
    await appendForged(pool, { kind: 'anchor', droppedUpTo: 4, hash: 'f'.repeat(64) });
    await unlocked(pool, 'DELETE FROM gatehouse.ledger WHERE position <= 4');
  },
  'an edited outcome, behind an anchor that counts itself': async (pool) => {
    await appendForged(pool, { kind: 'anchor', droppedUpTo: 5, hash: 'f'.repeat(64) });
    await unlocked(pool, "UPDATE gatehouse.ledger SET entry = replace(entry, 'direct', 'passed') WHERE position = 2");
  },
};

async function copyOfHeads(t: ExecutionContext, url: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'heads.json');
  await writeFile(path, (await run(url, ['ledger', '--heads', '--json'])).stdout);
  return path;
}

for (const [what, forge] of Object.entries(FORGED)) {
  test(`a copy of the heads shows ${what}`, async (t) => {
    await withLedger(async (pool, url) => {
      const copy = await copyOfHeads(t, url);
      await forge(pool, JSON.parse(await readFile(copy, 'utf8')));
      const { code, stdout } = await run(url, ['ledger', '--verify', '--against', copy]);
      t.is(code, 1, stdout);
      t.regex(stdout, /entry \d was (removed|changed|inserted)/);
    });
  });
}

test('a chain that is gone is missed by its copy, whatever is asked for', async (t) => {
  await withLedger(async (pool, url) => {
    const copy = await copyOfHeads(t, url);
    await unlocked(pool, 'DELETE FROM gatehouse.ledger');
    await pool.query('DELETE FROM gatehouse.ledger_chains');
    for (const args of [[], ['acme/widgets'], ['--organisation', 'ACME']]) {
      t.is((await run(url, ['ledger', ...args, '--verify', '--against', copy])).code, 1, args.join(' '));
    }
    await writeFile(copy, '');
    t.is((await run(url, ['ledger', '--verify', '--against', copy])).code, 64, 'an empty copy proves nothing');
  });
});

test('a restore of the database is neither complete nor tampering', async (t) => {
  await withLedger(async (pool, url) => {
    const copy = await copyOfHeads(t, url);
    const { rows } = await readChain(pool, CHAIN);
    await unlocked(pool, 'DELETE FROM gatehouse.ledger WHERE position > 2');
    await pool.query('UPDATE gatehouse.ledger_chains SET position = 2, hash = $1', [rows[1]?.hash]);
    t.is((await run(url, ['ledger', '--verify', '--against', copy])).code, 1);
    const { code, stdout } = await run(url, ['ledger', '--verify', '--against', copy, '--restored']);
    t.is(code, 2, stdout);
    t.regex(stdout, /3 entries +unchanged, but entries 3 to 4 were lost in the restore of 20/);
    t.is((await run(url, ['ledger', '--verify', '--against', copy, '--restored'])).code, 2);
    t.is((await readChain(pool, CHAIN)).rows.length, 3, 'it is recorded once');
    t.regex(await printed(t, url), /database restored .* entries 3 to 4 were lost/);
    const fresh = await copyOfHeads(t, url);
    const again = await run(url, ['ledger', '--verify', '--against', fresh]);
    t.is(again.code, 0);
    t.notRegex(again.stdout, /complete/);
  });
});

test('workers that add to one chain at a time make one chain', async (t) => {
  await withLedger(async (pool) => {
    const add = (sha: string) => inTransaction(pool, TIMEOUT_MS, (client) => append(client, CHAIN, [commit(sha)]));
    await Promise.all([...'0123456789'].map(add));
    t.is((await readChain(pool, CHAIN)).rows.length, 14);
    t.is(await verified(pool), undefined);
  });
});

const HOSTILE = commit('a', { branch: '=cmd|<script>alert(1)</script>"', committer: '<img src=x>', pushedBy: null });

async function printed(t: ExecutionContext, url: string, ...options: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(url, ['ledger', 'acme/widgets', ...options]);
  t.is(code, 0, stderr);
  return stdout;
}

test('the page has no scripts, counts on top and what was not reviewed first', async (t) => {
  await withLedger(
    async (_, url) => {
      const html = await printed(t, url, '--html');
      t.notRegex(html, /<script|<img/);
      t.regex(html, /&lt;script&gt;/);
      t.true(html.indexOf('<b>1</b>passed') < html.indexOf('<h2>Not reviewed'));
      t.true(html.indexOf('<h2>Not reviewed') < html.indexOf('class="bad">direct'));
      t.true(html.indexOf('class="bad">direct') < html.indexOf('<h2>All entries'));
    },
    [HOSTILE, PASSED],
  );
});

test('table, JSON and CSV have each entry, and CSV has no formula', async (t) => {
  await withLedger(
    async (_, url) => {
      t.regex(await printed(t, url), /bbbbbbbbbb +passed +#3 +merge +bob +carol/);
      const json = (await printed(t, url, '--json')).trim().split('\n');
      t.deepEqual(
        json.map((line) => JSON.parse(line).outcome),
        ['direct', 'passed'],
      );
      const csv = await printed(t, url, '--csv');
      t.regex(csv, /^time,repository,branch,commit,outcome,/);
      t.regex(csv, /,"'=cmd\|<script>alert\(1\)<\/script>""",/);
      t.is(await printed(t, url, '--since', '2999-01-01'), '');
      const { stdout } = await run(url, ['ledger', '--organisation', 'ACME']);
      t.regex(stdout, /bbbbbbbbbb +passed/);
    },
    [HOSTILE, PASSED],
  );
});

test('report counts a pull request once, by its outcome', async (t) => {
  await withLedger(
    async (_, url) => {
      const { stdout } = await run(url, ['report']);
      t.is(stdout, 'OUTCOME  MERGES\ndirect   2\npassed   1\n');
      const json = await run(url, ['report', '--repository', 'ACME/widgets', '--json']);
      t.is(json.stdout, '{"outcome":"direct","merges":2}\n{"outcome":"passed","merges":1}\n');
      t.is((await run(url, ['report', '--repository', 'acme/other'])).stdout, '');
    },
    [commit('a'), passed('b'), passed('c'), commit('d')],
  );
});

test('options that do not go together are refused', async (t) => {
  for (const args of [
    [],
    ['a/b', '--organisation', 'a'],
    ['a/b', '--json', '--csv'],
    ['a/b', '--against', 'x'],
    ['--verify', '--restored'],
  ]) {
    t.is((await run('postgres://127.0.0.1:1/none', ['ledger', ...args])).code, 64, args.join(' '));
  }
});
