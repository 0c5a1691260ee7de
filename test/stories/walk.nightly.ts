import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatehouse } from '../helpers/process.ts';
import { ALL_FORGES, REPOSITORY, type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

/** The walk of docs/guide-policy.md, as a new user takes it: each command is run, and prints what the page shows. */
const page = await readFile(new URL('../../docs/guide-policy.md', import.meta.url), 'utf8');

type Step =
  | { readonly kind: 'file'; readonly name: string; readonly text: string }
  | { readonly kind: 'command'; readonly args: readonly string[]; readonly output: string };

/** The blocks of the page in order: files with their name in the first line, and commands with what they print. */
const steps: readonly Step[] = [...page.matchAll(/^```(yaml|console)\n(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, kind, first = '', rest = '']) =>
    kind === 'yaml'
      ? { kind: 'file', name: first.replace(/^# /, ''), text: `${first}\n${rest}` }
      : { kind: 'command', args: first.replace(/^\$ gatehouse /, '').split(' '), output: rest },
);

test('the walk of docs/guide-policy.md has its commands in order', (t) => {
  t.deepEqual(
    steps.flatMap((step) => (step.kind === 'command' ? [step.args[0]] : [])),
    ['init', 'backtest', 'report', 'test', 'test', 'explain'],
  );
});

const FORGE_OF_THE_PAGE = 'https://git.example.com';

/**
 * Days, commits and addresses are those of one run. Without the merges: those that come before a worker are not
 * recorded.
 */
function comparable(text: string, { forge }: Story): string {
  return text
    .replace(/\nOUTCOME .*/s, '')
    .replaceAll(forge.url, FORGE_OF_THE_PAGE)
    .replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY')
    .replaceAll(/\b[0-9a-f]{10}\b/g, 'COMMIT');
}

/** Twenty merged pull requests: of a team that has habits, and sometimes breaks them. */
function makeHistory({ forge, openSilently }: Story): void {
  for (let index = 1; index <= 20; index++) {
    const feature = { [`src/part-${index}.ts`]: 'one\ntwo\n' };
    const files =
      index % 5 === 0
        ? { [`docs/part-${index}.md`]: 'Words.\n' }
        : { ...feature, ...(index % 4 === 0 ? {} : { [`test/part-${index}.ts`]: 'one\n' }) };
    const title = index === 7 ? 'Repair the build' : index % 5 === 0 ? `docs: part ${index}` : `feat: part ${index}`;
    const number = openSilently(files, { title });
    forge.review(REPOSITORY, number, 'bob', 'approved');
    forge.merge(REPOSITORY, number);
  }
}

for (const name of ALL_FORGES) {
  test(`${name}: the walk of docs/guide-policy.md prints what the page shows`, async (t) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-walk-'));
    await using story = await tellStory(name, { 'README.md': 'Widgets\n' });
    const { forge } = story;
    makeHistory(story);
    const policy = join(folder.path, '.gatehouse.yml');
    const merge = async () => {
      forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': await readFile(policy, 'utf8') });
      await story.settled(story.tell({ kind: 'push', branch: 'main' }));
    };
    let last = 0;
    const opened = async (title: string, files: Readonly<Record<string, string>>) => {
      last = await story.open(files, { title, head: title.replace(/^.*: /, '') });
      await story.settled();
    };
    /** What people do before a command. */
    const acts: Readonly<Record<string, () => Promise<void>>> = {
      async report() {
        await merge();
        await opened('feat: lines', { 'src/lines.ts': 'one\n', 'test/lines.ts': 'one\n' });
        t.is(story.status(last)?.state, 'success');
        await opened('feat: shapes', { 'src/shapes.ts': 'one\n' });
        t.is(story.status(last)?.state, 'success', 'an observed rule stops nobody');
        await opened('docs: colours', { 'docs/colours.md': 'Words.\n' });
      },
      async explain() {
        await merge();
        forge.protect(REPOSITORY, 'main', ['gatehouse/main']);
        await opened('feat: sizes', { 'src/sizes.ts': 'one\n' });
        t.is(story.status(last)?.state, 'failure');
        t.false(forge.merge(REPOSITORY, last), 'the forge refuses it');
      },
    };
    for (const step of steps) {
      if (step.kind === 'file') {
        await writeFile(join(folder.path, step.name), step.text);
        continue;
      }
      const [command = ''] = step.args;
      await acts[command]?.();
      const args = step.args.map((arg) =>
        arg
          .replace(`${FORGE_OF_THE_PAGE}/`, `${forge.url}/`)
          .replace('/pulls/', name === 'github' ? '/pull/' : '/pulls/'),
      );
      const { stdout } = await gatehouse(args, { ...story.environment, INIT_CWD: folder.path }).ended();
      t.is(comparable(stdout, story), comparable(step.output, story), `gatehouse ${step.args.join(' ')}`);
    }
    await story.push(last, { 'test/sizes.ts': 'one\n' });
    t.is(await story.verdict(last), 'success');
    t.true(forge.merge(REPOSITORY, last));
  });
}
