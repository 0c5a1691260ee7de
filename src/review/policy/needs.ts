import type { MembersNeeded, NeededFacts } from '../facts.ts';
import type { Policy } from './policy.ts';

/** What must be read from the forge before this policy can be evaluated: a policy about titles needs nothing more. */
export function neededFacts({ rules, authorTrailers }: Policy): NeededFacts {
  return { ...union(rules.map(({ needs }) => needs)), authorTrailers };
}

/** What is left of `wanted` when `read` has been read. Commits and reviews are read again for more of them. */
export function neededBeside(read: NeededFacts, wanted: NeededFacts): NeededFacts {
  const authors = wanted.authors && !read.authors;
  // Who made commits is read with them, and so are their signatures.
  const signers = wanted.signers && (!read.signers || authors);
  const signatures = wanted.signatures && (!read.signatures || authors || signers);
  const requestsForChanges = wanted.requestsForChanges && !read.requestsForChanges;
  const firstReviews = wanted.reviews && !read.reviews;
  return {
    changedFiles: wanted.changedFiles && !read.changedFiles,
    lines: wanted.lines && !read.lines,
    commits: (wanted.commits && !read.commits) || signatures || authors,
    signatures,
    signers,
    authors: wanted.authors && (authors || signatures),
    // Which merges are looked into depends on who approves.
    cleanMerges: wanted.cleanMerges && (!read.cleanMerges || firstReviews),
    updates: wanted.updates && !read.updates,
    reviews: firstReviews || requestsForChanges,
    requestsForChanges,
    requestedReviews: wanted.requestedReviews && !read.requestedReviews,
    triage: wanted.triage && !read.triage,
    repository: wanted.repository && !read.repository,
    lastChange: wanted.lastChange && !read.lastChange,
    codeOwners: wanted.codeOwners && !read.codeOwners,
    checks: (wanted.checks && !read.checks) || (wanted.checkSuites && !read.checkSuites),
    checkSuites: wanted.checkSuites && !read.checkSuites,
    conversations: wanted.conversations && !read.conversations,
    teams: wanted.teams.filter((team) => !read.teams.includes(team)),
    // What is read beside may name more people.
    members: wanted.members,
    authorTrailers: wanted.authorTrailers,
  };
}

/** Whether anything of it has to be read beside the pull request and its changed files. */
export function needsReading({
  changedFiles: _files,
  lines: _lines,
  authorTrailers: _trailers,
  ...others
}: NeededFacts): boolean {
  return Object.values(others).some((needed) => needed === true || (Array.isArray(needed) && needed.length > 0));
}

/** Beside the pull request itself. */
export function needsOnlyFiles(policy: Policy): boolean {
  return !needsReading(neededFacts(policy));
}

/** What is needed for all of them. */
export function union(all: readonly Partial<NeededFacts>[]): NeededFacts {
  return {
    changedFiles: all.some(({ changedFiles }) => changedFiles),
    lines: all.some(({ lines }) => lines),
    commits: all.some(({ commits }) => commits),
    signatures: all.some(({ signatures }) => signatures),
    signers: all.some(({ signers }) => signers),
    authors: all.some(({ authors }) => authors),
    cleanMerges: all.some(({ cleanMerges }) => cleanMerges),
    updates: all.some(({ updates }) => updates),
    reviews: all.some(({ reviews }) => reviews),
    requestsForChanges: all.some(({ requestsForChanges }) => requestsForChanges),
    requestedReviews: all.some(({ requestedReviews }) => requestedReviews),
    triage: all.some(({ triage }) => triage),
    repository: all.some(({ repository }) => repository),
    lastChange: all.some(({ lastChange }) => lastChange),
    checks: all.some(({ checks }) => checks),
    conversations: all.some(({ conversations }) => conversations),
    checkSuites: all.some(({ checkSuites }) => checkSuites),
    codeOwners: all.some(({ codeOwners }) => codeOwners),
    teams: [...new Set(all.flatMap(({ teams }) => teams ?? []))].sort(),
    members: distinct(all.flatMap(({ members }) => members ?? [])),
    authorTrailers: [],
  };
}

function distinct(all: readonly MembersNeeded[]): readonly MembersNeeded[] {
  const byName = new Map(all.map((one) => [`${one.organisation} ${one.role}`, one]));
  return [...byName.keys()].sort().flatMap((name) => byName.get(name) ?? []);
}
