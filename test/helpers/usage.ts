import { readFile } from 'node:fs/promises';

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
  if (stat === undefined || status === undefined) return undefined;
  // `pid (command) state …`: user and system time are fields 14 and 15, the twelfth and thirteenth after the command.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    residentBytes: Number(resident) * 1024,
  };
}
