import type { ForgeName } from '../../../src/forges/port/forges.ts';
import { type Changes, makeCommit } from '../git.ts';
import {
  baseSha,
  findRepository,
  moveHead,
  newId,
  type Pull,
  type PullEvent,
  type Repository,
  touch,
  type World,
} from '../world.ts';

export interface CommitDetails {
  readonly message?: string;
  readonly author?: string;
  readonly committer?: string;
  /** More parents make a merge: ids of commits. */
  readonly merging?: readonly string[];
  /** Whether it has a signature that the forge has verified. */
  readonly verified?: boolean;
  /** Whose it is, unless the forge's own. */
  readonly signer?: string;
  readonly samePush?: boolean;
}

export const MAIN = 'main';

export type Stage = ReturnType<typeof makeStage>;

/** What a story's people act on: the world of a forge, and what several of their actions need. */
export function makeStage(world: World, forge: ForgeName) {
  const now = () => new Date().toISOString();

  /** By its present name or an earlier one; throws when there is none. */
  function find(fullName: string): Repository {
    const repository = findRepository(world, fullName) ?? world.renames.get(fullName.toLowerCase());
    if (repository === undefined) {
      throw new Error(`no repository ${fullName} in the simulated forge`);
    }
    return repository;
  }

  function pull(repository: string, number: number): Pull {
    const found = find(repository).pulls.get(number);
    if (found === undefined) {
      throw new Error(`no pull request ${repository}#${number} in the simulated forge`);
    }
    return found;
  }

  function addRepository(fullName: string, branches: Map<string, string>): Repository {
    const repository: Repository = {
      id: newId(world),
      fullName,
      defaultBranch: MAIN,
      branches,
      tags: new Map(),
      pulls: new Map(),
      statuses: [],
      teams: new Map(),
      checkRuns: [],
      checkSuites: [],
      mergeQueues: new Map(),
      hooks: [],
      protections: new Map(),
      rulesets: [],
      pushedAt: now(),
      deleted: false,
      isPrivate: false,
      topics: [],
      archived: false,
    };
    world.repositories.set(fullName.toLowerCase(), repository);
    return repository;
  }

  /** Moves the open pull requests from the branch along. Returns the commit's id. */
  function commitOn(repository: Repository, branch: string, files: Changes, details: CommitDetails = {}): string {
    const { message = 'Change something', author = 'alice', committer = author, merging = [] } = details;
    const { verified = false, signer } = details;
    const tip = repository.branches.get(branch) ?? repository.branches.get(MAIN);
    const parents = [...(tip === undefined ? [] : [tip]), ...merging];
    const { sha } = makeCommit(world.objects, parents, files, {
      message,
      author,
      committer,
      date: now(),
      verified,
      ...(signer && { signer }),
    });
    repository.branches.set(branch, sha);
    repository.pushedAt = now();
    for (const open of openFrom(repository, branch)) {
      const before = details.samePush ? open.events.pop() : undefined;
      const push = { from: before?.push?.from ?? open.headSha, to: sha, base: baseSha(open) };
      moveHead(world, open, sha);
      record(open, 'pushed', { push });
    }
    return sha;
  }

  function openFrom(repository: Repository, branch: string): readonly Pull[] {
    const found: Pull[] = [];
    for (const { pulls } of world.repositories.values()) {
      for (const one of pulls.values()) {
        if (one.state === 'open' && !one.agit && one.headRepository === repository && one.headBranch === branch) {
          found.push(one);
        }
      }
    }
    return found;
  }

  function record(on: Pull, kind: PullEvent['kind'], details: Pick<PullEvent, 'message' | 'push' | 'request'> = {}) {
    on.events.push({ id: newId(world), kind, at: now(), ...details });
  }

  function change(repository: string, number: number, changes: Partial<Pull>): void {
    const changed = pull(repository, number);
    for (const kind of eventsOf(changed, changes)) {
      record(changed, kind);
    }
    Object.assign(changed, changes);
    touch(changed);
  }

  return { world, forge, now, find, pull, addRepository, commitOn, openFrom, record, change };
}

function eventsOf(
  on: Pull,
  { title = on.title, labels = on.labels, state = on.state, merged = on.merged }: Partial<Pull>,
): readonly PullEvent['kind'][] {
  const lacks = (list: readonly string[]) => (one: string) => !list.includes(one);
  const ended = merged === on.merged ? 'closed' : 'merged';
  return [
    ...(title === on.title ? [] : (['retitled'] as const)),
    ...labels.filter(lacks(on.labels)).map(() => 'labeled' as const),
    ...on.labels.filter(lacks(labels)).map(() => 'unlabeled' as const),
    ...(state === on.state ? [] : ([state === 'open' ? 'reopened' : ended] as const)),
  ];
}
