import type { Forge } from '../forges/port/forge.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import type { MergedPullRequest } from '../forges/port/merged.ts';
import type { PreloadedFacts } from '../forges/port/pull-request.ts';
import { operatorsPeople } from './authors/people-settings.ts';
import type { RememberAuthors } from './authors/seen-authors.ts';
import { orUnread, type ReadFact, type Reading } from './fact.ts';
import {
  FACT_NAMES,
  FACTS,
  type FactName,
  type Facts,
  type Needs,
  type PartOf,
  unreadFacts,
  type Values,
} from './table.ts';

/** What facts are read with, and from. */
export interface Sources {
  readonly forge: Forge;
  /** The name of Gatehouse's own commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** The base branch's commit that the policy was read at. */
  readonly baseSha: string;
  readonly preloaded: PreloadedFacts;
  /** The policy's own: keys of trailers that name a co-author. */
  readonly authorTrailers: readonly string[];
  readonly rememberAuthors?: RememberAuthors | undefined;
  /** The teams that CODEOWNERS names for the change; none when they were not found within the limits. */
  readonly ownerTeams: (facts: Facts) => Promise<readonly string[]>;
}

/**
 * Reads from the forge what is needed, and no more, and adds it to what was read before. The changed files have been
 * read already.
 */
export function gatherFacts(sources: Sources, { changedFiles: _, ...needs }: Needs, before: Facts): Promise<Facts> {
  return gather(sources, needs, before, (name, reading, parts) =>
    orUnread(FACTS[name], () => FACTS[name].read(reading, parts)),
  );
}

/** What the forge still tells of a pull request as it was when it was merged. */
export interface PastFacts {
  /** Who was in a team then is not known: teams are unread. */
  readonly facts: Facts;
  /** What could not be read, and why. */
  readonly gone: readonly string[];
  /**
   * Why something of it could perhaps be read later: the forge did not answer, or did not let these credentials see it.
   */
  readonly failure: 'none' | 'refused' | 'unavailable';
}

/**
 * The same, as it was when it was merged. What the forge no longer has is unread, so that what depends on it is
 * undecided. Throws at a rate limit, which would stop every other pull request too.
 */
export async function gatherPast(
  sources: Pick<Sources, 'forge' | 'statusContext' | 'authorTrailers'>,
  needs: Needs,
  merged: MergedPullRequest,
): Promise<PastFacts> {
  const { forge } = sources;
  const gone: string[] = [];
  let failure: PastFacts['failure'] = 'none';

  /** Where it cannot be read, `unread`. */
  async function tryTo<T>(read: () => Promise<T>, unread: T): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'rate-limited') {
        throw error;
      }
      gone.push(error.message);
      if (error.kind === 'unavailable' || (error.kind === 'refused' && failure === 'none')) {
        failure = error.kind;
      }
      return unread;
    }
  }

  const none = unreadFacts(merged.pullRequest);
  const needsHead = FACT_NAMES.some((name) => needs[name] !== undefined && FACTS[name].past.atHead);
  const head = needsHead ? await tryTo(() => forge.merged.headOf(merged), undefined) : undefined;
  if (needsHead && head === undefined) {
    const reason = `${merged.pullRequest.repository}#${merged.pullRequest.number}: the forge no longer has its commits`;
    return { facts: none, gone: gone.length === 0 ? [reason] : gone, failure };
  }
  const sha = head ?? merged.pullRequest.head.sha;
  const before: Facts = {
    ...none,
    pullRequest: { ...merged.pullRequest, head: { ...merged.pullRequest.head, sha } },
    people: operatorsPeople(forge),
  };
  const then: Sources = { ...sources, baseSha: '', preloaded: {}, ownerTeams: async () => [] };
  const facts = await gather(then, needs, before, (name, reading, parts) => {
    const { past, unread, read } = FACTS[name];
    const readThen = past.read;
    if (readThen === 'unread') {
      return Promise.resolve(unread);
    }
    return tryTo(
      () => (readThen === 'as-now' ? read(reading, parts) : readThen({ ...reading, merged }, parts)),
      unread,
    );
  });
  return { facts, gone, failure };
}

type ReadOne = <Name extends FactName>(
  name: Name,
  reading: Reading<Values[Name]>,
  parts: readonly PartOf<Name>[],
) => Promise<Values[Name]>;

async function gather(
  { ownerTeams, ...sources }: Sources,
  needs: Needs,
  before: Facts,
  readOne: ReadOne,
): Promise<Facts> {
  const values = new Map<string, Promise<unknown>>();
  const of: ReadFact = <Value>({ name }: { readonly name: string; readonly unread: Value }) => {
    const value = values.get(name);
    if (value === undefined) {
      throw new Error(`the fact ${name} has to come before those in the table that depend on it`);
    }
    // What is kept under the name of a fact is what that fact's own reading gave.
    return value as Promise<Value>;
  };

  async function read<Name extends FactName>(name: Name): Promise<Values[Name]> {
    const parts = needs[name];
    if (parts === undefined) {
      return before[name];
    }
    const owners = async () =>
      ownerTeams({ ...before, codeOwners: await of(FACTS.codeOwners), changedFiles: await of(FACTS.changedFiles) });
    const reading = { ...sources, pullRequest: before.pullRequest, before: before[name], ownerTeams: owners, of };
    return readOne(name, reading, parts);
  }

  let facts = before;
  for (const name of FACT_NAMES) {
    values.set(name, read(name));
  }
  await Promise.all(values.values());
  for (const name of FACT_NAMES) {
    facts = { ...facts, [name]: await values.get(name) };
  }
  return facts;
}
