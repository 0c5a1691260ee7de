import type { Judging } from '../../composition/judging.ts';
import { operatorsPeople } from '../../facts/authors/people-settings.ts';
import { readCommits } from '../../facts/commits.ts';
import type { Reading } from '../../facts/fact.ts';
import { gatherFacts } from '../../facts/gather.ts';
import { type Facts, unreadFacts } from '../../facts/table.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { neededFacts } from '../../review/policy/needs.ts';
import type { Policy } from '../../review/policy/policy.ts';

type Sources = Pick<Judging, 'forge' | 'workers' | 'statusContext'> & Pick<Reading<unknown>, 'writeAccess'>;

/**
 * What a policy asks of a merged pull request. Where the forge does not tell some of it, `failure` says why and nothing
 * is read: rules that ask for more than the pull request itself are then undecided.
 */
export async function readMerged(
  sources: Sources,
  policy: Policy,
  now: PullRequest,
): Promise<{ readonly facts: Facts; readonly failure?: ForgeError }> {
  // Whoever contributed for the first time then has contributed since.
  const pullRequest: PullRequest = { ...now, firstTime: 'unknown' };
  const unread = { ...unreadFacts(pullRequest), people: operatorsPeople(sources.forge) };
  try {
    return { facts: await readAtMergedHead(sources, policy, unread) };
  } catch (error) {
    if (error instanceof ForgeError) {
      return { facts: unread, failure: error };
    }
    throw error;
  }
}

async function readAtMergedHead(
  { forge, workers: { ownerTeams }, statusContext, writeAccess }: Sources,
  policy: Policy,
  unread: Facts,
): Promise<Facts> {
  const needs = neededFacts(policy);
  const { repository, number, base, head } = unread.pullRequest;
  const fault = (what: string) => new ForgeError('invalid', `${repository}#${number}: ${what}`);
  const merge = await forge.merged.of({ repository, number });
  if (merge?.head === undefined) {
    throw fault('the forge no longer has its commits');
  }
  // The branch may have been pushed to since.
  const pullRequest = { ...unread.pullRequest, head: { ...head, sha: merge.head } };
  const { authorTrailers } = policy;
  const changedFiles = needs.changedFiles ? await forge.changedFiles(pullRequest, merge.head) : unread.changedFiles;
  if (changedFiles.complete && changedFiles.files.length === 0) {
    // This throws where the forge lists no commits either: Gitea merged it before it had computed its difference.
    await readCommits({ forge, pullRequest, authorTrailers, preloaded: {} }, []);
  }
  const baseSha = needs.codeOwners ? await forge.branchCommit(repository, base.branch) : '';
  if (baseSha === undefined) {
    throw fault(`its base branch ${base.branch} is gone, and CODEOWNERS with it`);
  }
  const sources = { forge, statusContext, baseSha, preloaded: {}, authorTrailers, writeAccess, ownerTeams };
  return gatherFacts(sources, needs, { ...unread, pullRequest, changedFiles });
}
