import type { Access, AccessCheck } from '../forges/port/access.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics.ts';

export interface ForgeAccessDeps {
  readonly forge: AccessCheck;
  readonly metrics: Pick<Metrics, 'forgeAccessProblem'>;
  readonly log: Log;
  /** After a problem has ended. */
  readonly onRegained: () => void;
}

/** Whether the forge accepts the credentials, as far as this process has asked. */
export interface ForgeAccess {
  /** Undefined before the first result. */
  current(): Access | undefined;
  /** Asks the forge. Callers at the same time share one result. Undefined when there is none, as in a rate limit. */
  check(): Promise<Access | undefined>;
  stop(): void;
}

/** While there is a problem, the check is repeated after this pause. */
const RETRY_MS = 60_000;

const PROBLEMS = ['not-accepted', 'missing-scope', 'unreachable'] as const;

const WHAT_TO_DO: Readonly<Record<(typeof PROBLEMS)[number], string>> = {
  'not-accepted':
    'the forge does not accept the credentials, and reviews wait: replace FORGE_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY, and check FORGE_URL',
  'missing-scope': 'the credentials lack a scope or permission that every review needs: add it at the forge',
  unreachable: 'the forge cannot be reached: check FORGE_URL, DNS, the network policy and whether the forge is up',
};

/**
 * Checks the credentials when it is asked to, and again until a problem has ended. It logs one line when the result
 * changes. Readiness does not depend on it: a restart would not help, and the door does not need the forge.
 */
export function watchForgeAccess({ forge, metrics, log, onRegained }: ForgeAccessDeps): ForgeAccess {
  let current: Access | undefined;
  let underWay: Promise<Access | undefined> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function report(access: Access): void {
    for (const problem of PROBLEMS) {
      metrics.forgeAccessProblem.set({ problem }, access.kind === problem ? 1 : 0);
    }
    const before = current;
    current = access;
    if (isSame(before, access)) {
      return;
    }
    if (access.kind !== 'granted') {
      const { kind: problem, ...details } = access;
      log.error({ problem, ...details }, WHAT_TO_DO[problem]);
      return;
    }
    log.info('the forge accepts the credentials');
    if (before !== undefined) {
      onRegained();
    }
  }

  async function ask(): Promise<Access | undefined> {
    clearTimeout(timer);
    try {
      const access = await forge.checkAccess();
      if (!stopped) {
        report(access);
      }
    } catch (err) {
      if (!stopped && !(err instanceof ForgeError)) {
        log.warn({ err }, 'the credentials could not be checked');
      }
    }
    underWay = undefined;
    if (!stopped && current?.kind !== 'granted') {
      timer = setTimeout(check, RETRY_MS);
    }
    return current;
  }

  function check(): Promise<Access | undefined> {
    underWay ??= ask();
    return underWay;
  }

  return {
    current: () => current,
    check,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

/** The reason is not compared: it may quote the forge, whose words differ from answer to answer. */
function isSame(one: Access | undefined, other: Access): boolean {
  return one?.kind === other.kind && scopesOf(one) === scopesOf(other);
}

function scopesOf(access: Access): string {
  return access.kind === 'missing-scope' ? access.scopes.join() : '';
}
