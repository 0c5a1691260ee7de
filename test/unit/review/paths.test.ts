import test from 'ava';
import { CASES_PATH, meantBy, misnamedAmong, misnamedBy, POLICY_PATHS } from '../../../src/review/policy/paths.ts';

for (const [path, meant] of [
  ['.gatehouse.yaml', '.gatehouse.yml'],
  ['gatehouse.yml', '.gatehouse.yml'],
  ['gatehouse.yaml', '.gatehouse.yml'],
  ['.Gatehouse.yml', '.gatehouse.yml'],
  ['.GATEHOUSE.YML', '.gatehouse.yml'],
  ['..gatehouse.yml', '.gatehouse.yml'],
  ['.gatehouse..yml', '.gatehouse.yml'],
  ['.github/.gatehouse.yml', '.github/gatehouse.yml'],
  ['.github/gatehouse.yaml', '.github/gatehouse.yml'],
  ['.GitHub/gatehouse.yml', '.github/gatehouse.yml'],
  ['gitea/gatehouse.yml', '.gitea/gatehouse.yml'],
  ['.forgejo/.Gatehouse.YAML', '.forgejo/gatehouse.yml'],
  ['.gatehouse.test.yaml', CASES_PATH],
  ['gatehouse.test.yml', CASES_PATH],
  ['.gatehouse.tests.yml', CASES_PATH],
  ['.gatehouse-test.yml', CASES_PATH],
  ['.Gatehouse.Test.yml', CASES_PATH],
  ['.github/gatehouse.test.yml', CASES_PATH],
  ['.gitea/.gatehouse.test.yml', CASES_PATH],
] as const) {
  test(`${path} was meant to be ${meant}`, (t) => {
    t.is(meantBy(path), meant);
    t.deepEqual(misnamedAmong(['README.md', path]), [{ path, meant }]);
    t.deepEqual(misnamedAmong([path, meant]), []);
  });
}

test('right names, and names of other files, are meant as they are', (t) => {
  for (const path of [
    ...POLICY_PATHS,
    CASES_PATH,
    'src/gatehouse.yml',
    'charts/.gatehouse.yaml',
    '.github/workflows/gatehouse.yml',
    'docs/gatehouse.test.yml',
    '.gatehouse',
    '.gatehouse/policy.yml',
    '.gatehouse.json',
    'my.gatehouse.yml',
    '.gatehouse.yml.orig',
    'gatehouse-values.yaml',
    'gatehouse.yml\n',
  ]) {
    t.is(meantBy(path), undefined, path);
  }
});

test('any of the policies is enough, and is none of the cases', (t) => {
  const files = ['.gatehouse.yaml', '.gitea/gatehouse.yml', 'gatehouse.test.yml'];
  t.deepEqual(misnamedAmong(files), [{ path: 'gatehouse.test.yml', meant: CASES_PATH }]);
});

test('only what a change adds or renames is told', (t) => {
  const pathsIn = (status: 'added' | 'modified' | 'removed' | 'renamed', path = 'gatehouse.yml', hasPolicy = false) =>
    misnamedBy(
      {
        files: [{ path, status, additions: 1, deletions: 0, counted: true, diff: { kind: 'unread' } }],
        complete: true,
      },
      hasPolicy,
    ).map(({ file }) => file);
  t.deepEqual(pathsIn('added', 'gatehouse.yaml', true), [], 'values of its chart, say');
  t.deepEqual(pathsIn('added', '.gatehouse.test.yaml', true), ['.gatehouse.test.yaml']);
  t.deepEqual(pathsIn('added'), ['gatehouse.yml']);
  t.deepEqual(pathsIn('renamed'), ['gatehouse.yml']);
  t.deepEqual(pathsIn('modified'), []);
  t.deepEqual(pathsIn('removed'), []);
});
