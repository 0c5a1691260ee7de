import type { Forge } from '../forges/port/forge.ts';
import type { PreloadedFacts, WriteAccess } from '../forges/port/pull-request.ts';
import type { Makers } from './authors/makers.ts';
import { orUnread, type ReadFact } from './fact.ts';
import { FACT_NAMES, FACTS, type FactName, type Facts, type Needs, type Values } from './table.ts';

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
  readonly makers?: Makers | undefined;
  readonly writeAccess: WriteAccess;
  /** The teams that CODEOWNERS names for the change; none when they were not found within the limits. */
  readonly ownerTeams: (facts: Facts) => Promise<readonly string[]>;
}

/**
 * Reads from the forge what is needed, and no more, and adds it to what was read before. The changed files have been
 * read already.
 */
export async function gatherFacts(
  { ownerTeams, ...sources }: Sources,
  { changedFiles: _, ...others }: Needs,
  before: Facts,
): Promise<Facts> {
  const needs: Needs = others;
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
    return orUnread(FACTS[name], () => FACTS[name].read(reading, parts));
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
