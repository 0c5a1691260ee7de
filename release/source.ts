import { type Publisher, readPublisher } from './publisher.ts';
import type { Run } from './run.ts';
import { readVersion } from './versions.ts';

/** What is released. */
export interface Source {
  readonly root: string;
  readonly publisher: Publisher;
  readonly version: string;
  /** The commit. */
  readonly revision: string;
  /** Of the commit. The time in every artefact, so that a second build is the same. */
  readonly time: Date;
}

/** Throws where publisher.json is not complete, and where something is not committed. */
export async function readSource(root: string, run: Run): Promise<Source> {
  const publisher = await readPublisher(root);
  const changes = await run('git', 'status', '--porcelain');
  if (changes !== '') {
    throw new Error(`there are uncommitted changes, and a release is built from a commit:\n${changes}`);
  }
  return {
    root,
    publisher,
    version: await readVersion(root),
    revision: await run('git', 'rev-parse', 'HEAD'),
    time: await commitTime(run),
  };
}

export async function commitTime(run: Run): Promise<Date> {
  return new Date(Number(await run('git', 'log', '-1', '--format=%ct')) * 1_000);
}
