import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { PolicyFile } from '../review/policy/load.ts';
import { reasonOf, UsageError } from './failures.ts';

/** Reads the file of `--policy`, which replaces a repository's own policy. Its faults are found when it is parsed. */
export async function readOwnPolicy(path: string, folder: string): Promise<PolicyFile> {
  try {
    return { path, text: await readFile(resolve(folder, path), 'utf8'), unusable: false };
  } catch (error) {
    throw new UsageError(`--policy: cannot read ${path}: ${reasonOf(error)}`);
  }
}
