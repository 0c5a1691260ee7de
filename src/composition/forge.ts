import type { Config, WorkerConfig } from '../config/config.ts';
import { type ForgeDeps, makeForge } from '../forges/make-forge.ts';
import type { Forge } from '../forges/port/forge.ts';
import type { SeenRequest } from '../forges/transport/forge-fetch.ts';
import { urlTemplate } from '../forges/transport/url-template.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** The forge client of the worker and the commands. */
export function connectForge(
  access: { readonly forge: Config['forge'] } & Pick<WorkerConfig, 'forgeUrl' | 'credentials'> &
    Partial<Pick<WorkerConfig, 'machineAccounts' | 'forgeCommitter'>>,
  deps: Pick<ForgeDeps, 'redis' | 'installations' | 'hooks' | 'patience'> & {
    readonly metrics?: Metrics;
    readonly tracing?: Tracing;
    readonly log?: Log;
  } = {},
): Forge {
  const { forge, forgeUrl: url, credentials, machineAccounts = [], forgeCommitter: committer } = access;
  const { metrics, tracing, ...others } = deps;
  const hooks = metrics && {
    onRequest(seen: SeenRequest) {
      const { forge, status } = seen;
      metrics.forgeRequests.inc({ forge, status });
      tracing?.addRequest(traced(seen));
    },
    onRateLimit: ({ forge, api, remaining }: { forge: string; api: string; remaining: number }) => {
      metrics.forgeRateRemaining.set({ forge, api }, remaining);
    },
  };
  return makeForge({ forge, url, credentials, machineAccounts, committer }, { ...others, ...(hooks && { hooks }) });
}

/** Without the path and the query, which name files and branches. */
function traced({ forge, method, url, status, durationMs }: SeenRequest) {
  const template = urlTemplate(url.pathname);
  // Gatehouse also asks for what may be absent: 404 is an answer.
  const failed = status === 'none' || (status >= 400 && status !== 404);
  return {
    name: `${method} ${template}`,
    durationMs,
    error: failed ? (status === 'none' ? 'no_answer' : String(status)) : undefined,
    attributes: {
      'http.request.method': method,
      'http.response.status_code': status === 'none' ? undefined : status,
      'url.template': template,
      'server.address': url.hostname,
      'server.port': Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
      'vcs.provider.name': forge,
    },
  };
}
