import { createHash } from 'node:crypto';

/** Files by path. A commit has all of them; a change names some, with null for those that go. */
export type Tree = ReadonlyMap<string, Buffer>;
export type Changes = Readonly<Record<string, string | Buffer | null>>;

export interface Commit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly date: string;
  readonly tree: Tree;
}

/** All commits of a forge; forks share them, as they do on the real ones. */
export type Objects = Map<string, Commit>;

export function makeCommit(
  objects: Objects,
  parents: readonly string[],
  changes: Changes,
  details: { message: string; author: string; date: string },
): Commit {
  const tree = new Map(objects.get(parents[0] ?? '')?.tree);
  for (const [path, content] of Object.entries(changes)) {
    if (content === null) {
      tree.delete(path);
    } else {
      tree.set(path, Buffer.from(content));
    }
  }
  const author = {
    name: details.author,
    email: details.author.includes('@') ? details.author : `${details.author}@example.test`,
  };
  const identity = JSON.stringify([
    objects.size,
    parents,
    details,
    [...tree].map(([path, blob]) => [path, blobId(blob)]),
  ]);
  const sha = createHash('sha1').update(identity).digest('hex');
  const commit = { sha, parents, message: details.message, author, date: details.date, tree };
  objects.set(sha, commit);
  return commit;
}

/** As git computes it. */
export function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.byteLength}\0`).update(content).digest('hex');
}

/** Newest first: those reachable from `sha`, itself included. */
function ancestors(objects: Objects, sha: string): Set<string> {
  const seen = new Set<string>();
  const waiting = [sha];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    if (!seen.has(next)) {
      seen.add(next);
      waiting.push(...(objects.get(next)?.parents ?? []));
    }
  }
  return seen;
}

export function mergeBase(objects: Objects, base: string, head: string): string | undefined {
  const ofBase = ancestors(objects, base);
  return [...ancestors(objects, head)].find((sha) => ofBase.has(sha));
}

/** What `head` has and `base` has not, oldest first. */
export function commitsBetween(objects: Objects, base: string, head: string): readonly Commit[] {
  const ofBase = ancestors(objects, base);
  return [...ancestors(objects, head)]
    .filter((sha) => !ofBase.has(sha))
    .flatMap((sha) => objects.get(sha) ?? [])
    .reverse();
}
