import type { ExecutionContext } from 'ava';
import { type ForgeConfig, makeForge } from '../../../src/forges/make-forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import { parseCases } from '../../../src/review/cases/parse.ts';
import { evaluate, neededOwnerTeams } from '../../../src/review/evaluation/evaluate.ts';
import { type JudgeContext, judge } from '../../../src/review/judge.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import { renderReview } from '../../../src/review/rendering/comment.ts';
import { linksOf } from '../../../src/review/rendering/links.ts';
import type { ReviewWorkers } from '../../../src/review/workers/review-workers.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import { makeSimulatedSite, type SimulatedSite } from '../../helpers/simulated-site.ts';
import type { Changes } from '../../simulated-forge/git.ts';
import { type SimulatedForge, startSimulatedForge } from '../../simulated-forge/simulated-forge.ts';

export interface Judged {
  readonly state: string;
  readonly description: string;
  /** The comment on the pull request. */
  readonly said: string;
}

/** A repository of a simulated forge, whose pull requests are read by the forge's own client, and judged: no webhook is sent, and nothing is stored. */
export interface JudgedSite extends SimulatedSite {
  readonly forge: SimulatedForge;
  judge(number: number): Promise<Judged>;
}

/** What a test gives in the place of the operator. */
interface Operator extends Pick<ForgeConfig, 'machineAccounts' | 'committer'> {
  readonly fallback?: JudgeContext['fallback'];
  /** Of Gatehouse's account. Absent: one that may do everything. */
  readonly token?: string;
}

const REPOSITORY = 'acme/widgets';

/** In this thread: nobody hostile wrote these policies. */
const workers: ReviewWorkers = {
  parsePolicy: async (_repository, text, origin, role) => parsePolicy(text, origin, role),
  parseCases: async (_repository, text, file, role) => parseCases(text, file, role),
  evaluate: async (policy, facts, observed) => evaluate(policy, facts, observed),
  ownerTeams: async (facts) => neededOwnerTeams(facts),
  close: async () => {},
};

/** What a forge did not answer in a usable way is asked again, as by a job. */
async function patiently<T>(ask: () => Promise<T>, attempts = 5): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (attempts > 1 && error instanceof ForgeError && error.kind === 'unavailable') {
      return patiently(ask, attempts - 1);
    }
    throw error;
  }
}

/** A forge of its own, with these files in its repository. It ends with the test. */
export async function judgedSite(
  t: ExecutionContext,
  name: ForgeName,
  files: Changes,
  { fallback, token, ...config }: Operator = {},
): Promise<JudgedSite> {
  const forge = await startSimulatedForge({ forge: name });
  t.teardown(() => forge.stop());
  forge.createRepository(REPOSITORY, files);
  const credentials = { kind: 'token', token: token ?? forge.token } as const;
  const client = makeForge({ forge: name, url: forge.url, credentials, ...config }, { patience: PATIENCE });
  t.teardown(() => client.close());
  const context: JudgeContext = {
    ...{ forge: client, workers, fallback, statusContext: 'gatehouse/{base}' },
    baselineOf: async () => ({ kind: 'none' }),
    recordedComments: async () => ({ posted: new Map() }),
  };
  return Object.assign(makeSimulatedSite(forge, REPOSITORY), {
    forge,
    async judge(number: number) {
      const result = await patiently(() => judge(context, { repository: REPOSITORY, number }));
      if (result.kind !== 'judged') {
        throw new Error(`#${number} is not judged: ${result.kind}`);
      }
      const { verdict, pullRequest } = result;
      const links = linksOf(name, pullRequest, { baseSha: forge.head(REPOSITORY, pullRequest.base.branch) });
      const { state, description } = verdict;
      return { state, description, said: renderReview(verdict, { links, enforce: true }) };
    },
  });
}
