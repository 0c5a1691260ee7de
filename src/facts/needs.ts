import { FACT_NAMES, FACTS, type FactName, type Needs, type PartOf } from './table.ts';

/** What is needed for all of them. */
export function allNeeds(all: readonly Needs[]): Needs {
  const facts = fromParts((name) => {
    const parts = all.flatMap((needs) => needs[name] ?? []);
    return all.some((needs) => needs[name] !== undefined) ? [...new Set(parts)].sort() : undefined;
  });
  const ofPullRequest = [...new Set(all.flatMap(({ pullRequest }) => pullRequest ?? []))].sort();
  return { ...facts, ...(ofPullRequest.length > 0 && { pullRequest: ofPullRequest }) };
}

/**
 * What is left of `wanted` when `read` has been read. A fact is read again, whole, when a part of it is missing, or
 * when one that it depends on is read.
 */
export function needsBeside(read: Needs, wanted: Needs): Needs {
  const missing = new Set<string>();
  return fromParts((name) => {
    const parts = wanted[name];
    const had = read[name];
    const isMissing =
      had === undefined ||
      parts?.some((part) => !includes(had, part)) === true ||
      FACTS[name].dependsOn.some((other) => missing.has(other.name));
    if (parts === undefined || !isMissing) {
      return undefined;
    }
    missing.add(name);
    return [...new Set([...(had ?? []), ...parts])].sort();
  });
}

/** Whether anything of it has to be read beside the pull request and its changed files, which are always read. */
export function needsReading({ changedFiles: _files, pullRequest: _itself, ...others }: Needs): boolean {
  return Object.keys(others).length > 0;
}

function includes(parts: readonly string[], part: string): boolean {
  return parts.includes(part);
}

function fromParts(partsOf: <Name extends FactName>(name: Name) => readonly PartOf<Name>[] | undefined): Needs {
  const entries = FACT_NAMES.flatMap((name) => {
    const parts = partsOf(name);
    return parts === undefined ? [] : [[name, parts] as const];
  });
  return Object.fromEntries(entries);
}
