import { makeInbox } from '../../src/inbox/inbox.ts';
import { makeStoringHealth } from '../../src/inbox/storing-health.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { storedDeliveries } from '../helpers/door.ts';
import { delivery, openInbox, shareInbox } from '../helpers/inbox.ts';
import { PATIENCE } from '../helpers/patience.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;
const emptyInbox = shareInbox(ava);

test('deliveries that arrive together share few transactions', async (t) => {
  const door = await emptyInbox();
  const deliveries = Array.from({ length: 200 }, () => delivery());
  const answers = await Promise.all(deliveries.map((one) => door.inbox.accept(one)));
  for (const answer of answers) {
    t.deepEqual(answer, { outcome: 'accepted', repeatedBody: false });
  }
  const { rows } = await door.pool.query<{ transactions: number }>(
    'SELECT count(DISTINCT xmin::text)::int AS transactions FROM gatehouse.deliveries',
  );
  t.is((await storedDeliveries(door.pool)).length, 200);
  t.true((rows[0]?.transactions ?? 200) < 50, `${rows[0]?.transactions} transactions`);
});

test('a row that the database rejects does not fail the others', async (t) => {
  const door = await emptyInbox();
  // PostgreSQL's text has no NUL. The door's own checks let none through; this is what happens if they did.
  const bad = delivery({ event: 'a\u0000b' });
  const neighbours = Array.from({ length: 10 }, () => delivery());
  const [, refused, ...accepted] = await Promise.all(
    [delivery(), bad, ...neighbours].map((one) => door.inbox.accept(one)),
  );
  t.deepEqual(refused, { outcome: 'refused', reason: 'database' });
  for (const answer of accepted) {
    t.is(answer.outcome, 'accepted');
  }
  t.is((await storedDeliveries(door.pool)).length, 11);
});

for (const [what, jobStatements] of [
  ['cannot be added', () => Promise.reject(new Error('no queue'))],
  [
    'fails to be added',
    async () => [{ text: `INSERT INTO gatehouse.repositories (name) VALUES ('a job')` }, { text: 'SELECT 1 / 0' }],
  ],
] as const) {
  test(`when its job ${what}, neither a delivery nor its frame or job is stored`, async (t) => {
    await using door = await openInbox({ jobStatements });
    const answers = await Promise.all(Array.from({ length: 5 }, () => door.inbox.accept(delivery({ job: 'a job' }))));
    t.deepEqual(
      answers,
      answers.map(() => ({ outcome: 'refused', reason: 'database' })),
    );
    t.is((await door.inbox.accept(delivery({ repository: null }))).outcome, 'accepted');
    t.is((await storedDeliveries(door.pool)).length, 1);
    t.is((await door.pool.query('SELECT FROM gatehouse.repositories')).rowCount, 0);
    t.is((await door.pool.query('SELECT FROM gatehouse.frames')).rowCount, 0);
    t.is(door.wakeups(), 0);
  });
}

for (const [how, batch] of [
  ['alone', 1],
  ['in company', 5],
] as const) {
  test(`deliveries sent after a failed BEGIN are not stored without jobs: ${how}`, async (t) => {
    await using door = await openInbox({
      jobStatements: async (jobs) =>
        jobs.map((job) => ({ text: `INSERT INTO gatehouse.repositories (name) VALUES ($1)`, values: [job] })),
    });
    // A connection that had such a transaction before is no safer than a new one.
    t.is((await door.inbox.accept(delivery({ job: 'before' }))).outcome, 'accepted');
    let failures = 0;
    door.pool.on('acquire', (client) => {
      const query = client.query.bind(client);
      Object.assign(client, {
        query: (statement: unknown, ...rest: unknown[]) => {
          const begins = typeof statement === 'string' && statement.startsWith('BEGIN');
          // As when an administrator cancels what the backend is at in this moment.
          const sent = begins && failures++ === 0 ? 'SELECT 1 / 0' : statement;
          return Reflect.apply(query, client, [sent, ...rest]);
        },
      });
    });
    const deliveries = Array.from({ length: batch }, (_, index) => delivery({ job: `job ${index}` }));
    const answers = await Promise.all(deliveries.map((one) => door.inbox.accept(one)));
    t.true(failures > 0);
    for (const { outcome } of answers) {
      t.is(outcome, 'accepted', 'by the second attempt');
    }
    const { rowCount } = await door.pool.query("SELECT FROM gatehouse.repositories WHERE name ~ '^(before|job)'");
    t.is(rowCount, 1 + batch, 'each with its job');
  });
}

test('workers are woken once for a batch with jobs, and not for a duplicate', async (t) => {
  const door = await emptyInbox();
  const before = door.wakeups();
  const one = delivery({ job: 'a job' });
  t.is((await door.inbox.accept(one)).outcome, 'accepted');
  t.is((await door.inbox.accept(one)).outcome, 'duplicate');
  t.is((await door.inbox.accept(delivery())).outcome, 'accepted');
  t.is(door.wakeups() - before, 1);
});

