/**
 * `test` of AVA, for every test file. A file that runs by itself declares its tests to AVA. A group loads many files into
 * one process, and declares the tests of all of them, one after the other, with the file before each title.
 */
import { fileURLToPath } from 'node:url';
import ava, { type ExecutionContext } from 'ava';
import { isGroup, OF_FILE } from './groups.ts';

type Body = (t: ExecutionContext) => unknown;
type Declare = (title: string, body: Body) => void;
type Hook = (body: Body) => void;

/** What test files use of AVA's interface. */
export interface Test extends Declare {
  readonly serial: Declare;
  readonly skip: Declare;
  /** Before the first test of the file. */
  readonly before: Hook;
  /** After its last one, whatever has failed. */
  readonly after: { readonly always: Hook };
  /** After the last test of the process, for what its files share. */
  afterAll(close: () => Promise<void>): void;
}

interface Collected {
  readonly file: string;
  readonly tests: { readonly title: string; readonly body: Body; readonly skipped: boolean }[];
  readonly before: Body[];
  readonly after: Body[];
}

let collecting: Collected | undefined;
const atEnd: (() => Promise<void>)[] = [];

function collected(): Collected {
  if (collecting === undefined) {
    throw new Error('a group declares its tests while it loads its files');
  }
  return collecting;
}

const declare = (skipped: boolean) => (title: string, body: Body) => {
  collected().tests.push({ title, body, skipped });
};

const collector: Test = Object.assign(declare(false), {
  serial: declare(false),
  skip: declare(true),
  before: (body: Body) => void collected().before.push(body),
  after: { always: (body: Body) => void collected().after.push(body) },
  afterAll: (close: () => Promise<void>) => void atEnd.push(close),
});

const direct: Test = Object.assign((title: string, body: Body) => ava(title, body), {
  serial: ava.serial,
  skip: ava.skip,
  before: ava.before,
  after: ava.after,
  afterAll: (close: () => Promise<void>) => ava.after.always(close),
});

const isGrouped = isGroup(fileURLToPath(ava.meta.file));

const test: Test = isGrouped ? collector : direct;
export default test;

/**
 * Loads these files, each wholly before the next, and declares their tests.
 * @public The groups that test/run.ts writes call it.
 */
export async function declareGroup(files: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  const all: Collected[] = [];
  for (const [file, load] of Object.entries(files)) {
    collecting = { file, tests: [], before: [], after: [] };
    all.push(collecting);
    await loadInto(collecting, load);
  }
  collecting = undefined;
  for (const one of all) {
    declareFile(one);
  }
  ava.after.always('close what is shared', async () => {
    for (const close of atEnd) {
      await close();
    }
  });
}

/** What cannot be loaded, or declares nothing, fails by its own name, and the rest of the group is run all the same. */
async function loadInto({ tests }: Collected, load: () => Promise<unknown>): Promise<void> {
  try {
    await load();
  } catch (error) {
    tests.push({ title: 'can be loaded', body: () => Promise.reject(error), skipped: false });
    return;
  }
  if (tests.length === 0) {
    tests.push({ title: 'has tests', body: (t) => t.fail(), skipped: false });
  }
}

function declareFile({ file, tests, before, after }: Collected): void {
  let left = tests.filter(({ skipped }) => !skipped).length;
  let prepared: Promise<void> | undefined;
  for (const { title, body, skipped } of tests) {
    // A group counts as skipped what its file skips, where a tool is missing.
    (skipped ? ava.serial.skip : ava.serial)(`${file}${OF_FILE}${title}`, async (t) => {
      try {
        prepared ??= inOrder(before, t);
        await prepared;
        await body(t);
      } finally {
        left -= 1;
        if (left === 0) {
          await closeAll(after, t);
        }
      }
    });
  }
}

/** The last opened first. One that fails keeps none of the others open. */
async function closeAll(bodies: readonly Body[], t: ExecutionContext): Promise<void> {
  const errors: unknown[] = [];
  for (const body of bodies.toReversed()) {
    try {
      await body(t);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) {
    throw errors[0];
  }
}

async function inOrder(bodies: readonly Body[], t: ExecutionContext): Promise<void> {
  for (const body of bodies) {
    await body(t);
  }
}
