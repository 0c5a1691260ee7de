import { hash } from 'node:crypto';
import { canonicalJson } from '../common/canonical-json.ts';
import type { Forge } from '../forges/port/forge.ts';
import { orUnread, type Present } from './fact.ts';
import { FACT_NAMES, FACTS, type FactName, type Facts, type Needs, type PartOf, type Values } from './table.ts';

/** What a fact was when a verdict was judged by it. */
export interface JudgedFact {
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
  /** What to ask for when it is read again. */
  readonly parts: readonly string[];
}

/** The facts that nothing else shows a change of, by name. */
export type JudgedFacts = { readonly [Name in FactName]?: JudgedFact };

/** Facts that the resync reads once more to see whether they have changed. */
export const COMPARED_FACTS: readonly FactName[] = FACT_NAMES.filter(
  (name) => FACTS[name].change.noticedBy === 'digest',
);

/** Those of which only what a verdict was judged by is read: where that was nobody, there is nothing to compare. */
export const COMPARED_IN_PARTS: readonly FactName[] = COMPARED_FACTS.filter((name) => 'askAgain' in FACTS[name].change);

export function judgedFacts(needs: Needs, facts: Facts): JudgedFacts {
  const judged = COMPARED_FACTS.flatMap((name) => {
    const fact = judgedFact(name, needs, facts);
    return fact === undefined ? [] : [[name, fact] as const];
  });
  return Object.fromEntries(judged);
}

function judgedFact<Name extends FactName>(name: Name, needs: Needs, facts: Facts): JudgedFact | undefined {
  const parts = needs[name];
  const { change } = FACTS[name];
  if (parts === undefined || change.noticedBy !== 'digest') {
    return undefined;
  }
  return { digest: digestOf(name, facts[name]), parts: change.askAgain?.(facts[name], parts) ?? parts };
}

/** In hexadecimal. */
function digestOf<Name extends FactName>(name: Name, value: Values[Name]): string {
  const { change } = FACTS[name];
  const plain = change.noticedBy === 'digest' ? change.plain(value) : undefined;
  return hash('sha256', canonicalJson([name, plain]));
}

export type JudgedPullRequest = Pick<Present, 'repository' | 'number' | 'headSha' | 'baseBranch' | 'told'>;

/** Reads facts again, for any number of pull requests. */
export interface PresentFacts {
  digest(name: FactName, of: JudgedPullRequest, parts: readonly string[]): Promise<string>;
}

/** What is the same for several of them is read once. */
export function presentFacts(forge: Forge, statusContext: string): PresentFacts {
  const read = new Map<string, Promise<unknown>>();

  function onceFor(name: FactName): Present['once'] {
    return <Result>(key: string, work: () => Promise<Result>) => {
      const full = `${name} ${key}`;
      const reading = read.get(full) ?? work();
      read.set(full, reading);
      // A fact keeps one kind of result under each of its keys.
      return reading as Promise<Result>;
    };
  }

  async function digest<Name extends FactName>(
    name: Name,
    { repository, number, headSha, baseBranch, told }: JudgedPullRequest,
    parts: readonly PartOf<Name>[],
  ): Promise<string> {
    const { change } = FACTS[name];
    if (change.noticedBy !== 'digest') {
      return digestOf(name, FACTS[name].unread);
    }
    const present = { forge, statusContext, repository, number, headSha, baseBranch, told, once: onceFor(name) };
    return digestOf(name, await orUnread(FACTS[name], () => change.readAgain(present, parts)));
  }

  return { digest: (name, of, parts) => digest(name, of, partsOf(name, parts)) };
}

/** Parts as they were stored: an unknown one, of another version, asks for nothing. */
function partsOf<Name extends FactName>(_name: Name, parts: readonly string[]): readonly PartOf<Name>[] {
  return parts as readonly PartOf<Name>[];
}