test('of repeats in one batch one is accepted, and of two hooks both are', async (t) => {
  const door = await emptyInbox();
  const one = delivery({ hookId: '1' });
  // The first is a batch by itself, and the others gather behind it.
  const batch = [delivery(), one, one, { ...one, hookId: '2' }];
  const answers = await Promise.all(batch.map((each) => door.inbox.accept(each)));
  t.deepEqual(
    answers.map(({ outcome }) => outcome),
    ['accepted', 'accepted', 'duplicate', 'accepted'],
  );
});

test('a body stored before under another id is stored, and reported', async (t) => {
  const door = await emptyInbox();
  const body = Buffer.from('{"replayed":true}');
  t.deepEqual(await door.inbox.accept(delivery({ body })), { outcome: 'accepted', repeatedBody: false });
  t.deepEqual(await door.inbox.accept(delivery({ body })), { outcome: 'accepted', repeatedBody: true });
});

test('two inboxes that store the same deliveries crosswise both succeed', async (t) => {
  const door = await emptyInbox();
  const second = makeInbox<string>({
    pool: door.pool,
    jobStatements: async () => [],
    wakeWorkers: () => {},
    storing: makeStoringHealth(() => {}),
    metrics: makeMetrics(),
    log: makeLog('silent'),
    patience: PATIENCE,
  });
  for (let round = 0; round < 10; round++) {
    const deliveries = Array.from({ length: 60 }, () => delivery());
    const answers = await Promise.all([
      ...deliveries.map((one) => door.inbox.accept(one)),
      ...deliveries.toReversed().map((one) => second.accept(one)),
    ]);
    const count = (outcome: string) => answers.filter((answer) => answer.outcome === outcome).length;
    t.is(count('accepted'), 60);
    t.is(count('duplicate'), 60);
  }
});

test('a locked table leads to a rejection in time, and to success without the lock', async (t) => {
  await using door = await openInbox({ patience: 0.5 });
  const blocker = await door.pool.connect();
  await blocker.query('BEGIN; LOCK TABLE gatehouse.deliveries IN ACCESS EXCLUSIVE MODE');
  const blocked = [delivery(), delivery(), delivery()];
  const answers = await Promise.all(blocked.map((one) => door.inbox.accept(one)));
  for (const answer of answers) {
    t.deepEqual(answer, { outcome: 'refused', reason: 'deadline' });
  }
  await blocker.query('ROLLBACK');
  blocker.release();
  const after = delivery();
  t.is((await door.inbox.accept(after)).outcome, 'accepted');
  await door.inbox.idle();
  // One was with the database when its time was up, and may have been stored: it was refused, not lost.
  const stored = new Set((await storedDeliveries(door.pool)).map(({ deliveryId }) => deliveryId));
  t.true(stored.has(after.deliveryId));
  t.true(blocked.filter(({ deliveryId }) => stored.has(deliveryId)).length <= 1);
});

test('a role that turns synchronous_commit off does not turn it off for deliveries', async (t) => {
  const job = { text: "INSERT INTO gatehouse.progress VALUES ('a job', now())" };
  await using door = await openInbox({
    jobStatements: async () => [job],
    prepare: async (pool) => {
      await pool.query(`DO $$ BEGIN
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET synchronous_commit = off', current_user, current_database());
      END $$`);
      await pool.query('CREATE TABLE settings (with_job boolean, setting text)');
      // Deferred: it reads the setting that the COMMIT itself reads.
      await pool.query(
        `CREATE FUNCTION note_setting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           INSERT INTO settings SELECT EXISTS (SELECT FROM gatehouse.progress), current_setting('synchronous_commit');
           RETURN NULL;
         END $$`,
      );
      await pool.query(
        `CREATE CONSTRAINT TRIGGER note_setting AFTER INSERT ON gatehouse.deliveries DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION note_setting()`,
      );
    },
  });
  t.is((await door.inbox.accept(delivery())).outcome, 'accepted');
  t.is((await door.inbox.accept(delivery({ job: 'review' }))).outcome, 'accepted');
  const { rows } = await door.pool.query('SELECT with_job, setting FROM settings ORDER BY with_job');
  t.deepEqual(rows, [
    { with_job: false, setting: 'on' },
    { with_job: true, setting: 'on' },
  ]);
});

test('the repository of a delivery is stored once, and not that of a push to a fork', async (t) => {
  const door = await emptyInbox();
  const accepted = await Promise.all([
    door.inbox.accept(delivery({ hookId: '2' })),
    door.inbox.accept(delivery({ hookId: '1' })),
    door.inbox.accept(delivery({ hookId: '1', repository: 'acme/gadgets' })),
    door.inbox.accept(delivery({ repository: null })),
    door.inbox.accept(delivery({ repository: 'stranger/widgets', resynced: [] })),
  ]);
  t.true(accepted.every(({ outcome }) => outcome === 'accepted'));
  await door.inbox.accept(delivery({ hookId: '2' }));
  const { rows } = await door.pool.query('SELECT name FROM gatehouse.repositories ORDER BY 1');
  t.deepEqual(rows, [{ name: 'acme/gadgets' }, { name: 'acme/widgets' }]);
});
