import type { Config, WorkerConfig } from '../config/config.ts';
import { type ForgeParts, makeForge } from '../forges/make-forge.ts';
import type { Forge } from '../forges/port/forge.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

/** The forge client of the worker and the commands. */
export function connectForge(
  access: { readonly forge: Config['forge'] } & Pick<WorkerConfig, 'forgeUrl' | 'credentials'>,
  parts: Pick<ForgeParts, 'redis' | 'installations' | 'hooks'> & {
    readonly metrics?: Metrics;
    readonly log?: Log;
    readonly onRateLimit?: (remaining: number) => void;
  } = {},
): Forge {
  const { forge, forgeUrl: url, credentials } = access;
  const { metrics, onRateLimit, ...others } = parts;
  const hooks = metrics && {
    onRequest: (seen: { forge: string; status: number | 'none'; cache: string }) => metrics.forgeRequests.inc(seen),
    onRateLimit: ({ forge, api, remaining }: { forge: string; api: string; remaining: number }) => {
      metrics.forgeRateRemaining.set({ forge, api }, remaining);
      if (api === 'rest') {
        onRateLimit?.(remaining);
      }
    },
  };
  return makeForge({ forge, url, credentials }, { ...others, ...(hooks && { hooks }) });
}
