import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError, UnknownCommitError } from '../../../src/forges/port/forge-error.ts';
import { rememberFiles } from '../../../src/forges/remember-files.ts';
import test from '../../helpers/test.ts';

const COMMIT = 'a'.repeat(40);

/** A forge of which only files are read; the rest is not there. */
function setUp(texts: Readonly<Record<string, string>>, maxCharacters?: number) {
  const asked: string[] = [];
  const part: Pick<Forge, 'fileAt'> = {
    async fileAt(repository, path, ref) {
      asked.push(`${repository} ${path} ${ref.slice(0, 4)}`);
      return texts[path];
    },
  };
  const forge = rememberFiles(Object.assign(Object.create(null), part), maxCharacters);
  return { asked, forge };
}

test('a file at a commit is read once, and another commit’s or repository’s again', async (t) => {
  const { asked, forge } = setUp({ a: 'text' });
  for (const [repository, ref] of [
    ['acme/one', COMMIT],
    ['acme/one', COMMIT],
    ['acme/two', COMMIT],
    ['acme/one', 'b'.repeat(40)],
  ] as const) {
    t.is(await forge.fileAt(repository, 'a', ref), 'text');
  }
  t.deepEqual(asked, ['acme/one a aaaa', 'acme/two a aaaa', 'acme/one a bbbb']);
});

test('a file of a branch is read each time', async (t) => {
  const { asked, forge } = setUp({ a: 'text' });
  for (const path of ['a', 'a', 'b', 'b']) {
    await forge.fileAt('acme/one', path, 'main');
  }
  t.is(asked.length, 4);
});

test('a file that a commit does not have is looked for once', async (t) => {
  const { asked, forge } = setUp({});
  t.is(await forge.fileAt('acme/one', 'b', COMMIT), undefined);
  t.is(await forge.fileAt('acme/one', 'b', COMMIT), undefined);
  t.is(asked.length, 1);
});

test('a commit that the forge does not know yet is asked for again', async (t) => {
  let known = false;
  const part: Pick<Forge, 'fileAt'> = {
    async fileAt() {
      if (!known) {
        throw new UnknownCommitError('GET a');
      }
      return 'text';
    },
  };
  const forge = rememberFiles(Object.assign(Object.create(null), part));
  await t.throwsAsync(forge.fileAt('acme/one', 'a', COMMIT));
  known = true;
  t.is(await forge.fileAt('acme/one', 'a', COMMIT), 'text');
});

for (const [kind, times] of [
  ['too-large', 1],
  ['not-a-file', 1],
  ['unavailable', 2],
  ['rate-limited', 2],
] as const) {
  test(`what cannot be read at a commit is asked for ${times === 1 ? 'once' : 'again'}: ${kind}`, async (t) => {
    const asked: string[] = [];
    const part: Pick<Forge, 'fileAt'> = {
      async fileAt(_repository, path) {
        asked.push(path);
        throw new ForgeError(kind, 'no');
      },
    };
    const forge = rememberFiles(Object.assign(Object.create(null), part));
    for (const _ of [1, 2]) {
      await t.throwsAsync(forge.fileAt('acme/one', 'a', COMMIT), { message: 'no' });
    }
    t.is(asked.length, times);
  });
}

test('the files used longest ago make room for new ones', async (t) => {
  const { asked, forge } = setUp({ a: 'x'.repeat(100), b: 'x'.repeat(100), c: 'x'.repeat(100) }, 400);
  for (const path of ['a', 'b', 'a', 'c', 'a', 'b']) {
    await forge.fileAt('acme/one', path, COMMIT);
  }
  t.deepEqual(
    asked.map((line) => line.split(' ')[1]),
    ['a', 'b', 'c', 'b'],
  );
});
