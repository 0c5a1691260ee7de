import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { SCHEMA_VERSION } from '../../src/db/schema.ts';
import { setOldestReader } from '../helpers/database.ts';
import { DOOR, SECRET } from '../helpers/door.ts';
import { type GatehouseProcess, gatehouse } from '../helpers/process.ts';
import { type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NEXT_VERSION = SCHEMA_VERSION + 1;
const NEXT = `${String(NEXT_VERSION).padStart(4, '0')}_next`;

/** What a version may do to the tables that the version before it writes: add what may be absent, and what has a default. */
const MIGRATION = `
ALTER TABLE gatehouse.deliveries ADD COLUMN source text;
ALTER TABLE gatehouse.reviews ADD COLUMN risk integer NOT NULL DEFAULT 0;
ALTER TABLE gatehouse.repositories ADD COLUMN seen_at timestamptz NOT NULL DEFAULT now();
CREATE TABLE gatehouse.risks (repository text PRIMARY KEY);
CREATE INDEX reviews_risk ON gatehouse.reviews (risk);
`;

const FILES = {
  '.gatehouse.yml': "version: 1\nrules: [{ id: titled, require: { title: '^(feat|fix): ' } }]\n",
  'a.ts': 'one\n',
};

/** The code with one migration more, in a folder of its own. Returns its main file. */
async function makeNextVersion(t: ExecutionContext, migration: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-next-'));
  t.teardown(() => rm(folder, { recursive: true }));
  await cp(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'src/db/migrations', `${NEXT}.sql`), migration);
  const schema = join(folder, 'src/db/schema.ts');
  const text = await readFile(schema, 'utf8');
  const raised = text.replace(`SCHEMA_VERSION = ${SCHEMA_VERSION};`, `SCHEMA_VERSION = ${NEXT_VERSION};`);
  t.not(raised, text);
  await writeFile(schema, raised);
  t.true((await readdir(join(folder, 'src/db/migrations'))).includes(`${NEXT}.sql`));
  return join(folder, 'src/main.js');
}

/** `main`: of which version. */
async function start(t: ExecutionContext, command: 'serve' | 'work', story: Story, main?: string) {
  const env = {
    ...story.environment,
    WEBHOOK_SECRET: SECRET,
    PORT: '0',
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    DRAIN_SECONDS: '0',
  };
  const started = gatehouse([command], env, '', main);
  t.teardown(() => started.child.kill('SIGKILL'));
  const { port } = await started.logged('Gatehouse is listening');
  return { ...started, url: `http://127.0.0.1:${port}` };
}

async function end(t: ExecutionContext, { child, ended }: GatehouseProcess): Promise<void> {
  child.kill('SIGTERM');
  t.is((await ended()).code, 0);
}

test('processes of two versions serve side by side on the schema of the newer one', async (t) => {
  await using story = await tellStory('gitea', FILES, {}, DOOR);
  const next = await makeNextVersion(t, MIGRATION);
  const doors = [await start(t, 'serve', story)];

  const migrated = await gatehouse(['migrate'], story.environment, '', next).ended();
  t.deepEqual(JSON.parse(migrated.stdout).applied, [NEXT]);
  // The old one migrates nothing, and starts on the newer schema, as after a rollback.
  const again = await gatehouse(['migrate'], story.environment).ended();
  t.deepEqual([again.code, JSON.parse(again.stdout).applied], [0, []]);
  doors.push(await start(t, 'serve', story, next), await start(t, 'serve', story));
  for (const { url } of doors) {
    // Its connection to Redis may come a moment after it listens.
    await eventually('both stores are up', async () => (await fetch(`${url}/health`)).status === 200);
  }

  for (const main of [undefined, next]) {
    const worker = await start(t, 'work', story, main);
    const numbers = [];
    for (const [index, { url }] of doors.entries()) {
      const number = story.openSilently({ 'a.ts': `${index}\n` }, { title: index === 0 ? 'things' : 'feat: things' });
      const event = { kind: 'pull-request', number, action: 'opened' } as const;
      await story.forge.deliver(`${url}/webhook`, story.repository, event, {
        secret: SECRET,
        deliveryId: `${number}`,
      });
      numbers.push(number);
    }
    await story.settled();
    t.deepEqual(
      numbers.map((number) => story.status(number)?.state),
      ['failure', 'success', 'success'],
    );
    // What one version has judged, the other changes.
    for (const number of numbers) {
      await story.edit(number, { title: 'fix: things' });
    }
    await story.settled();
    t.true(numbers.every((number) => story.status(number)?.state === 'success'));
    await end(t, worker);
  }
  for (const door of doors) {
    await end(t, door);
  }
});

test('a schema that forbids older versions ends their readiness, and serves the newer', async (t) => {
  await using story = await tellStory('gitea', FILES, {}, DOOR);
  const next = await makeNextVersion(t, `${MIGRATION}${setOldestReader(NEXT_VERSION)};`);
  const old = await start(t, 'serve', story);
  t.is((await gatehouse(['migrate'], story.environment, '', next).ended()).code, 0);
  await eventually('the old door is not ready', async () => {
    const report = await fetch(`${old.url}/health/ready`);
    return report.status === 503 && /newer than this version/.test(await report.text());
  });
  for (const command of ['migrate', 'serve']) {
    const env = { ...story.environment, WEBHOOK_SECRET: SECRET, PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1' };
    const { code, stdout } = await gatehouse([command], env).ended();
    t.is(code, 78);
    t.regex(stdout, /newer than this version of Gatehouse can use/);
  }
  const newer = await start(t, 'serve', story, next);
  await eventually('the new door is ready', async () => (await fetch(`${newer.url}/health/ready`)).status === 200);
});
