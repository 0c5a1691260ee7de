import type { ChangedFile } from '../../forges/port/pull-request.ts';
import type { OwnersOf } from './code-owners.ts';
import { pathsOf } from './files.ts';

export interface OwnedFiles {
  readonly owners: readonly string[];
  readonly paths: readonly string[];
}

/** The changed paths that have owners, gathered by the set of their owners. */
export function ownersOfChange(files: readonly ChangedFile[], ownersOf: OwnersOf): readonly OwnedFiles[] {
  const groups = new Map<string, { owners: readonly string[]; paths: string[] }>();
  for (const path of files.flatMap(pathsOf)) {
    const owners = ownersOf(path);
    if (owners.length === 0) {
      continue;
    }
    const key = owners.join(' ').toLowerCase();
    const group = groups.get(key) ?? { owners, paths: [] };
    group.paths.push(path);
    groups.set(key, group);
  }
  return [...groups.values()];
}
