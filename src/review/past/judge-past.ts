import type { Facts } from '../../facts/table.ts';
import type { ForgeName } from '../../forges/port/forges.ts';
import type { Evaluation } from '../evaluation/evaluation.ts';
import { notEvaluated } from '../evaluation/not-evaluated.ts';
import type { Policy } from '../policy/policy.ts';
import { quotedList, say } from '../text.ts';
import type { ReviewWorkers } from '../workers/review-workers.ts';
import { possibleReviews } from './possible-reviews.ts';

/**
 * Judges a pull request as it was when it was merged. A rule that depends on something that is no longer known is
 * undecided.
 */
export async function judgePast(
  { evaluate }: Pick<ReviewWorkers, 'evaluate'>,
  policy: Policy,
  facts: Facts,
  forge: ForgeName,
): Promise<Evaluation> {
  const { unknown, ways } = possibleReviews(facts.reviews.reviews, facts.pullRequest.author, forge);
  if (ways.length === 0) {
    return evaluate(policy, { ...facts, reviews: { ...facts.reviews, complete: false } });
  }
  const [first = [], ...others] = ways;
  const withReviews = (reviews: Facts['reviews']['reviews']) =>
    evaluate(policy, { ...facts, reviews: { ...facts.reviews, reviews } });
  const present = await withReviews(first);
  const possible = await Promise.all(others.map(withReviews));
  const found = say`whether the review of ${quotedList(unknown)} counted then is not known`;
  return {
    ...present,
    rules: present.rules.map((rule, index) => {
      const asked = policy.rules[index];
      const agrees = possible.every(({ rules }) => rules[index]?.outcome === rule.outcome);
      return agrees || asked === undefined ? rule : notEvaluated(asked, found);
    }),
  };
}
