import type { ChildProcess } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { execute } from './execute.ts';

const LINES_KEPT = 40;

/** Hands on what a child prints. Returns the last lines, for the moment it fails. */
export function watchOutput({ stdout, stderr }: ChildProcess, log: (line: string) => void): string[] {
  const lines: string[] = [];
  for (const input of [stdout, stderr].filter((stream) => stream !== null)) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      lines.splice(0, lines.length - LINES_KEPT);
      log(line);
    });
  }
  return lines;
}

/** One line of the operating system's process table. `state` is ps's letter: `T` is stopped, `Z` dead but not yet reaped. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** Every process there is. Read from /proc where there is one: slim images have no `ps`. */
function listProcesses(): Promise<readonly ProcessEntry[]> {
  return process.platform === 'linux' ? fromProc() : fromPs();
}

/** A process and its direct children, the dead ones left out. */
export async function family(pid: number): Promise<readonly ProcessEntry[]> {
  const all = await listProcesses();
  return all.filter((entry) => (entry.pid === pid || entry.parent === pid) && !entry.state.startsWith('Z'));
}

/** Sends a signal. A process that has exited meanwhile is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) {
      throw error;
    }
  }
}

async function fromProc(): Promise<readonly ProcessEntry[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(names.map((name) => readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')));
  return stats.flatMap((stat) => {
    // `pid (command) state ppid …`, and the command may itself hold spaces and parentheses.
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state && parent ? [{ pid: Number.parseInt(stat, 10), parent: Number(parent), state }] : [];
  });
}

async function fromPs(): Promise<readonly ProcessEntry[]> {
  const { stdout } = await execute('ps', ['-A', '-o', 'pid=,ppid=,stat=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, state] = line.trim().split(/\s+/);
    return pid && parent && state ? [{ pid: Number(pid), parent: Number(parent), state }] : [];
  });
}
