import { needsBeside } from '../../../src/facts/needs.ts';
import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import { factsOf, unreadFacts } from '../../../src/facts/table.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { readToObserve, rulesInForce } from '../../../src/review/evaluation/observe.ts';
import { neededFacts } from '../../../src/review/policy/needs.ts';
import { verdictOf } from '../../../src/review/verdict.ts';
import test from '../../helpers/test.ts';
import { policyOf, ruleOf, verdict } from './judge.ts';

const POLICY = policyOf(`version: 1
rules:
  - { id: noted, level: observe, require: { label: noted } }
  - { id: titled, require: { title: '^feat: ' } }
  - { id: signed, level: observe, require: { commits: { every: { signed_off: true } } } }
`);
const KNOWN = { ...unreadFacts(pullRequestOf()), changedFiles: { files: [], complete: true } };
const COMMITS = factsOf({ commits: [{ message: 'feat: a\n\nSigned-off-by: Alice <alice@example.test>' }] }).commits
  .commits;

function sourcesOf(forge: Partial<Forge>) {
  return {
    forge: forge as Forge,
    statusContext: 'gatehouse',
    baseSha: '',
    preloaded: {},
    authorTrailers: [],
    ownerTeams: async () => [],
    writeAccess: async () => 'unknown' as const,
  };
}

/** What happens to the observed rules where the forge answers for the commits as given. */
async function observed(commits: Forge['commits'], maxReadingMs?: number) {
  const { rules } = evaluate(POLICY, KNOWN, await readToObserve(POLICY, KNOWN, sourcesOf({ commits }), maxReadingMs));
  return rules.flatMap(({ rule, outcome }) => (rule.level === 'observe' ? [`${rule.id} ${outcome}`] : []));
}

const listed = async () => COMMITS.map((commit) => ({ ...commit, sha: pullRequestOf().head.sha }));

test('observed rules are judged by what the forge tells beside the rules in force', async (t) => {
  t.deepEqual(await observed(listed), ['noted failed', 'signed passed']);
});

test('what the forge does not tell leaves an observed rule undecided', async (t) => {
  for (const kind of ['unavailable', 'rate-limited', 'refused', 'invalid', 'too-large', 'not-a-file'] as const) {
    const failing = () => Promise.reject(new ForgeError(kind, 'no'));
    t.deepEqual(await observed(failing), ['noted failed', 'signed undecided'], kind);
  }
});

test('a forge that does not answer in time leaves an observed rule undecided', async (t) => {
  const never = () => new Promise<never>(() => {});
  t.deepEqual(await observed(never, 1), ['noted failed', 'signed undecided']);
});

test('lines that came with no pull request are read for an observed rule', async (t) => {
  const policy = policyOf('version: 1\nrules: [{ id: todo, level: observe, forbid: { added_lines: TODO } }]');
  const { changedFiles } = factsOf({ files: [{ path: 'a.ts', added: ['TODO'] }] });
  const files = changedFiles.files.map((file) => ({ ...file, diff: { kind: 'unread' } as const }));
  const known = { ...KNOWN, changedFiles: { ...changedFiles, files } };
  const outcome = async (forge: Pick<Forge, 'changedFiles'>) => {
    const observed = await readToObserve(policy, known, sourcesOf(forge));
    return evaluate(policy, known, observed).rules[0]?.outcome;
  };
  t.is(await outcome({ changedFiles: async () => changedFiles }), 'failed');
  t.is(await outcome({ changedFiles: () => Promise.reject(new ForgeError('unavailable', 'no')) }), 'undecided');
});

test('a defect in reading for an observed rule is not hidden', async (t) => {
  await t.throwsAsync(
    observed(() => Promise.reject(new TypeError('a defect'))),
    { message: 'a defect' },
  );
});

test('a verdict says the same with and without observed rules', (t) => {
  const facts = factsOf({ files_complete: false });
  const text = (level: string) => `version: 1
rules:
  - { id: titled, require: { title: '^feat: ' } }
  - { id: small, ${level}, require: { changed_lines: '<= 3' } }
  - { id: reviewed, ${level}, require: { approvals: 1 } }
  - { id: ready, ${level}, require: { draft: true } }
`;
  const policy = policyOf(text('level: observe'));
  const without = verdictOf(evaluate(rulesInForce(policy), facts));
  t.deepEqual(verdictOf(evaluate(policy, facts)), without);
  t.like(without, { state: 'success', description: 'The rule that applies is met' });
  t.is(verdict(text('level: error'), { files_complete: false }).state, 'failure');
});

test('observed rules are evaluated last, by facts of their own, in their place', (t) => {
  const order: number[] = [];
  const read = {
    ...factsOf({ commits: [{ message: 'a' }] }),
    pullRequest: pullRequestOf({ labels: ['noted'], title: 'things' }),
  };
  const { rules } = evaluate(POLICY, factsOf({ title: 'feat: a' }), read, (index) => order.push(index));
  t.deepEqual(order, [1, 0, 2]);
  t.deepEqual(
    rules.map(({ rule, outcome }) => `${rule.id} ${outcome}`),
    ['noted passed', 'titled passed', 'signed failed'],
  );
});

test('what has been read is read again only for more of it', (t) => {
  const needs = (condition: string) => neededFacts(ruleOf(`require: { ${condition} }`));
  const commits = needs('commits: { every: { signed_off: true } }');
  const verified = needs('commits: { every: { verified: true } }');
  const signed = needs('commits: { every: { signed_by: alice } }');
  const approvals = needs('approvals: 1');
  t.deepEqual(needsBeside(commits, commits), {});
  t.deepEqual(needsBeside(commits, verified), { commits: ['signatures'] });
  t.deepEqual(needsBeside(verified, commits), { merges: ['clean'] });
  t.deepEqual(needsBeside(verified, signed), { commits: ['signatures', 'signers'] });
  t.deepEqual(needsBeside(signed, verified), {});
  const forApprovals = { commits: ['authors'], reviews: [], merges: ['clean'], writers: ['approvers'] };
  t.deepEqual(needsBeside(commits, approvals), forApprovals);
});
