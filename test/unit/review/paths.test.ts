import type { ChangedFile } from '../../../src/forges/port/pull-request.ts';
import { CASES_PATH, meantBy, misnamedAmong, misnamedBy, POLICY_PATHS } from '../../../src/review/policy/paths.ts';
import test from '../../helpers/test.ts';

const MISNAMED: Readonly<Record<string, string>> = {
  '.gatehouse.yml':
    '.gatehouse.yaml gatehouse.yml gatehouse.yaml .Gatehouse.yml .GATEHOUSE.YML ..gatehouse.yml .gatehouse..yml',
  '.github/gatehouse.yml': '.github/.gatehouse.yml .github/gatehouse.yaml .GitHub/gatehouse.yml',
  '.gitea/gatehouse.yml': 'gitea/gatehouse.yml',
  '.forgejo/gatehouse.yml': '.forgejo/.Gatehouse.YAML',
  [CASES_PATH]:
    '.gatehouse.test.yaml gatehouse.test.yml .gatehouse.tests.yml .gatehouse-test.yml .Gatehouse.Test.yml ' +
    '.github/gatehouse.test.yml .gitea/.gatehouse.test.yml',
};

for (const [meant, paths] of Object.entries(MISNAMED)) {
  test(`${paths} were meant to be ${meant}`, (t) => {
    for (const path of paths.split(' ')) {
      t.is(meantBy(path), meant);
      t.deepEqual(misnamedAmong(['README.md', path]), [{ path, meant }]);
      t.deepEqual(misnamedAmong([path, meant]), []);
    }
  });
}

test('right names, and names of other files, are meant as they are', (t) => {
  const others = 'src/gatehouse.yml charts/.gatehouse.yaml .github/workflows/gatehouse.yml docs/gatehouse.test.yml';
  const alike =
    '.gatehouse .gatehouse/policy.yml .gatehouse.json my.gatehouse.yml .gatehouse.yml.orig gatehouse-values.yaml';
  for (const path of [...POLICY_PATHS, CASES_PATH, ...others.split(' '), ...alike.split(' '), 'gatehouse.yml\n']) {
    t.is(meantBy(path), undefined, path);
  }
});

test('any of the policies is enough, and is none of the cases', (t) => {
  const files = ['.gatehouse.yaml', '.gitea/gatehouse.yml', 'gatehouse.test.yml'];
  t.deepEqual(misnamedAmong(files), [{ path: 'gatehouse.test.yml', meant: CASES_PATH }]);
});

const change = (path: string, status: ChangedFile['status'], previousPath?: string): ChangedFile => ({
  ...{ path, status, additions: 1, deletions: 0, counted: true, diff: { kind: 'unread' } },
  previousPath,
});

async function told(files: readonly ChangedFile[], ...there: readonly string[]): Promise<readonly string[]> {
  const faults = await misnamedBy({ files, complete: true }, async (meant) => there.includes(meant));
  return faults.map(({ file }) => file);
}

test('only what a change adds or renames is told', async (t) => {
  t.deepEqual(await told([change('gatehouse.yml', 'added')]), ['gatehouse.yml']);
  t.deepEqual(await told([change('gatehouse.yml', 'renamed', 'other.yml')]), ['gatehouse.yml']);
  t.deepEqual(await told([change('gatehouse.yml', 'modified')]), []);
  t.deepEqual(await told([change('gatehouse.yml', 'removed')]), []);
});

test('nothing is told where one with the right name is there', async (t) => {
  const values = change('gatehouse.yaml', 'added');
  t.deepEqual(await told([values], '.gatehouse.yml'), [], 'values of its chart, say');
  t.deepEqual(await told([values, change('.gatehouse.yml', 'modified')], '.gatehouse.yml'), []);
  t.deepEqual(await told([values, change('.gatehouse.yml', 'added')]), [], 'a first policy');
  t.deepEqual(await told([change('gatehouse-test.yml', 'added')], '.gatehouse.yml', CASES_PATH), []);
  t.deepEqual(await told([change('.gatehouse.test.yaml', 'added')], '.gatehouse.yml'), ['.gatehouse.test.yaml']);
});

test('what loses its right name is told', async (t) => {
  const renamed = [change('.Gatehouse.yml', 'renamed', '.gatehouse.yml')];
  t.deepEqual(await told(renamed, '.gatehouse.yml'), ['.Gatehouse.yml']);
  const replaced = [change('.gatehouse.test.yml', 'removed'), change('.gatehouse.tests.yml', 'added')];
  t.deepEqual(await told(replaced, CASES_PATH), ['.gatehouse.tests.yml']);
});
