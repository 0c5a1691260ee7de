import type { ForgeSettings } from '../config/config.ts';
import type { Forge } from '../forges/port/forge.ts';
import type { ForgeHooks } from '../forges/transport/forge-fetch.ts';
import { type BaselineOf, presentBaselines } from '../review/policy/baseline.ts';
import type { Policy } from '../review/policy/policy.ts';
import type { ReviewWorkers } from '../review/workers/review-workers.ts';
import { connectForge } from './forge.ts';
import { readPolicyFile } from './policy-file.ts';

/** What a command judges with: no stores, and nothing is written. */
export interface Judging {
  readonly forge: Forge;
  readonly workers: ReviewWorkers;
  /** The operator's policy. */
  readonly fallback: Policy | undefined;
  /** The baseline as it is now. */
  readonly baselineOf: BaselineOf;
  readonly statusContext: string;
  close(): Promise<void>;
}

/** Closes the workers with it, or when it throws: a ConfigurationError when the operator's policy cannot be used. */
export async function openJudging(
  settings: ForgeSettings,
  workers: ReviewWorkers,
  hooks: ForgeHooks = {},
): Promise<Judging> {
  const { policyFile, policyRepository, statusContext, ...access } = settings;
  await using opened = new AsyncDisposableStack();
  opened.defer(() => workers.close());
  const fallback = policyFile === undefined ? undefined : await readPolicyFile(policyFile, workers);
  const forge = opened.adopt(connectForge(access, { hooks }), (connected) => connected.close());
  const closers = opened.move();
  return {
    forge,
    workers,
    fallback,
    statusContext,
    baselineOf: presentBaselines(forge, workers, policyRepository),
    close: () => closers.disposeAsync(),
  };
}
