import { arch, cpus, loadavg, release, totalmem, type } from 'node:os';

/** What the figures were taken on. */
export function describeMachine(): string {
  const all = cpus();
  const gib = Math.round(totalmem() / 1024 ** 3);
  return `${all.length} × ${all[0]?.model.trim()} (${arch()}), ${gib} GiB, ${type()} ${release()}, Node ${process.version}`;
}

/** Processes that wanted to run at once, over the last minute: more than the machine's own cores is a busy machine. */
export function load(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}
