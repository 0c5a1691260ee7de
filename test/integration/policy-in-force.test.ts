import type { Context } from '../../src/commands/doctor/check.ts';
import { checkPolicy } from '../../src/commands/doctor/policy.ts';
import { openJudging } from '../../src/composition/judging.ts';
import { judge } from '../../src/review/judge.ts';
import type { Policy } from '../../src/review/policy/policy.ts';
import { areRules, rulesDigest } from '../../src/review/rules-of.ts';
import { makeReviewWorkers } from '../../src/review/workers/review-workers.ts';
import { forgesOf } from '../helpers/forges.ts';
import ava from '../helpers/test.ts';
import { startSimulatedForge } from '../simulated-forge/simulated-forge.ts';
import { policyOf } from '../unit/review/judge.ts';

const FORGES = forgesOf(import.meta.url);

const test = ava.serial;

type Files = Readonly<Record<string, string>>;

interface Situation {
  readonly what: string;
  /** Of acme/widgets, the repository that is asked for unless `asked` names another. */
  readonly own?: Files;
  /** Of acme/.gatehouse, the organisation's policy repository. */
  readonly baseline?: Files;
  /** Of acme/shared. */
  readonly shared?: Files;
  readonly operators?: Policy;
  readonly asked?: string;
  /** Ids of the rules in force; a word where there are none. */
  readonly inForce: readonly string[] | 'broken' | 'absent';
}

const rulesOf = (...rules: readonly string[]) =>
  `version: 1\nrules:\n${rules.map((rule) => `  - { ${rule} }\n`).join('')}`;
const rule = (id: string, more = '') => `id: ${id}, require: { title: '.' }${more}`;
const file = (...rules: readonly string[]): Files => ({ '.gatehouse.yml': rulesOf(...rules) });
const LOCKED = rule('sealed', ', locked: true');
const OPERATORS = policyOf(rulesOf(rule('of-operator')));
const BROKEN: Files = { '.gatehouse.yml': 'version: 1\nrules: 7\n' };
const EXTENDING: Files = { '.gatehouse.yml': `extends: acme/shared@main\n${rulesOf(rule('one'))}` };

const SITUATIONS: readonly Situation[] = [
  { what: 'no policy', inForce: 'absent' },
  { what: 'one of its own', own: file(rule('one')), inForce: ['one'] },
  { what: 'one at another path', own: { '.github/gatehouse.yml': rulesOf(rule('one')) }, inForce: ['one'] },
  { what: 'a broken one', own: BROKEN, inForce: 'broken' },
  { what: 'one that locks a rule', own: file(LOCKED), inForce: 'broken' },
  { what: 'an extended one', own: EXTENDING, shared: file(rule('two')), inForce: ['two', 'one'] },
  { what: 'a missing extended one', own: EXTENDING, inForce: 'broken' },
  { what: 'the operator’s', operators: OPERATORS, inForce: ['of-operator'] },
  { what: 'one beside the operator’s', own: file(rule('one')), operators: OPERATORS, inForce: ['one'] },
  { what: 'a broken one beside the operator’s', own: BROKEN, operators: OPERATORS, inForce: 'broken' },
  { what: 'the baseline alone', baseline: file(LOCKED), inForce: ['sealed'] },
  { what: 'the baseline and its own', baseline: file(LOCKED), own: file(rule('one')), inForce: ['sealed', 'one'] },
  { what: 'a broken baseline', baseline: BROKEN, own: file(rule('one')), inForce: 'broken' },
  { what: 'the baseline and a broken one', baseline: file(LOCKED), own: BROKEN, inForce: 'broken' },
  {
    what: 'the baseline and the operator’s',
    baseline: file(LOCKED),
    operators: OPERATORS,
    inForce: ['sealed', 'of-operator'],
  },
  { what: 'the baseline itself', baseline: file(LOCKED), asked: 'acme/.gatehouse', inForce: ['sealed'] },
  { what: 'a broken baseline itself', baseline: BROKEN, asked: 'acme/.gatehouse', inForce: 'broken' },
];

/** Of all tests: a worker takes a third of a second of processor time to start. */
const workers = makeReviewWorkers({ size: 1 });

for (const name of FORGES) {
  for (const { what, own, baseline, shared, operators, asked = 'acme/widgets', inForce } of SITUATIONS) {
    test(`${name}: doctor and the review agree on ${what}`, async (t) => {
      const simulated = await startSimulatedForge({ forge: name });
      const credentials = { kind: 'token', token: simulated.token } as const;
      const settings = {
        forge: name,
        forgeUrl: simulated.url,
        credentials,
        policyFile: undefined,
        policyRepository: baseline && '.gatehouse',
        statusContext: 'gatehouse/{base}',
        machineAccounts: [],
        forgeCommitter: undefined,
      };
      const judging = await openJudging(settings, { ...workers, close: async () => {} });
      try {
        const repositories = { 'acme/widgets': own, 'acme/.gatehouse': baseline, 'acme/shared': shared };
        for (const [repository, files] of Object.entries(repositories)) {
          if (files !== undefined || repository === 'acme/widgets') {
            simulated.createRepository(repository, { 'src/app.ts': 'one\n', ...files });
          }
        }
        simulated.commit(asked, 'topic', { 'src/app.ts': 'two\n' });
        const number = simulated.openPullRequest(asked, { head: 'topic', title: 'A change' });

        const options = {
          ...judging,
          fallback: operators,
          recordedComments: async () => ({ posted: new Map(), now: 0 }),
        };
        const review = await judge(options, { repository: asked, number });
        const inspected = await judging.forge.inspection.repository(asked);
        if (inspected === undefined) {
          throw new Error(`${asked} is not there`);
        }
        const context: Context = {
          ...{ configuration: [], databaseUrl: undefined, pool: undefined, redisUrl: undefined, lacks: '' },
          ...{ site: undefined, asked, webhookUrl: undefined, extras: [], eventsFor: [], hooks: [] },
          ...{ workers, found: { forge: judging.forge, settings, repository: inspected }, operators },
        };
        const results = await checkPolicy(context);

        if (!('rules' in review)) {
          throw new Error('it was not judged');
        }
        const { rules, pullRequest } = review;
        const place = { repository: asked, commit: pullRequest.baseCommit ?? '' };
        t.true(await areRules(options, place, rules), 'the resync agrees');
        const moved = simulated.commit(asked, 'main', { 'b.txt': 'b\n' });
        t.true(await areRules(options, { ...place, commit: moved }, rules), 'also where the base branch has moved');
        t.is(rulesDigest(JSON.parse(JSON.stringify(rules))), rulesDigest(rules), 'also as it is stored');

        const none = review.kind === 'judged' ? 'broken' : 'absent';
        const judged = review.kind === 'judged' ? review.evaluation?.rules : undefined;
        const ofReview = judged?.map(({ rule: { id } }) => id) ?? none;
        const ofDoctor =
          context.policy?.rules.map(({ id }) => id) ?? (review.kind === 'no-policy' ? 'absent' : 'broken');
        t.deepEqual({ ofReview, ofDoctor }, { ofReview: inForce, ofDoctor: inForce });
        const isFound = results.some(({ result }) => result === 'wrong');
        t.is(isFound, typeof inForce === 'string', JSON.stringify(results));
      } finally {
        await judging.close();
        await simulated.stop();
      }
    });
  }
}
