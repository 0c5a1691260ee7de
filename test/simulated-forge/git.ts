import { createHash } from 'node:crypto';

/** Files by path. A commit has all of them; a change names some, with null for those that go. */
export type Tree = ReadonlyMap<string, Buffer>;
export type Changes = Readonly<Record<string, string | Buffer | null>>;

/** What an entry of a tree is, and the mode that git gives it. Directories are not entries here. */
export const MODES = { file: '100644', symlink: '120000', submodule: '160000' } as const;
type EntryType = keyof typeof MODES;
const types = new WeakMap<Buffer, EntryType>();

export function symlink(target: string): Buffer {
  return entry('symlink', target);
}

/** A commit of another repository, for {@link Changes}. Its content is what git shows in a difference. */
export function submodule(sha: string): Buffer {
  return entry('submodule', `Subproject commit ${sha}\n`);
}

export function typeOf(content: Buffer): EntryType {
  return types.get(content) ?? 'file';
}

function entry(type: EntryType, content: string): Buffer {
  const bytes = Buffer.from(content);
  types.set(bytes, type);
  return bytes;
}

/** One without an account has an e-mail address for a name. */
interface Person {
  readonly name: string;
  readonly email: string;
}

export interface Commit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Person;
  readonly committer: Person;
  readonly date: string;
  readonly verified: boolean;
  /** Whose it is; null: the forge's own. */
  readonly signer: string | null;
  readonly tree: Tree;
}

/** All commits of a forge; forks share them, as they do on the real ones. */
export type Objects = Map<string, Commit>;

export function makeCommit(
  objects: Objects,
  parents: readonly string[],
  changes: Changes,
  details: {
    message: string;
    author: string;
    committer?: string;
    date: string;
    verified?: boolean;
    signer?: string | null;
  },
): Commit {
  const tree = new Map(objects.get(parents[0] ?? '')?.tree);
  for (const [path, content] of Object.entries(changes)) {
    if (content === null) {
      tree.delete(path);
    } else {
      tree.set(path, typeof content === 'string' ? Buffer.from(content) : content);
    }
  }
  const person = (name: string) => ({ name, email: name.includes('@') ? name : emailOf(name) });
  const [author, committer] = [person(details.author), person(details.committer ?? details.author)];
  const identity = JSON.stringify([
    objects.size,
    parents,
    details,
    [...tree].map(([path, blob]) => [path, blobId(blob)]),
  ]);
  const sha = createHash('sha1').update(identity).digest('hex');
  const { message, date, verified = false, signer = null } = details;
  const commit = { sha, parents, message, author, committer, date, verified, signer, tree };
  objects.set(sha, commit);
  return commit;
}

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

/** The best common ancestors: more than one where histories were merged crosswise. */
function mergeBases(objects: Objects, base: string, head: string): readonly string[] {
  const ofBase = ancestors(objects, base);
  const common = [...ancestors(objects, head)].filter((sha) => ofBase.has(sha));
  const lower = new Set(common.flatMap((sha) => objects.get(sha)?.parents ?? []));
  return common.filter((sha) => !lower.has(sha));
}

export function mergeBase(objects: Objects, base: string, head: string): string | undefined {
  return mergeBases(objects, base, head)[0];
}

/** What `head` has and `base` has not, oldest first. */
export function commitsBetween(objects: Objects, base: string, head: string): readonly Commit[] {
  const ofBase = ancestors(objects, base);
  return [...ancestors(objects, head)]
    .filter((sha) => !ofBase.has(sha))
    .flatMap((sha) => objects.get(sha) ?? [])
    .reverse();
}

/** The address of an account. The name of a bot has brackets, which no address may have. */
export function emailOf(login: string): string {
  return `${login.replaceAll(/[[\]]/g, '')}@example.test`;
}

export function idOf(login: string): number {
  return [...login].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7) % 1_000_000;
}
