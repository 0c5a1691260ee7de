import test from 'ava';
import type { CommentThread } from '../../../src/forges/port/comment-threads.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import { readOthersThreads, threadsDigest } from '../../../src/review/evaluation/read-threads.ts';

const THREAD: CommentThread = {
  author: 'bob',
  bot: false,
  startedAt: '2026-01-01T00:00:00Z',
  path: 'a.txt',
  line: 1,
  outdated: false,
  resolved: false,
  resolvedBy: null,
};
const REF = { repository: 'acme/widgets', number: 7 };

function forgeOf(commentThreads: Forge['commentThreads']): Forge {
  const forge: Partial<Forge> = { self: async () => 'gatehouse[bot]', commentThreads };
  return forge as Forge;
}

test('conversations that Gatehouse began are left out, in any case of its name', async (t) => {
  const threads = [THREAD, { ...THREAD, author: 'Gatehouse[bot]' }];
  const read = await readOthersThreads(
    forgeOf(async () => ({ threads, complete: true })),
    REF,
    'head',
  );
  t.deepEqual(read, { threads: [THREAD], complete: true });
});

for (const kind of ['refused', 'invalid', 'too-large'] as const) {
  test(`conversations that are ${kind} are none that were read`, async (t) => {
    const forge = forgeOf(async () => {
      throw new ForgeError(kind, 'no');
    });
    t.deepEqual(await readOthersThreads(forge, REF, 'head'), { threads: [], complete: false });
  });
}

test('a forge that does not answer is asked again', async (t) => {
  const forge = forgeOf(async () => {
    throw new ForgeError('unavailable', 'no');
  });
  await t.throwsAsync(readOthersThreads(forge, REF, 'head'), { instanceOf: ForgeError });
});

test('the digest changes with what a rule can see, and not with order or lines', (t) => {
  const other = { ...THREAD, author: 'carol' };
  const digest = (threads: readonly CommentThread[], complete = true) => threadsDigest({ threads, complete });
  const one = digest([THREAD, other]);
  t.is(digest([other, { ...THREAD, line: null }]), one);
  const changed: readonly Partial<CommentThread>[] = [
    { resolved: true },
    { resolved: null },
    { resolvedBy: 'dan' },
    { outdated: true },
    { author: 'dan' },
  ];
  for (const change of changed) {
    t.not(digest([{ ...THREAD, ...change }, other]), one);
  }
  t.not(digest([THREAD, other], false), one);
});
