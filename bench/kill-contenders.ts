type KillServer = 'memory-queue' | 'probot' | 'bullmq' | 'gatehouse';

/** How Redis keeps its data. */
export type RedisSetting = 'shipped' | 'everysec' | 'always';

/** For `redis-server`. */
export const REDIS_ARGUMENTS: Readonly<Record<RedisSetting, readonly string[]>> = {
  shipped: [],
  everysec: ['--appendonly', 'yes', '--appendfsync', 'everysec'],
  always: ['--appendonly', 'yes', '--appendfsync', 'always'],
};

export interface KillContender {
  readonly server: KillServer;
  /** For tables. */
  readonly title: string;
  /** What is killed in the same moment, for tables. */
  readonly killedText: string;
  readonly redis: RedisSetting;
  /** Besides the process. */
  readonly killed: readonly ('database' | 'redis')[];
  /** How long the work on one delivery takes. Gatehouse works on reviews instead. */
  readonly workMs: number;
  /** After so long without progress nothing more will come. */
  readonly quietMs: number;
}

const WORK_MS = 100;
/** Longer than Probot waits for its handlers, and than a forge waits for an answer. */
const SLOW_WORK_MS = 12_000;
/** Nothing that was in memory comes back. */
const MEMORY_QUIET_MS = 5_000;
/** BullMQ takes a job for stalled after 30 s, and looks every 30 s. */
const BULLMQ_QUIET_MS = 75_000;
/** pg-boss misses a heartbeat after 15 s, retries after 5 s, and may skip a job for a minute. */
const GATEHOUSE_QUIET_MS = 90_000;

const memory = { killedText: 'process', redis: 'shipped', killed: [] } as const;
const bullmq = { server: 'bullmq', title: 'Koa and BullMQ', workMs: WORK_MS, quietMs: BULLMQ_QUIET_MS } as const;
const gatehouse = {
  server: 'gatehouse',
  title: '**Gatehouse**',
  redis: 'shipped',
  workMs: 0,
  quietMs: GATEHOUSE_QUIET_MS,
} as const;

export const KILL_CONTENDERS: readonly KillContender[] = [
  {
    ...memory,
    server: 'memory-queue',
    title: 'Koa and a queue in memory',
    workMs: WORK_MS,
    quietMs: MEMORY_QUIET_MS,
  },
  { ...memory, server: 'probot', title: 'Probot, handlers of 0.1 s', workMs: WORK_MS, quietMs: MEMORY_QUIET_MS },
  {
    ...memory,
    server: 'probot',
    title: 'Probot, handlers of 12 s',
    workMs: SLOW_WORK_MS,
    quietMs: SLOW_WORK_MS + MEMORY_QUIET_MS,
  },
  { ...bullmq, killedText: 'process', redis: 'shipped', killed: [] },
  { ...bullmq, killedText: 'process and Redis, as shipped', redis: 'shipped', killed: ['redis'] },
  { ...bullmq, killedText: 'process and Redis, `appendfsync everysec`', redis: 'everysec', killed: ['redis'] },
  { ...bullmq, killedText: 'process and Redis, `appendfsync always`', redis: 'always', killed: ['redis'] },
  { ...gatehouse, killedText: 'process', killed: [] },
  { ...gatehouse, killedText: 'process and Redis, as shipped', killed: ['redis'] },
  { ...gatehouse, killedText: 'process, Redis and PostgreSQL', killed: ['redis', 'database'] },
];
