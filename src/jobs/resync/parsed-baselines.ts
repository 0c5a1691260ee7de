import { LRUCache } from 'lru-cache';
import type { ParsedPolicy } from '../../review/policy/parse.ts';
import type { SourceFile } from '../../review/sources.ts';
import type { ReviewWorkers } from '../../review/workers/review-workers.ts';

/** Baselines; the least recently used one is forgotten first. */
const MAX_REMEMBERED = 200;

export type ParseBaseline = (repository: string, digest: string, file: SourceFile) => Promise<ParsedPolicy>;

/**
 * Parses the baseline of a policy repository, unless it was parsed already under this digest. Only what can be used is
 * remembered: anything else may be usable at the next attempt, such as after a worker that ended without an answer.
 */
export function makeParseBaseline({ parsePolicy }: Pick<ReviewWorkers, 'parsePolicy'>): ParseBaseline {
  const parsed = new LRUCache<string, { readonly digest: string; readonly policy: Promise<ParsedPolicy> }>({
    max: MAX_REMEMBERED,
  });

  function forgetUnlessUsable(repository: string, policy: Promise<ParsedPolicy>): void {
    const forget = () => {
      if (parsed.peek(repository)?.policy === policy) {
        parsed.delete(repository);
      }
    };
    policy.then(({ ok }) => ok || forget(), forget);
  }

  return (repository, digest, { path, text }) => {
    const before = parsed.get(repository);
    if (before?.digest === digest) {
      return before.policy;
    }
    const policy = parsePolicy(repository, text, { path, repository }, 'baseline');
    parsed.set(repository, { digest, policy });
    forgetUnlessUsable(repository, policy);
    return policy;
  };
}
