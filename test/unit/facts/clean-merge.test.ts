import { isCleanMerge } from '../../../src/facts/clean-merge.ts';
import test from '../../helpers/test.ts';

const tree = (files: Readonly<Record<string, string>>) => new Map(Object.entries(files));
const base = tree({ ours: '1', theirs: '1', both: '1', same: '1', gone: '1' });
const ours = tree({ ours: '2', theirs: '1', both: '2', same: '3', gone: '1' });
const theirs = tree({ ours: '1', theirs: '2', both: '1', same: '3', new: '1' });
const merged = { ours: '2', theirs: '2', both: '2', same: '3', new: '1' };

test('a merge that has each file as the side that changed it is clean', (t) => {
  t.true(isCleanMerge(base, ours, theirs, tree(merged)));
});

for (const [title, result] of [
  ['changes a file by itself', { ...merged, ours: '9' }],
  ['drops a change of one side', { ...merged, theirs: '1' }],
  ['drops a file that one side added', { ours: '2', theirs: '2', both: '2', same: '3' }],
  ['keeps a file that one side removed', { ...merged, gone: '1' }],
  ['adds a file of its own', { ...merged, extra: '1' }],
] as const) {
  test(`a merge that ${title} is not clean`, (t) => {
    t.false(isCleanMerge(base, ours, theirs, tree(result)));
  });
}

test('a merge of a file that both sides changed is not clean, whatever became of it', (t) => {
  const also = tree({ ...Object.fromEntries(theirs), both: '3' });
  for (const both of ['1', '2', '3', '4']) {
    t.false(isCleanMerge(base, ours, also, tree({ ...merged, both })), both);
  }
});
