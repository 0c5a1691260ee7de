import type pg from 'pg';
import { areRules, type RuleSources, type RulesContext, rulesDigest } from '../../review/rules-of.ts';
import { allJudgedReviews, type JudgedReview } from './judged-reviews.ts';

/** What the rules are now. Each thing is read once. */
export interface PresentRules {
  /**
   * The reviews whose verdict was judged by other rules than those of today. `tipOf`: the commit at the tip of a review's
   * base branch, where it was read already. Null: there is no such branch. Undefined: unknown.
   */
  outdated<Review extends JudgedReview>(
    reviews: readonly Review[],
    tipOf?: (review: Review) => string | null | undefined,
  ): Promise<readonly Review[]>;
}

export function readPresentRules(context: RulesContext): PresentRules {
  const once = eachOnce(context);
  const compare = remember(
    (repository: string, commit: string, rules: RuleSources) => areRules(once, { repository, commit }, rules),
    (repository, commit, rules) => [repository, commit, String(commit === rules.baseSha), rulesDigest(rules)],
  );

  async function isOutdated({ repository, baseBranch, rules }: JudgedReview, known: string | null | undefined) {
    if (rules === null) {
      return true;
    }
    const tip = known === undefined ? await once.forge.branchCommit(repository, baseBranch) : known;
    return tip == null || !(await compare(repository, tip, rules));
  }

  return {
    async outdated(reviews, tipOf) {
      const found: (typeof reviews)[number][] = [];
      for (const review of reviews) {
        if (await isOutdated(review, tipOf?.(review))) {
          found.push(review);
        }
      }
      return found;
    },
  };
}

/**
 * The repositories with a verdict that was judged by other rules, of another place than the repository: an extended
 * policy, the operator's. Their own base branches are taken to be where they were.
 */
export async function judgedByOtherRulesElsewhere(pool: pg.Pool, rules: PresentRules): Promise<readonly string[]> {
  const found = new Set<string>();
  for await (const reviews of allJudgedReviews(pool)) {
    for (const { repository } of await rules.outdated(reviews, (review) => review.rules?.baseSha)) {
      found.add(repository);
    }
  }
  return [...found];
}

/** What is read by name is the same for many repositories of an owner. */
function eachOnce(context: RulesContext): RulesContext {
  const { forge, baselineOf, isMeant } = context;
  const ownerOf = (repository: string) => repository.split('/')[0]?.toLowerCase() ?? '';
  const { branchCommit, tagCommit, repository } = forge;
  return {
    ...context,
    forge: {
      ...forge,
      branchCommit: remember(branchCommit, (...of) => of),
      tagCommit: remember(tagCommit, (...of) => of),
      repository: remember(repository, (...of) => of),
    },
    baselineOf: remember(baselineOf, (of) => [ownerOf(of)]),
    ...(isMeant && { isMeant: remember(isMeant, ({ id, name }, remembers) => [id, name, String(remembers)]) }),
  };
}

/** The work, done once for each key. */
function remember<Of extends readonly unknown[], Result>(
  work: (...of: Of) => Promise<Result>,
  keyOf: (...of: Of) => readonly string[],
): (...of: Of) => Promise<Result> {
  const done = new Map<string, Promise<Result>>();
  return (...of) => {
    const key = JSON.stringify(keyOf(...of));
    const result = done.get(key) ?? work(...of);
    done.set(key, result);
    return result;
  };
}
