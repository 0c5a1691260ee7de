import { ForgeError } from './forge-error.ts';

// Names reach the path of a URL, and some come from policies that anyone may write. A URL takes `.` and `..` for
// steps through it, encoded or not, so no name may be one.

/** The two parts of `owner/name`. */
export function splitRepository(repository: string): { owner: string; name: string } {
  const [owner, name] = twoNames(repository) ?? [];
  if (owner === undefined || name === undefined) {
    throw new ForgeError('invalid', `"${repository}" is not a repository: expected owner/name`);
  }
  return { owner, name };
}

/** The two parts of `organisation/team`; undefined when it cannot be one, which no forge needs to be asked. */
export function splitTeam(team: string): { organisation: string; name: string } | undefined {
  const [organisation, name] = twoNames(team) ?? [];
  return organisation === undefined || name === undefined ? undefined : { organisation, name };
}

/** Whether git could have a file of this path. */
export function isFilePath(path: string): boolean {
  return path.split('/').every(isName);
}

function twoNames(joined: string): string[] | undefined {
  const names = joined.split('/');
  return names.length === 2 && names.every(isName) ? names : undefined;
}

export function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..';
}
