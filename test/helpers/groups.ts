import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const FOLDER = join(ROOT, 'dist/groups');
export const OF_FILE = ' › ';

/**
 * Of each folder, how many processes share its files: a process of its own for each file takes as long to start as most
 * files take to run. Those that take longest begin first.
 */
const PROCESSES: Readonly<Record<string, number>> = {
  'test/stories': 8,
  'test/integration': 6,
  'test/forge': 2,
  'test/integration/forges': 2,
  'test/chart': 2,
  'test/release': 1,
  'test/unit': 3,
};

/** Files that have a process of their own, by why they need it. */
const ALONE: Readonly<Record<string, readonly string[]>> = {
  'its snapshot is beside it': [
    'test/integration/audit-commands.test.ts',
    'test/integration/backtest.test.ts',
    'test/stories/comment.test.ts',
    'test/unit/review/render.test.ts',
  ],
  'limits of processor time': ['test/unit/review/workers.test.ts'],
};

/** Writes the groups, without what is part of `npm run lint`. Returns the files that AVA is to run, from the root. */
export function writeGroups(): readonly string[] {
  const all = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['test/lint/**'] }).map((file) =>
    file.replaceAll(sep, '/'),
  );
  const alone = Object.values(ALONE).flat();
  const gone = alone.find((file) => !all.includes(file));
  if (gone !== undefined) {
    throw new Error(`${gone} is to run by itself, but is not there`);
  }
  const files = all.filter((file) => !alone.includes(file)).sort();
  const folders = Object.keys(PROCESSES);
  const groups = folders.flatMap((folder) => {
    const within = files.filter((file) => folderOf(file, folders) === folder);
    const name = folder.replace('test/', '').replaceAll('/', '-');
    return dealOut(within, PROCESSES[folder] ?? 1).map((group, index) => writeGroup(`${name}-${index + 1}`, group));
  });
  return [...groups, ...alone];
}

function folderOf(file: string, folders: readonly string[]): string {
  const around = folders.filter((folder) => file.startsWith(`${folder}/`));
  return around.toSorted((a, b) => b.length - a.length)[0] ?? fail(`${file} is in no folder of a group`);
}

function dealOut<T>(all: readonly T[], hands: number): readonly (readonly T[])[] {
  return Array.from({ length: hands }, (_, hand) => all.filter((_one, index) => index % hands === hand));
}

/** Of this process: two runs in one checkout may differ in their files. */
const OWN_FOLDER = join(FOLDER, `${process.pid}`);

export function removeGroups(): void {
  rmSync(OWN_FOLDER, { recursive: true, force: true });
}

export function writeGroup(name: string, files: readonly string[]): string {
  mkdirSync(OWN_FOLDER, { recursive: true });
  const path = join(OWN_FOLDER, `${name}.test.ts`);
  const from = (file: string) => relative(dirname(path), join(ROOT, file)).replaceAll(sep, '/');
  const rows = files.map((file) => `  '${file}': () => import('${from(file)}'),\n`);
  const helper = from('test/helpers/test.ts');
  writeFileSync(path, `import { declareGroup } from '${helper}';\n\nawait declareGroup({\n${rows.join('')}});\n`);
  return relative(ROOT, path).replaceAll(sep, '/');
}

export const isGroup = (testFile: string): boolean => testFile.startsWith(FOLDER);

/** Which file a test of a group belongs to, and its own title. A file that runs by itself is named by AVA. */
export function splitTitle(testFile: string, title: string): { readonly file: string; readonly title: string } {
  const [file, ...rest] = title.split(OF_FILE);
  return isGroup(testFile) && file !== undefined && rest.length > 0
    ? { file: join(ROOT, file), title: rest.join(OF_FILE) }
    : { file: testFile, title };
}

function fail(message: string): never {
  throw new Error(message);
}
