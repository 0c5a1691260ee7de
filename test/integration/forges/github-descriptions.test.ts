import test from 'ava';
import { readDescription } from '../../simulated-forge/api/description.ts';
import { fileOf, VERSIONS } from '../../simulated-forge/github-api/versions.ts';

test('all versions of GitHub describe the same operations, the ones that are simulated', (t) => {
  const [first, ...others] = VERSIONS.map((version) => Object.keys(readDescription(fileOf(version)).operations));
  t.true(first !== undefined && first.length > 40);
  for (const operations of others) {
    t.deepEqual(operations, first);
  }
});
