import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import { type Facts, factsOf } from '../../../src/facts/table.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type {
  ChangedFile,
  PersonComment,
  PreloadedFacts,
  PullRequestNow,
} from '../../../src/forges/port/pull-request.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { conclude, judgeBy, readChange, readFacts } from '../../../src/review/judge.ts';
import { rulesOf } from '../../../src/review/rules-of.ts';
import type { ReviewWorkers } from '../../../src/review/workers/review-workers.ts';
import { IN_PROCESS } from '../../helpers/policies.ts';
import test from '../../helpers/test.ts';
import { policyOf } from './judge.ts';

const BASE = 'a'.repeat(40);
const PULL_REQUEST: PullRequestNow = {
  ...pullRequestOf({ title: 'things' }),
  baseCommit: BASE,
  commentCount: 0,
  differenceBase: BASE,
  changedFileCount: 1,
};
const HEAD = PULL_REQUEST.head.sha;
const SUBJECT = { pullRequest: PULL_REQUEST, preloaded: {}, writeAccess: async () => 'yes' as const };
const NO_BASELINE = { fallback: undefined, baselineOf: async () => ({ kind: 'none' }) as const };
const NOTHING_PROPOSED = { kind: 'absent' } as const;

const rules = (...lines: readonly string[]) =>
  `version: 1\nrules:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`;
const TITLED = "id: titled, require: { title: '^feat: ' }";
const NOTED = 'id: noted, level: observe, require: { commits: { every: { signed_off: true } } }';
const OVERRIDABLE = rules(TITLED, NOTED).replace('rules:', 'override: { by: bob }\nrules:');

const workers = {
  ...IN_PROCESS,
  evaluate: async (policy, facts, observed) => evaluate(policy, facts, observed),
} as ReviewWorkers;

const SOURCES = { format: 1, baseSha: BASE, policyDigest: 'p' };
const rulesIn = (text: string) => ({ policy: policyOf(text), sources: SOURCES, texts: [] });

function changed(path: string): ChangedFile {
  const unread = { counted: false, diff: { kind: 'unread' } } as const;
  return { path, previousPath: undefined, status: 'modified', additions: 1, deletions: 0, ...unread };
}

function commandOf(author: string): PersonComment {
  const body = `/gatehouse override titled ${HEAD} hotfix`;
  return { id: '1', author, bot: false, byEmail: false, createdAt: '2026-01-02T10:00:00Z', edited: 'no', body };
}

/** A forge of one pull request, with a note of each thing that it is asked for. A method that is not here is not to be called. */
function forgeOf({ policy, comments = [] }: { readonly policy?: string; readonly comments?: PersonComment[] } = {}) {
  const asked: string[] = [];
  function noting<T>(what: string, answer: T): T {
    asked.push(what);
    return answer;
  }
  const forge: Partial<Forge> = {
    machineAccounts: [],
    name: 'gitea',
    // Where no commits are listed, the base has the head.
    branchCommit: async () => HEAD,
    self: async () => 'gatehouse',
    fileAt: async (_repository, path, commit) =>
      noting(`policy at ${commit}`, path === '.gatehouse.yml' ? policy : undefined),
    changedFiles: async (_ref, sha) => noting(`files of ${sha}`, { files: [changed('read.ts')], complete: true }),
    reviews: async () => noting('reviews', []),
    commits: async () => noting('commits', []),
    checks: async () =>
      noting('checks', {
        checks: [
          { kind: 'status', name: 'build', reporter: 'ci', state: 'success' },
          { kind: 'status', name: 'other', reporter: 'Gatehouse', state: 'success' },
          { kind: 'status', name: 'gatehouse', reporter: 'mallory', state: 'success' },
        ],
        suites: [],
        complete: true,
      }),
    comments: async () => noting('comments', comments),
    writeAccess: () => async (login) => noting(`permission of ${login}`, 'yes'),
    lastForcePushOrRetarget: async () => noting('timeline', undefined),
  };
  const context = {
    ...NO_BASELINE,
    forge: forge as Forge,
    workers,
    statusContext: 'gatehouse',
    recordedComments: async (_repository: string, ids: readonly string[]) =>
      noting(`webhooks of ${ids}`, { posted: new Map() }),
    onWillJudge: async () => noting('will judge', undefined),
    onWillAsk: async (facts: readonly string[]) => noting(`will ask for ${facts}`, undefined),
  };
  return { asked, context };
}

test('step 1: files that came with it are read again only for their lines', async (t) => {
  const preloaded: PreloadedFacts = { changedFiles: { files: [changed('known.ts')], complete: true } };
  const paths = async (rule: string, came: PreloadedFacts) => {
    const { asked, context } = forgeOf();
    const { changedFiles } = await readChange(
      context,
      { ...SUBJECT, preloaded: came },
      { policy: { kind: 'policy', ...rulesIn(rules(rule)) } },
    );
    return [changedFiles.files.map(({ path }) => path), asked];
  };
  t.deepEqual(await paths(TITLED, preloaded), [['known.ts'], []]);
  t.deepEqual(await paths(TITLED, {}), [['read.ts'], [`files of ${HEAD}`]]);
  const ofLines = "id: lines, forbid: { added_lines: 'TODO' }";
  t.deepEqual(await paths(ofLines, preloaded), [['read.ts'], [`files of ${HEAD}`]]);
  const observed = ofLines.replace('forbid', 'level: observe, forbid');
  t.deepEqual(await paths(observed, preloaded), [['known.ts'], []], 'the forge cannot fail a review over them');
});

