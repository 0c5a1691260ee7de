import type { Forge } from '../forges/forge.ts';
import type { PullRequestNow } from '../forges/pull-request.ts';
import type { JudgeOptions } from './judge.ts';
import { isBaselineOf, withBaseline } from './policy/baseline.ts';
import { type LoadedPolicy, loadPolicy, type ParsePolicy } from './policy/load.ts';
import type { Policy } from './policy/schema.ts';

/** The policy that a pull request is judged by; undefined where none applies. Nothing of it is to be shown. */
export async function presentPolicy(
  forge: Forge,
  { repository, baseCommit }: PullRequestNow,
  { threads, fallback, baselineOf }: Pick<JudgeOptions, 'threads' | 'fallback' | 'baselineOf'>,
): Promise<Policy | 'broken' | undefined> {
  if (baseCommit === undefined) {
    return undefined;
  }
  const parse: ParsePolicy = (text, origin, role) => threads.parsePolicy(repository, text, origin, role);
  const baseline = await baselineOf(repository);
  const role = isBaselineOf(baseline, repository) ? 'baseline' : 'own';
  const loaded = await loadPolicy(forge, parse, repository, baseCommit, { role });
  const own: LoadedPolicy =
    loaded.kind === 'absent' && fallback !== undefined
      ? { kind: 'policy', policy: fallback, sources: {}, texts: [] }
      : loaded;
  const present = withBaseline(baseline, own, { repository, hidden: false });
  switch (present.kind) {
    case 'absent':
      return undefined;
    case 'broken':
      return 'broken';
    case 'policy':
      return present.policy;
  }
}
