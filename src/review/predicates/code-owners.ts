import { LRUCache } from 'lru-cache';
import type { Facts } from '../../facts/table.ts';
import { type CodeOwnersDialect, MAX_CODE_OWNERS_BYTES } from '../../forges/port/forges.ts';
import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { quotedList, say, type Text } from '../text.ts';
import { type Dialect, EXPRESSIONS, GITHUB, short } from './code-owners-dialects.ts';
import { pathsOf } from './files.ts';

/** Owners of a path. */
export interface Owned {
  /** As CODEOWNERS writes them: `@login`, `@organisation/team` or an e-mail address. */
  readonly owners: readonly string[];
  /** Other names in these lines. Their approval does not count. */
  readonly invalid: readonly string[];
  /** The patterns of the lines that name these owners. */
  readonly patterns: readonly string[];
}

/** What is wrong with a line. */
export interface CodeOwnersFault {
  readonly line: number;
  readonly what: Text;
}

interface ReadCodeOwners {
  readonly kind: 'read';
  /** Of each path. All of them have to approve; empty: it has no owners. Owners by the same lines are the same object. */
  readonly ownersOfEach: (paths: readonly string[]) => readonly (readonly Owned[])[];
  /** The first of them. */
  readonly faults: readonly CodeOwnersFault[];
  readonly moreFaults: number;
}

type CodeOwners =
  | ReadCodeOwners
  /** What it says is not known, which is not the same as a change without owners. `why` follows "a CODEOWNERS file". */
  | { readonly kind: 'unusable'; readonly why: Text };

/** Faults that are kept for showing. */
const MAX_FAULTS = 10;

/** Characters of the texts that are kept: one of the largest, or many others. */
const MAX_KEPT_CHARACTERS = 4_000_000;
const makeKept = () =>
  new LRUCache<string, CodeOwners>({ maxSize: MAX_KEPT_CHARACTERS, sizeCalculation: (_, text) => 1 + text.length });
const KEPT: Readonly<Record<CodeOwnersDialect, LRUCache<string, CodeOwners>>> = {
  github: makeKept(),
  gitea: makeKept(),
  forgejo: makeKept(),
};

/** Lines that no forge can use are skipped, as the forges do, and named. Each rule and each review bring the same text. */
export function readCodeOwners(text: string, dialect: CodeOwnersDialect): CodeOwners {
  const kept = KEPT[dialect];
  const known = kept.get(text);
  if (known !== undefined) {
    return known;
  }
  // Before another one takes memory, too.
  while (kept.calculatedSize + text.length > MAX_KEPT_CHARACTERS && kept.size > 0) {
    kept.pop();
  }
  const read = compileCodeOwners(text, dialect);
  kept.set(text, read);
  return read;
}

function compileCodeOwners(text: string, dialect: CodeOwnersDialect): CodeOwners {
  if (Buffer.byteLength(text) > MAX_CODE_OWNERS_BYTES) {
    return { kind: 'unusable', why: say`that is larger than ${[String(MAX_CODE_OWNERS_BYTES)]} bytes` };
  }
  // As of a file in UTF-16.
  if (text.includes('\0')) {
    return { kind: 'unusable', why: say`that is not UTF-8 text` };
  }
  return COMPILERS[dialect](text);
}

const COMPILERS: Readonly<Record<CodeOwnersDialect, (text: string) => CodeOwners>> = {
  github: (text) => compileLines(text, GITHUB),
  gitea: (text) => compileLines(text, EXPRESSIONS.gitea),
  forgejo: (text) => compileLines(text, EXPRESSIONS.forgejo),
};

/** Of a pattern only its place in the index is kept. The few lines that concern a change are read again. */
function compileLines<Pattern>(text: string, dialect: Dialect<Pattern>): CodeOwners {
  const lines = text.split('\n');
  const lineAt = (line: number) => {
    const read = readLine(lines[line] ?? '', dialect);
    return 'owned' in read ? read : undefined;
  };
  const index = dialect.makeIndex((line) => lineAt(line)?.pattern);
  const faults: CodeOwnersFault[] = [];
  let moreFaults = 0;
  for (const [at, written] of lines.entries()) {
    const read = readLine(written, dialect);
    if ('unreadable' in read) {
      return {
        kind: 'unusable',
        why: say`with a pattern in line ${at + 1} that Gatehouse cannot read: ${read.unreadable}`,
      };
    }
    if ('owned' in read) {
      index.add(read.pattern, at, read.owned.invalid.length === 0);
    }
    if (read.fault !== undefined && faults.length < MAX_FAULTS) {
      faults.push({ line: at + 1, what: read.fault });
    } else if (read.fault !== undefined) {
      moreFaults += 1;
    }
  }

  const ownersOfEach = (paths: readonly string[]) => {
    const known = new Map<string, Owned>();
    const ownedBy = (by: readonly number[]) => {
      const key = by.join();
      const owned = known.get(key) ?? joined(by.flatMap((line) => lineAt(line)?.owned ?? []));
      known.set(key, owned);
      return owned;
    };
    return index
      .matching(paths)
      .map((found) => withOwners(dialect.areJoined ? [ownedBy(found)] : found.map((line) => ownedBy([line]))));
  };
  return { kind: 'read', ownersOfEach, faults, moreFaults };
}

