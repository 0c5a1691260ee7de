import { readdir, readFile } from 'node:fs/promises';

/** What the operating system says of a process. Linux only: elsewhere these figures are left out. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** Linux reports processor time in hundredths of a second, whatever the kernel's own tick (proc(5), `_SC_CLK_TCK`). */
const TICKS_PER_SECOND = 100;

export async function usageOf(pid: number): Promise<Usage | undefined> {
  const [stat, status] = await Promise.all(
    ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => undefined)),
  );
  if (stat === undefined || status === undefined) {
    return undefined;
  }
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return {
    cpuSeconds: cpuSecondsIn(stat),
    residentBytes: Number(resident) * 1024,
  };
}

/** Processor seconds of every process on this machine that runs this command, in containers too; undefined where none does. */
export async function cpuSecondsOf(command: string): Promise<number | undefined> {
  const entries = await readdir('/proc').catch(() => []);
  const stats = await Promise.all(
    entries.filter((entry) => /^\d+$/.test(entry)).map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')),
  );
  const running = stats.filter((stat) => stat.includes(` (${command}) `));
  return running.length === 0 ? undefined : running.reduce((sum, stat) => sum + cpuSecondsIn(stat), 0);
}

/** `pid (command) state …`: user and system time are fields 14 and 15, the twelfth and thirteenth after the command. */
function cpuSecondsIn(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