test('step 1: a change of the policy or of its cases is seen', async (t) => {
  const { context } = forgeOf();
  for (const [path, proposesPolicy] of [
    ['a.ts', false],
    ['.gatehouse.yml', true],
    ['.gatehouse.test.yml', false],
  ] as const) {
    const preloaded = { changedFiles: { files: [changed(path)], complete: true } };
    const change = await readChange(context, { ...SUBJECT, preloaded }, { policy: { kind: 'absent' } });
    t.is(change.proposesPolicy, proposesPolicy, path);
  }
});

test('step 2: only what the rules in force need is read', async (t) => {
  const { asked, context } = forgeOf();
  const files = { files: [changed('a.ts')], complete: true };
  const policy = policyOf(rules('id: reviewed, forbid: { changes_requested: true }', NOTED));
  const facts = await readFacts(context, SUBJECT, { policy, sources: SOURCES }, files);
  t.deepEqual(asked, ['reviews']);
  t.like(facts, { pullRequest: PULL_REQUEST, changedFiles: files, commits: { complete: false } });
  t.true(facts.reviews.complete);
});

test('step 2: checks are announced before they are read, and Gatehouse’s are left out', async (t) => {
  const { asked, context } = forgeOf();
  const policy = policyOf(rules('id: built, require: { checks: { name: build, is: success, from: ci } }'));
  const { checks } = await readFacts(context, SUBJECT, { policy, sources: SOURCES }, { files: [], complete: true });
  t.deepEqual(asked, ['will ask for checks', 'checks']);
  t.deepEqual(
    checks.checks.map(({ name }) => name),
    ['build'],
  );
});

type Conclusion = Parameters<typeof conclude>;

interface Beside {
  readonly overrides?: Conclusion[3]['overrides'];
  readonly proposed?: Conclusion[2];
}

/** What is concluded of a policy, by these facts. */
function concluded(text: string, facts: Facts, beside: Beside = {}) {
  const { overrides, proposed = NOTHING_PROPOSED } = beside;
  const known = rulesIn(text);
  const findings = { facts, evaluation: evaluate(known.policy, facts), overrides };
  return conclude(SUBJECT, known, proposed, findings);
}

test('step 4: a verdict says by what it was judged, and whether more was read for it', (t) => {
  const facts = factsOf({ title: 'things', checks: [{ name: 'build' }] });
  t.like(concluded(rules(TITLED), facts), {
    ...{ kind: 'judged', isFixed: true, asks: [], approvals: null },
    verdict: { state: 'failure', policyFaults: [] },
    rules: SOURCES,
  });
  const override = { ruleId: 'titled', by: 'bob', reason: 'hotfix', commentId: '1', at: '2026-01-02T10:00:00Z' };
  const overrides = { headSha: HEAD, complete: true, inForce: [override], refused: [], possible: [] };
  t.like(concluded(rules(TITLED), facts, { overrides }), { isFixed: false, verdict: { state: 'success' } });
  const others = concluded(rules('id: built, require: { checks: { name: build, is: success, from: ci } }'), facts);
  t.like(others, { asks: ['checks'], isFixed: false });
});

test('what only observed rules need is not asked for', (t) => {
  const observed = ['topic: tier-1', 'checks: { all: true }', 'threads: {}', 'approvals: 1'].map(
    (predicate, index) => `id: noted-${index}, level: observe, require: { ${predicate} }`,
  );
  const facts = factsOf({ title: 'feat: things' });
  t.like(concluded(rules(TITLED, ...observed), facts), { asks: [], approvals: null });
  const built = 'id: built, require: { checks: { name: build, is: success } }';
  t.deepEqual(concluded(rules(built, ...observed), facts).asks, ['checks']);
});

test('step 4: a proposed policy that is broken is no success', (t) => {
  const policyFaults = [{ file: '.gatehouse.yml', line: 1, column: 1, message: 'no' }];
  const proposed = { kind: 'broken', faults: policyFaults, sources: {}, texts: [] } as const;
  const { verdict } = concluded(rules(TITLED), factsOf({ title: 'feat: things' }), { proposed });
  t.is(verdict.state, 'failure');
  t.deepEqual(verdict.policyFaults, policyFaults);
});

async function judgeOnce(context: ReturnType<typeof forgeOf>['context']) {
  const { repository } = PULL_REQUEST;
  const rules = await rulesOf(context, { repository, commit: BASE });
  return judgeBy(context, { pullRequest: PULL_REQUEST, preloaded: {} }, rules);
}

test('the steps come in their order, and what is only observed is read after the rest', async (t) => {
  const { asked, context } = forgeOf({ policy: OVERRIDABLE, comments: [commandOf('mallory')] });
  t.like(await judgeOnce(context), { kind: 'judged', verdict: { state: 'failure' } });
  t.deepEqual(asked, [`policy at ${BASE}`, 'will judge', `files of ${HEAD}`, 'commits', 'comments', 'webhooks of 1']);
});

test('step 3: an override by whom the policy names makes a success', async (t) => {
  const { asked, context } = forgeOf({ policy: OVERRIDABLE, comments: [commandOf('bob')] });
  const result = await judgeOnce(context);
  t.like(result, { verdict: { state: 'success', findings: [{ ruleId: 'titled', override: { by: 'bob' } }] } });
  t.true(asked.includes('permission of bob'));
});
