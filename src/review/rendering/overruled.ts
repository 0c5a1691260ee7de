import type { Overruled } from '../policy/overruled.ts';
import { quotedList, say, type Text } from '../text.ts';
import { markdown } from './markdown.ts';

/** Why rules of a policy have no effect, in plain words. */
export function whyOverruled({ ruleIds, by, proposed }: Overruled): Text {
  const policy = proposed ? 'The policy as this pull request changes it' : 'The policy';
  return say`${[policy]} has rules without effect: ${quotedList(ruleIds)}. The organisation’s baseline (${by}) has locked rules with these ids, which apply instead.`;
}

/** For the comment: only in the pull request that proposes them, where somebody can still correct it. */
export function renderOverruled(overruled: Overruled | undefined): readonly string[] {
  return overruled?.proposed === true ? [markdown(whyOverruled(overruled))] : [];
}
