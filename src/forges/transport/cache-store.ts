import { createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import type { interceptors } from 'undici';
import type { OptionalRedis } from '../optional-redis.ts';
import { seal, unseal } from './sealed.ts';

type CacheStore = NonNullable<NonNullable<Parameters<typeof interceptors.cache>[0]>['store']>;
type CacheKey = Parameters<CacheStore['get']>[0];
type CacheValue = Parameters<CacheStore['createWriteStream']>[1];
type CacheHit = Exclude<ReturnType<CacheStore['get']>, Promise<unknown> | undefined>;
type VaryHeaders = NonNullable<CacheValue['vary']>;

/** Bodies are kept as the forge sent them, mostly compressed. A larger one is not kept. */
const MAX_ENTRY_BYTES = 1_048_576;
/** An entry unused for this long goes. Staleness is no reason: a stale entry still saves its body (304). */
const RETENTION_MS = 24 * 3_600_000;

/** Headers whose values are secrets. They take part in the key as a hash, encrypt the entry, and are stored nowhere. */
const CREDENTIAL_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-github-otp']);

interface StoredEntry {
  readonly value: CacheValue;
  /** Credential headers that the answer varies by; their values are those of the key. */
  readonly variesByCredential: readonly string[];
}

/**
 * The store behind undici's RFC 9111 cache: one Redis string an answer, a line of JSON and then the body.
 *
 * Entries are private to the credential they were fetched with, and encrypted with it: others with access to Redis
 * can neither read a private repository nor forge approvals. When Redis fails there is no entry.
 */
export function makeCacheStore(optionalRedis: OptionalRedis, limits = { entryBytes: MAX_ENTRY_BYTES }): CacheStore {
  return {
    async get(key) {
      const place = redisKey(key);
      const sealed = await optionalRedis.run((redis) => redis.getexBuffer(place, 'PX', RETENTION_MS));
      const entry = sealed ? unseal(sealed, credentialOf(key), place) : undefined;
      return entry && readEntry(entry, key);
    },

    createWriteStream(key, value) {
      if (value.etag === undefined) {
        // A date is no validator here: two changes within a second would look like one (RFC 9110, 8.8.2.2).
        return undefined;
      }
      const chunks: Buffer[] = [];
      let bytes = 0;
      return new Writable({
        write(chunk: Buffer, _encoding, done) {
          bytes += chunk.byteLength;
          if (bytes > limits.entryBytes) {
            this.destroy();
          } else {
            chunks.push(chunk);
          }
          done();
        },
        final(done) {
          // Not awaited: the answer must not wait for the cache.
          const place = redisKey(key);
          const sealed = seal(writeEntry(value, chunks), credentialOf(key), place);
          void optionalRedis.run((redis) => redis.set(place, sealed, 'PX', RETENTION_MS));
          done();
        },
      });
    },

    async delete(key) {
      await optionalRedis.run((redis) => redis.del(redisKey(key)));
    },
  };
}

/** The number is the version of the entry format: a new format gets a new number, and old entries are not read. */
function redisKey(key: CacheKey): string {
  const identity = [key.origin, key.method, key.path, key.headers?.['accept'] ?? '', sha256(credentialOf(key))];
  return `gatehouse:http:1:${sha256(JSON.stringify(identity))}`;
}

function credentialOf(key: CacheKey): string {
  return JSON.stringify([...CREDENTIAL_HEADERS].map((name) => key.headers?.[name] ?? ''));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function writeEntry(value: CacheValue, body: readonly Buffer[]): Buffer {
  const varies = Object.entries(value.vary ?? {});
  const entry: StoredEntry = {
    value: { ...value, vary: Object.fromEntries(varies.filter(([name]) => !CREDENTIAL_HEADERS.has(name))) },
    variesByCredential: varies.map(([name]) => name).filter((name) => CREDENTIAL_HEADERS.has(name)),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(entry)}\n`), ...body]);
}

function readEntry(stored: Buffer, key: CacheKey): CacheHit | undefined {
  const end = stored.indexOf('\n');
  const entry = parseEntry(stored.toString('utf8', 0, end));
  if (entry === undefined || !variesAlike(entry.value.vary ?? {}, key)) {
    return undefined;
  }
  const vary: VaryHeaders = { ...entry.value.vary };
  for (const name of entry.variesByCredential) {
    vary[name] = key.headers?.[name] ?? null;
  }
  return {
    ...entry.value,
    vary,
    cacheControlDirectives: entry.value.cacheControlDirectives ?? {},
    // undici would forget an entry twice its freshness after it came (two minutes for GitHub). A cache may keep a
    // stale answer for longer (RFC 9111, 4.2.4) as long as it asks before using it, which is the whole gain here.
    deleteAt: Date.now() + RETENTION_MS,
    body: [stored.subarray(end + 1)],
  };
}

/** Undefined for what an older or newer Gatehouse may have written. */
function parseEntry(json: string): StoredEntry | undefined {
  try {
    const parsed: StoredEntry = JSON.parse(json);
    const usable = typeof parsed.value.statusCode === 'number' && Array.isArray(parsed.variesByCredential);
    return usable ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function variesAlike(vary: VaryHeaders, key: CacheKey): boolean {
  return Object.entries(vary).every(([name, value]) => String(key.headers?.[name] ?? '') === String(value ?? ''));
}
