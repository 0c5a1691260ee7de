import { mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { parsePolicy } from '../../src/review/policy/parse.ts';
import { forgesOf } from '../helpers/forges.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

const FORGES = forgesOf(import.meta.url);

const test = ava.serial;

const REPOSITORY = 'acme/widgets';
const makeFolder = () => mkdtempDisposable(join(tmpdir(), 'gatehouse-init-'));

/** Merged pull requests, of which none is approved. Of ten, one has no conventional title, and one is of a bot. */
async function forgeWith(name: ForgeName, merges = 10) {
  const forge = await startSimulatedForge({ forge: name });
  forge.createRepository(REPOSITORY);
  for (let count = 0; count < merges; count += 1) {
    const branch = `topic-${count}`;
    const author = count === 9 ? 'renovate[bot]' : 'alice';
    forge.commit(REPOSITORY, branch, { [`src/${count}.ts`]: 'one\n' }, { author });
    const title = count === 3 ? 'Change it' : 'feat: a change';
    const body = count < 2 ? '- [ ] later' : 'Done.';
    forge.merge(REPOSITORY, forge.openPullRequest(REPOSITORY, { head: branch, title, body, author }));
  }
  return Object.assign(forge, { [Symbol.asyncDispose]: () => forge.stop() });
}

function init(forge: SimulatedForge, folder: string, args: readonly string[] = []) {
  const access = { FORGE: forge.name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  return runGatehouse(['init', REPOSITORY, ...args], { env: access, folder });
}

for (const name of FORGES) {
  test(`${name}: recipes that 90 % of the merged pull requests met are offered`, async (t) => {
    await using folder = await makeFolder();
    await using forge = await forgeWith(name);
    const { code, stdout, stderr } = await init(forge, folder.path);
    t.deepEqual(
      [code, stdout],
      [
        0,
        `# Recipes of Gatehouse's cookbook that the last 10 merged pull requests of acme/widgets met.
# "level: observe" records what a rule would do without blocking anyone; "gatehouse backtest" lists what it would have stopped.
version: 1
rules:
  # Conventional titles: met by 9 of 10 (90%)
  - id: conventional-title
    require: { title: '^(build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(\\([\\w./-]+\\))?!?: \\S' }
    message: The changelog is made from titles.
    example: 'feat(api): add a door'

  # Small changes: met by 10 of 10 (100%)
  - id: small
    require:
      any:
        - changed_lines: '<= 600'
          except: ['**/package-lock.json', 'gen/**', '**/*.snap']
          binary: ignore
        - label: large-change
    message: A change of this size is hard to review.
`,
      ],
    );
    t.true(parsePolicy(stdout, { path: '.gatehouse.yml' }).ok);
    for (const said of [
      /^10 of 10 judged\nNot offered:\n/,
      /\n {2}A finished task list: met by 8 of 10 \(80%\)\n/,
      /\n {2}The lockfile with its manifest: met by 10 of 10 \(100%\), 10 of which it did not apply to\n/,
      /\n {2}Two people for what bots propose: met by 9 of 10 \(90%\), 9 of which it did not apply to\n/,
    ]) {
      t.regex(stderr, said);
    }
    t.deepEqual(await readdir(folder.path), [], 'nothing is written without --write');
    t.is(forge.writes(), 0);
  });

  test(`${name}: what could not be read never looks like a rule that nobody met`, async (t) => {
    await using folder = await makeFolder();
    await using forge = await forgeWith(name, 3);
    forge.fault({
      path: /\/files$|graphql|\/pulls\/\d+\/(?:files|commits)/,
      fault: { kind: 'status', status: 403 },
      times: 1,
    });
    const { stderr } = await init(forge, folder.path);
    t.regex(stderr, /^Not all could be read, so some could not be judged: .*403/m);
    t.regex(stderr, /Small changes: met by [0-2] of 3 \(\d+%\).*; [1-3] could not be judged$/m);
  });
}

test('--write writes the policy, and never over one that is there', async (t) => {
  await using folder = await makeFolder();
  await using forge = await forgeWith('gitea');
  const printed = await init(forge, folder.path);
  const written = await init(forge, folder.path, ['--write']);
  t.deepEqual([written.code, written.stdout], [0, '']);
  t.regex(written.stderr, /\n\.gatehouse\.yml is written, with 2 rules\n$/);
  const file = join(folder.path, '.gatehouse.yml');
  t.is(await readFile(file, 'utf8'), printed.stdout);

  await writeFile(file, 'version: 1\nrules: []\n');
  forge.forgetRequests();
  const refused = await init(forge, folder.path, ['--write']);
  const exists = 'gatehouse init: .gatehouse.yml already exists, and init does not replace it\n';
  t.deepEqual(refused, { code: 2, stdout: '', stderr: exists });
  t.is(forge.seen.length, 0, 'nothing is asked of the forge for it');
  t.is(await readFile(file, 'utf8'), 'version: 1\nrules: []\n');
});

test('without merged pull requests there is nothing to offer or to write', async (t) => {
  await using folder = await makeFolder();
  await using forge = await forgeWith('github', 0);
  const nothing = 'acme/widgets has no merged pull requests: there is nothing to judge.\n';
  t.deepEqual(await init(forge, folder.path), { code: 0, stdout: '', stderr: nothing });
  const written = await init(forge, folder.path, ['--write']);
  t.is(written.code, 2);
  t.regex(
    written.stderr,
    /\ngatehouse init: no recipe was met by 90% of the merged pull requests: there is nothing to write\n$/,
  );
  t.deepEqual(await readdir(folder.path), []);
});

test('what was not judged to the end offers nothing', async (t) => {
  await using folder = await makeFolder();
  await using forge = await forgeWith('forgejo');
  forge.fault({ path: /pulls\/5\/commits$/, fault: { kind: 'too-many', retryAfter: 600 } });
  const { code, stdout, stderr } = await init(forge, folder.path, ['--write']);
  t.deepEqual([code, stdout], [3, '']);
  t.regex(stderr, /^gatehouse init: stopped after 5 of 10 pull requests: /);
  t.deepEqual(await readdir(folder.path), []);
});
