import { arch, cpus, loadavg, release, totalmem, type } from 'node:os';

/** The machine of the figures. */
export function describeMachine(): string {
  const all = cpus();
  const gib = Math.round(totalmem() / 1024 ** 3);
  return `${all.length} × ${all[0]?.model.trim()} (${arch()}), ${gib} GiB, ${type()} ${release()}, Node ${process.version}`;
}

/** The load average of the last minute: above the number of cores, the machine is busy. */
export function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
