import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inTime } from '../helpers/deadline.ts';
import { execute } from '../helpers/execute.ts';
import { messageOf } from '../helpers/site.ts';
import { type Changes, MODES, typeOf } from '../simulated-forge/git.ts';

/** The topic of what is pushed for review. */
const FOR_REVIEW = 'for-review';

interface PushOptions {
  /** Whose tip the commits stand on, by force, instead of the branch's own. */
  readonly onto?: string;
}

/** A person's copy of a repository, without files on disk. */
export interface Clone {
  /** Commits each of the changes and pushes them. Returns the new tip. */
  push(branch: string, changes: readonly Changes[], options?: PushOptions): Promise<string>;
  /** Commits a merge of another commit, whose files are those of the branch with the changes, and pushes it. */
  merge(branch: string, other: string, changes: Changes): Promise<string>;
  /** Commits the changes on `main` and pushes them to `refs/for/main`, where Gitea makes a pull request of them. */
  pushForReview(changes: Changes): Promise<void>;
  tip(branch: string): Promise<string | undefined>;
  remove(): Promise<void>;
}

export async function makeClone(url: string, author: string): Promise<Clone> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-clone-'));
  const git = async (...args: readonly string[]) => (await execute('git', ['-C', folder, ...args])).stdout.trim();
  await git('init', '--quiet', '--bare');

  const clone: Clone = {
    tip: (branch) => git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).catch(() => undefined),
    async push(branch, changes, { onto } = {}) {
      await git('fetch', '--quiet', '--prune', url, '+refs/heads/*:refs/heads/*');
      const from = onto ?? ((await clone.tip(branch)) === undefined ? 'main' : branch);
      const parent = await clone.tip(from);
      await fastImport(folder, streamOf(branch, changes, author, parent === undefined ? [] : [parent]));
      await git('push', '--quiet', ...(onto === undefined ? [] : ['--force']), url, `refs/heads/${branch}`);
      return git('rev-parse', `refs/heads/${branch}`);
    },
    async merge(branch, other, changes) {
      await git('fetch', '--quiet', '--prune', url, '+refs/heads/*:refs/heads/*');
      const tip = await git('rev-parse', `refs/heads/${branch}`);
      await fastImport(folder, streamOf(branch, [changes], author, [tip, other]));
      await git('push', '--quiet', url, `refs/heads/${branch}`);
      return git('rev-parse', `refs/heads/${branch}`);
    },
    async pushForReview(changes) {
      await git('fetch', '--quiet', '--prune', url, '+refs/heads/*:refs/heads/*');
      await fastImport(folder, streamOf(FOR_REVIEW, [changes], author, [await git('rev-parse', 'refs/heads/main')]));
      await git('push', '--quiet', '-o', `topic=${FOR_REVIEW}`, url, `refs/heads/${FOR_REVIEW}:refs/for/main`);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
  return clone;
}

/** As `git fast-import` reads it. The parents are those of the first commit. */
function streamOf(branch: string, changes: readonly Changes[], author: string, parents: readonly string[]): Buffer {
  const parts: (string | Buffer)[] = [];
  const seconds = Math.floor(Date.now() / 1_000);
  for (const [index, files] of changes.entries()) {
    const message = messageOf(files);
    parts.push(`commit refs/heads/${branch}\ncommitter ${author} <${author}@example.test> ${seconds} +0000\n`);
    parts.push(`data ${Buffer.byteLength(message)}\n${message}\n`);
    for (const [nth, parent] of (index === 0 ? parents : []).entries()) {
      parts.push(`${nth === 0 ? 'from' : 'merge'} ${parent}\n`);
    }
    for (const [path, content] of Object.entries(files)) {
      parts.push(...entryOf(path, content));
    }
    parts.push('\n');
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

function entryOf(path: string, content: Changes[string]): readonly (string | Buffer)[] {
  if (content === null) {
    return [`D ${path}\n`];
  }
  const bytes = Buffer.from(content);
  const type = typeof content === 'string' ? 'file' : typeOf(content);
  return type === 'submodule'
    ? [`M ${MODES[type]} ${/[0-9a-f]{40}/.exec(bytes.toString())} ${path}\n`]
    : [`M ${MODES[type]} inline ${path}\ndata ${bytes.byteLength}\n`, bytes, '\n'];
}

async function fastImport(folder: string, stream: Buffer): Promise<void> {
  const child = spawn('git', ['-C', folder, 'fast-import', '--quiet', '--force'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(stream);
  const [code] = await inTime('git fast-import has ended', once(child, 'close'));
  if (code !== 0) {
    throw new Error(`git fast-import ended with ${code}`);
  }
}
