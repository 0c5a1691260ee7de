import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GITEA_IMAGE } from '../helpers/gitea.ts';
import { cluster, engine } from './tools.ts';

export interface Command {
  /** A program and its arguments. */
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** The folder that it runs in. Absent: that of this process. */
  readonly cwd?: string;
}

/** What is run apart from `npm test`, and ends by itself. */
export interface Part {
  readonly name: string;
  /** For all of its commands together. */
  readonly limitMinutes: number;
  /** All of them are run, whatever becomes of each. */
  readonly commands: readonly Command[];
  /** Processes that burn a core each meanwhile. */
  readonly busy?: number;
  /** The tool that it lacks on this machine, to be read after a "because"; undefined where it can be run. */
  readonly lacks?: () => Promise<string | undefined>;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const STORES = ['postgres:17-alpine', 'redis:8-alpine'];
const NODE = 'node:24-trixie-slim';
const BUSY = 2;
/** Of which GitHub's other answers may change nothing, but for what GraphQL alone tells: who signed, and what GitHub itself committed. */
const STORIES_OF_SEEDS = [
  ...['--match=github*', '--match=!*verified signature is ever green', '--match=!*made in the browser elsewhere*'],
  ...['integration/forges/authors', 'integration/forges/updates', 'stories/foreign-status', 'stories/inline'].map(
    (name) => `test/${name}.test.ts`,
  ),
];

export interface Choices {
  /** What the tests draw by that draw by chance: another each night. */
  readonly seed: number;
  /** How often `repeat` runs everything. */
  readonly times: number;
}

export function partsOf({ seed, times }: Choices): readonly Part[] {
  const drawn = { TEST_SEED: `${seed}` };
  return [
    {
      name: 'containers',
      limitMinutes: 45,
      commands: [tests([], { TEST_STORES: 'containers' })],
      lacks: () => engine(STORES),
    },
    { name: 'dialects', limitMinutes: 45, commands: [tests([], { TEST_FORGES: 'all' })] },
    {
      name: 'gitea',
      limitMinutes: 60,
      commands: [tests(['test/forge/*.test.ts'], { TEST_FORGE: 'gitea' })],
      lacks: () => engine([GITEA_IMAGE]),
    },
    {
      name: 'cluster',
      limitMinutes: 120,
      commands: [script('test:image'), script('test:cluster')],
      lacks: async () => (await engine([NODE])) ?? cluster(),
    },
    {
      name: 'faults',
      limitMinutes: 60,
      commands: [
        script('test:faults', drawn),
        nightlyTests('test/integration/bench-kill.nightly.ts', 'test/integration/stores.nightly.ts'),
      ],
    },
    {
      name: 'programs',
      limitMinutes: 30,
      commands: [
        nightlyTests(
          'test/integration/ci-examples.nightly.ts',
          'test/integration/demo.nightly.ts',
          'test/integration/dev.nightly.ts',
          'test/integration/npm-start.nightly.ts',
          'test/integration/site.nightly.ts',
          'test/release/npm.nightly.ts',
          'test/release/release-steps.nightly.ts',
          'test/release/version.nightly.ts',
          'test/stories/walk.nightly.ts',
        ),
      ],
    },
    { name: 'abuse', limitMinutes: 30, commands: [script('test:abuse')] },
    {
      name: 'seeds',
      limitMinutes: 30,
      commands: [
        tests(testsThatImport('seed.ts', 'property.ts'), drawn),
        tests(STORIES_OF_SEEDS, { ...drawn, HOSTILE_GITHUB: '1', TEST_FORGES: 'all' }),
      ],
    },
    {
      name: 'large',
      limitMinutes: 90,
      commands: [
        tests(['--timeout=30m', ...testsThatImport('size.ts', 'nightly.ts')], {
          ...drawn,
          TEST_FORGES: 'all',
          TEST_SIZE: 'large',
        }),
        nightlyTests('test/stories/large-changes.nightly.ts'),
      ],
    },
    { name: 'planted', limitMinutes: 60, commands: [script('test:planted')] },
    { name: 'merges', limitMinutes: 60, commands: [script('test:merges', drawn)], lacks: () => engine([GITEA_IMAGE]) },
    {
      name: 'upgrade',
      limitMinutes: 15,
      commands: [nightlyTests('test/stories/upgrade.nightly.ts')],
    },
    {
      name: 'repeat',
      limitMinutes: 45 * times,
      commands: Array.from({ length: times }, () => tests([])),
      busy: BUSY,
    },
  ];
}

/** One of package.json. */
function script(name: string, env: Command['env'] = {}, args: readonly string[] = []): Command {
  return { argv: ['npm', 'run', '--silent', name, '--', ...args], env };
}

/** A test that fails runs once more: whether it passes then is the first thing that one wants to know. */
function tests(args: readonly string[], env: Command['env'] = {}): Command {
  return script('test', env, ['--second-run', ...args]);
}

/** Files that `npm test` leaves out. */
function nightlyTests(...files: readonly string[]): Command {
  return tests(files, { TEST_FILES: files.join() });
}

/** Test files that import a file of one of these names. */
function testsThatImport(...names: readonly string[]): readonly string[] {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).toSorted();
  return files.filter((file) => {
    const source = readFileSync(join(ROOT, file), 'utf8');
    return names.some((name) => source.includes(`/${name}';`));
  });
}
