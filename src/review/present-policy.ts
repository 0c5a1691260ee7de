import type { Forge } from '../forges/port/forge.ts';
import type { JudgeOptions } from './judge.ts';
import { isBaselineOf, withBaseline } from './policy/baseline.ts';
import { type LoadedPolicy, loadPolicy, type ParsePolicy, type PolicyFile } from './policy/load.ts';
import { orOperatorPolicy } from './policy/operator-policy.ts';

/**
 * The policy for pull requests whose base is at `commit`; undefined: the branch does not exist. `file`: taken instead of the
 * repository's own policy. Do not show it on the forge: a private baseline is not hidden in it.
 */
export async function presentPolicy(
  forge: Forge,
  { threads, fallback, baselineOf }: Pick<JudgeOptions, 'threads' | 'fallback' | 'baselineOf'>,
  repository: string,
  commit: string | undefined,
  file?: PolicyFile,
): Promise<LoadedPolicy> {
  const parse: ParsePolicy = (text, origin, role) => threads.parsePolicy(repository, text, origin, role);
  const baseline = await baselineOf(repository);
  const role = isBaselineOf(baseline, repository) ? 'baseline' : 'own';
  const loaded: LoadedPolicy =
    commit === undefined && file === undefined
      ? { kind: 'absent' }
      : await loadPolicy(forge, parse, repository, commit ?? '', { role, file });
  return withBaseline(baseline, orOperatorPolicy(loaded, fallback), { repository, hidden: false });
}
