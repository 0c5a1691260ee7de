import { readCommits } from '../../../src/facts/commits.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import type { PullRequest } from '../../../src/forges/port/pull-request.ts';
import test from '../../helpers/test.ts';

/** A forge whose list of commits cannot be read. */
function readFrom(kind: ForgeError['kind']) {
  const forge = { commits: () => Promise.reject(new ForgeError(kind, 'GET /commits')) } as unknown as Forge;
  return readCommits({ forge, pullRequest: {} as PullRequest, authorTrailers: [], preloaded: {} }, []);
}

test('commits that are too large to be kept are not all of them', async (t) => {
  t.like(await readFrom('too-large'), { commits: [], complete: false });
  await t.throwsAsync(readFrom('unavailable'));
});