type ReadLine<Pattern> =
  | { readonly unreadable: string }
  /** Without owners and fault: it is empty. */
  | { readonly fault?: Text | undefined }
  | { readonly pattern: Pattern; readonly owned: Owned; readonly fault?: Text | undefined };

/** What bytes become that are not UTF-8. */
const UNDECODED = '\ufffd';

function readLine<Pattern>(line: string, dialect: Dialect<Pattern>): ReadLine<Pattern> {
  const [written, ...names] = dialect.wordsOf(line.trim());
  if (written === undefined) {
    return {};
  }
  if (isOwnerAlone(written, dialect)) {
    // Which paths it is for is not known, which must not make a change green.
    return {
      pattern: dialect.everyPath,
      owned: { owners: [], invalid: [written, ...names], patterns: [written] },
      fault: say`${short(written)} is an owner, but the line has no pattern before it`,
    };
  }
  const read = dialect.readPattern(written, names);
  if (read.kind === 'unreadable' || (read.kind === 'pattern' && written.includes(UNDECODED))) {
    return { unreadable: written };
  }
  if (read.kind === 'skipped') {
    return { fault: say`${read.what}, so the line is skipped` };
  }
  const unique = [...Map.groupBy(names, bareOwner).values()].flatMap(([first]) => first ?? []);
  const owners = unique.filter((name) => dialect.owner.test(name));
  const invalid = unique.filter((name) => !dialect.owner.test(name));
  return {
    pattern: read.pattern,
    owned: { owners, invalid, patterns: [written] },
    fault: invalid.length === 0 ? undefined : say`${quotedList(invalid.map(short), 3)} cannot be an owner`,
  };
}

function isOwnerAlone(word: string, { ownerAlone }: Pick<Dialect<unknown>, 'ownerAlone'>): boolean {
  const parts = word.split(/[,;\uff0c\uff1b]/).filter((part) => part !== '');
  return parts.length > 0 && parts.every((part) => ownerAlone.test(part));
}

function joined(lines: readonly Owned[]): Owned {
  return {
    owners: [...new Set(lines.flatMap(({ owners }) => owners))],
    invalid: [...new Set(lines.flatMap(({ invalid }) => invalid))],
    patterns: lines.flatMap(({ patterns }) => patterns),
  };
}

/** A path whose lines name only those who cannot be owners still needs an owner: somebody has to correct CODEOWNERS. */
function withOwners(owned: readonly Owned[]): readonly Owned[] {
  const valid = owned.filter(({ owners }) => owners.length > 0);
  return valid.length > 0 ? valid : owned.filter(({ invalid }) => invalid.length > 0).slice(0, 1);
}

/** The changed paths that have owners, by the lines of CODEOWNERS that say so. */
type OwnedFiles = ReadonlyMap<Owned, readonly string[]>;

/** Of the files of a change, which all rules have in common. */
const ownedFilesOf = new WeakMap<readonly ChangedFile[], { readonly by: CodeOwners; readonly owned: OwnedFiles }>();

export function ownedFiles(files: readonly ChangedFile[], by: ReadCodeOwners): OwnedFiles {
  const known = ownedFilesOf.get(files);
  if (known?.by === by) {
    return known.owned;
  }
  const paths = files.flatMap(pathsOf);
  const owned = new Map<Owned, string[]>();
  for (const [index, owners] of by.ownersOfEach(paths).entries()) {
    for (const each of owners) {
      const among = owned.get(each) ?? [];
      among.push(paths[index] ?? '');
      owned.set(each, among);
    }
  }
  ownedFilesOf.set(files, { by, owned });
  return owned;
}

/** The teams that own something in the change, without `@` and in lower case, sorted: which have to be read too. */
export function ownerTeams({ codeOwners, changedFiles }: Facts): readonly string[] {
  const read = codeOwners.kind === 'file' ? readCodeOwners(codeOwners.text, codeOwners.dialect) : undefined;
  if (read?.kind !== 'read') {
    return [];
  }
  const owners = [...ownedFiles(changedFiles.files, read).keys()].flatMap((owned) => owned.owners);
  return [...new Set(owners.filter(isTeam).map(bareOwner))].sort();
}

/** A team is `@organisation/team`. An e-mail address, which may also hold a slash, is not. */
export function isTeam(owner: string): boolean {
  return /^@?[\w.-]+\/[\w.-]+$/.test(owner);
}

/** Without `@`, in lower case: as logins and teams are compared. */
export function bareOwner(owner: string): string {
  return owner.replace(/^@/, '').toLowerCase();
}
