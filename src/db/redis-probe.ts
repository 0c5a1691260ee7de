import type { Redis } from 'ioredis';
import type { StoreUrl } from '../common/store-url.ts';
import { publicReason } from './probes.ts';
import { closeRedis, makeProbeRedis } from './redis.ts';

/** What makes a Redis unusable. */
export interface RedisFault {
  /** Without a host name: anyone may read a health report. */
  readonly reason: string;
  /** What to do about it, where its answer tells. */
  readonly action?: string;
}

export interface RedisProbe {
  readonly redis: Redis;
  /** Undefined when Redis does what Gatehouse needs of it. */
  check(): Promise<RedisFault | undefined>;
  close(): void;
}

/** The smallest ACL under which Gatehouse works. */
export const REDIS_ACL = '~gatehouse:* &gatehouse:* +@read +@write +@connection +@pubsub +@scripting';

const KEY = 'gatehouse:probe';
/**
 * What Gatehouse does: it reads, writes and publishes, also in scripts. A PING is answered by what can do none of it.
 */
const SCRIPT = `redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], '1', 'PX', 60000)
return redis.call('PUBLISH', KEYS[1], '')`;

const CLUSTER = {
  reason: 'is a Redis Cluster, which Gatehouse does not support',
  action: 'use one primary, behind one address',
};
const SENTINEL = {
  reason: 'is a Sentinel and not the Redis that it watches',
  action: 'set REDIS_URL to the address of the primary, such as that of a Service',
};

const FAULTS: readonly (readonly [RegExp, RedisFault])[] = [
  [/\bREADONLY\b/, { reason: 'is a read-only replica', action: 'connect to the primary' }],
  [/\b(?:MOVED|ASK|CLUSTERDOWN|CROSSSLOT)\b/, CLUSTER],
  [/\bOOM\b/, { reason: 'is full', action: 'raise maxmemory, or set maxmemory-policy to allkeys-lru' }],
  [/\bMISCONF\b/, { reason: 'refuses writes: it cannot save to its disk', action: 'see the log of Redis' }],
  [/\bNOREPLICAS\b/, { reason: 'refuses writes: it has too few replicas', action: 'see min-replicas-to-write' }],
  [/\bLOADING\b/, { reason: 'is loading its data' }],
  [/\bBUSY\b/, { reason: 'is busy with a script' }],
  [/\bNOAUTH\b|\bWRONGPASS\b/, { reason: 'refused the credentials', action: 'check the password in REDIS_URL' }],
  [
    /\bNOPERM\b|ACL failure|No permission/i,
    { reason: 'its ACL forbids what Gatehouse does', action: `give the user ${REDIS_ACL}` },
  ],
];

/** A connection that is made for checks alone. */
export function makeRedisProbe(url: StoreUrl, timeoutMs: number): RedisProbe {
  const redis = makeProbeRedis(url, timeoutMs);
  /** Why there is no connection: a command without one only says that there is none. */
  let lastError: unknown;
  redis.on('error', (error: unknown) => {
    lastError = error;
  });
  redis.on('ready', () => {
    lastError = undefined;
  });

  async function modeOf(): Promise<string | undefined> {
    // Only a proxy does not know it.
    const reply = await redis.call('HELLO').catch(() => []);
    const fields = Array.isArray(reply) ? reply.map(String) : [];
    return fields.includes('mode') ? fields[fields.indexOf('mode') + 1] : undefined;
  }

  return {
    redis,
    async check() {
      const [mode, fault] = await Promise.all([
        modeOf(),
        redis.eval(SCRIPT, 1, KEY).then(
          () => undefined,
          (error: unknown) => faultOf(lastError ?? error),
        ),
      ]);
      // A node of a cluster may have the key of the script.
      return mode === 'cluster' ? CLUSTER : mode === 'sentinel' ? SENTINEL : fault;
    },
    close: () => closeRedis(redis),
  };
}

function faultOf(error: unknown): RedisFault {
  const message = error instanceof Error ? error.message : '';
  return FAULTS.find(([pattern]) => pattern.test(message))?.[1] ?? { reason: publicReason(error) };
}
