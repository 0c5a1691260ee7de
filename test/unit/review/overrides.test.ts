import type { Makers } from '../../../src/facts/authors/makers.ts';
import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import { factsOf } from '../../../src/facts/table.ts';
import { textDigest } from '../../../src/forges/port/command.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import type { PersonComment, WriteAccess } from '../../../src/forges/port/pull-request.ts';
import { yesNo } from '../../../src/forges/port/yes-no.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import type { RecordedComments } from '../../../src/review/overrides/judge-overrides.ts';
import { readOverrides } from '../../../src/review/overrides/read-overrides.ts';
import { mergeBaseline } from '../../../src/review/policy/merge.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import type { Policy } from '../../../src/review/policy/policy.ts';
import { renderReview } from '../../../src/review/rendering/comment.ts';
import { plain } from '../../../src/review/text.ts';
import { verdictOf } from '../../../src/review/verdict.ts';
import test from '../../helpers/test.ts';
import { policyOf } from './judge.ts';

const HEAD = 'b'.repeat(40);
const OLD = 'c'.repeat(40);
const POLICY = `version: 1
override: { by: [bob, '@octo/leads'] }
rules:
  - { id: titled, require: { title: '^feat: ' } }
  - { id: labelled, require: { label: ready } }
  - { id: careful, level: warn, require: { label: careful } }
  - { id: described, require: { body: '.' } }
  - { id: docs, when: { label: docs }, require: { body: '.' } }
`;
const GIVEN: Given = { title: 'things', body: 'words', teams: { 'octo/leads': ['carol'] } };
const POSTED_AT = '2026-01-02T10:00:00Z';
const COMMAND = `/gatehouse override titled ${HEAD} hotfix 4711`;

function comment(from: Partial<PersonComment> = {}): PersonComment {
  const ordinary = { id: '1', author: 'bob', bot: false, byEmail: false, createdAt: POSTED_AT } as const;
  return { ...ordinary, body: COMMAND, edited: 'no', ...from };
}

interface World {
  readonly policy?: string | Policy;
  readonly given?: Given;
  readonly comments?: readonly PersonComment[];
  readonly known?: Partial<RecordedComments>;
  /** Logins; those of `unknown` are not told. */
  readonly writers?: readonly string[];
  readonly unknown?: readonly string[];
  readonly lastChange?: string;
  /** What the forge answers when it is asked for comments. */
  readonly fault?: ForgeError;
  /** The login of whoever pushed the head, as a webhook has told. */
  readonly pushedBy?: string;
  /** Logins of those whose commits a force-push has taken away. */
  readonly gone?: readonly string[];
}

const pushOf = (by: string) => ({ sha: HEAD, by, from: null, isUpdate: false });

/** The verdict, with the overrides that were read. `asked`: what the forge was asked for. */
async function judged({ policy: text = POLICY, given = GIVEN, comments = [], known = {}, ...world }: World) {
  const { writers = ['bob', 'carol', 'dave'], unknown = [], lastChange, fault, pushedBy, gone = [] } = world;
  const policy = typeof text === 'string' ? policyOf(text) : text;
  const facts = factsOf(given);
  const evaluation = evaluate(policy, facts);
  const asked: string[] = [];
  const noting = <T>(what: string, answer: T): T => {
    asked.push(what);
    return answer;
  };
  const commits = (given.commits ?? []).length > 0 ? withHead(facts.commits.commits) : [];
  const forge: Partial<Forge> = {
    machineAccounts: ['ci-*'],
    accounts: async () => facts.commits.accounts,
    // Where no commits are listed, the base has the head.
    branchCommit: async () => HEAD,
    self: async () => 'gatehouse',
    comments: () => (fault === undefined ? Promise.resolve(noting('comments', comments)) : Promise.reject(fault)),
    commits: async () => noting('commits', commits),
    lastForcePushOrRetarget: async () => noting('timeline', lastChange),
    teamMembers: async (team) => {
      const members = noting(team, facts.teams.get(team));
      return members?.kind === 'team' ? members.logins : undefined;
    },
    organisationMembers: async (organisation, logins) => ({
      members: noting(`${logins.length} of ${organisation}`, logins).filter((login) => login === 'bob'),
      complete: true,
    }),
  };
  const writeAccess: WriteAccess = async (login) =>
    noting(`permission of ${login}`, unknown.includes(login) ? 'unknown' : yesNo(writers.includes(login)));
  const pullRequest = pullRequestOf(given);
  const recorded = async () => ({ posted: new Map(), ...known });
  const makers: Makers = {
    pushes: async () => noting('pushes', pushedBy === undefined ? [] : [pushOf(pushedBy)]),
    remember: async (_pullRequest, logins) => [...logins, ...gone],
  };
  const sources = { preloaded: {}, writeAccess, makers };
  const overrides = await readOverrides(forge as Forge, policy, pullRequest, evaluation, recorded, sources);
  const verdict = verdictOf(evaluation, overrides);
  const links = { place: () => undefined, page: () => undefined, rule: () => undefined };
  return { verdict, overrides, asked, text: renderReview(verdict, { links, enforce: true }) };
}

/** The forge lists the head among the commits. */
function withHead<T extends { readonly sha: string }>(commits: readonly T[]): T[] {
  return commits.map((commit, index) =>
    index === commits.length - 1 ? { ...commit, sha: HEAD, parents: [] } : commit,
  );
}

test('a rule that is overridden does not block, and the status says why', async (t) => {
  const { verdict, text } = await judged({ given: { ...GIVEN, labels: ['ready', 'careful'] }, comments: [comment()] });
  t.is(verdict.state, 'success');
  t.is(verdict.description, '1 rule overridden: hotfix 4711');
  t.is(verdict.findings[0]?.override?.by, 'bob');
  t.is(verdict.findings[0]?.outcome, 'failed');
  t.regex(text, /🔓 1 rule overridden/);
  t.regex(text, /\| 🔓 \| `titled` \| `bob`: `hotfix 4711` \|/);
  t.notRegex(text, /For you/);
});

test('an override is of one rule: the others still block', async (t) => {
  const { verdict, text } = await judged({ comments: [comment()] });
  t.is(verdict.state, 'failure');
  t.is(verdict.description, '1 of 4 rules failed, 1 overridden: labelled');
  t.regex(text, /❌ 1 problem to fix/);
  t.regex(text, new RegExp(`\n\`\`\`\n/gatehouse override labelled ${HEAD} \n\`\`\`\n`));
  t.notRegex(text, /override titled/);
});

test('a member of a team that the policy names may override', async (t) => {
  const { overrides } = await judged({ comments: [comment({ author: 'Carol' })] });
  t.is(overrides?.inForce[0]?.by, 'Carol');
});

test('a rule that waits for others, or is undecided, can be overridden', async (t) => {
  const policy = `version: 1
override: { by: bob }
rules:
  - { id: approved, require: { approvals: 1 } }
  - { id: owned, require: { approvals: { from: CODEOWNERS } } }
`;
  const lines = ['approved', 'owned'].map((rule, index) =>
    comment({ id: `${index}`, body: `/gatehouse override ${rule} ${HEAD} ${rule} later` }),
  );
  t.is((await judged({ policy })).verdict.state, 'error');
  const { verdict } = await judged({ policy, comments: lines });
  t.is(verdict.state, 'success');
  t.is(verdict.description, '2 rules overridden: approved later; owned later');
});

test('the reason is shown as text, whatever it is', async (t) => {
  const reason = '<img src=x> @alice `code` | [a](b) \u202e#1';
  const body = `/gatehouse override titled ${HEAD} ${reason}`;
  const { verdict, text } = await judged({
    given: { ...GIVEN, labels: ['ready', 'careful'] },
    comments: [comment({ body })],
  });
  t.true(verdict.description.includes('\\u{202e}'));
  t.false(text.includes('\u202e'));
  t.regex(text, /`` <img src=x> @alice `code` {2}``&#124;` {2}\[a\]\(b\) /);
});

test('a reason of 200 characters fits, in whatever script', async (t) => {
  const body = `/gatehouse override titled ${HEAD} ${'😀'.repeat(199)}x`;
  const { overrides } = await judged({ comments: [comment({ body })] });
  t.is(overrides?.inForce.length, 1);
});

test('a rule may be named in another case, where only one can be meant', async (t) => {
  const named = async (rule: string, policy: string) => {
    const body = COMMAND.replace('titled', rule);
    const { overrides } = await judged({ policy, comments: [comment({ body })] });
    return overrides?.inForce.map(({ ruleId }) => ruleId);
  };
  t.deepEqual(await named('Titled', POLICY), ['titled']);
  t.deepEqual(await named('t\u0130tled', POLICY), []);
  const two = POLICY.replace('id: labelled', 'id: TITLED');
  t.deepEqual(await named('Titled', two), []);
  t.deepEqual(await named('titled', two), ['titled']);
  t.deepEqual(await named('TITLED', two), ['TITLED']);
});

test('nobody may override what a policy does not say, and no comment is read', async (t) => {
  const policy = POLICY.replace(/^override.*\n/m, '');
  const { overrides, asked } = await judged({ policy, comments: [comment()] });
  t.is(overrides, undefined);
  t.deepEqual(asked, []);
});

test('no comment is read where nothing blocks', async (t) => {
  const { overrides, asked, verdict } = await judged({
    given: { ...GIVEN, title: 'feat: things', labels: ['ready'] },
    comments: [comment()],
  });
  t.deepEqual(asked, []);
  t.is(verdict.state, 'success');
  t.deepEqual(overrides?.possible, []);
});

test('only commands that could count make requests', async (t) => {
  const strangers = Array.from({ length: 50 }, (_, index) => comment({ id: `${index}`, author: `stranger-${index}` }));
  t.deepEqual((await judged({ comments: strangers })).asked, ['comments', 'octo/leads']);
  t.deepEqual((await judged({ comments: [comment({ edited: 'yes' })] })).asked, ['comments']);
});

test('strangers with commands never crowd out a member of the organisation', async (t) => {
  const policy = POLICY.replace(/^override.*$/m, "override: { by: ['@octo/*'] }");
  const strangers = Array.from({ length: 60 }, (_, index) => comment({ id: `${index}`, author: `stranger-${index}` }));
  const bobs = comment({ id: 'of bob' });
  const after = await judged({ policy, comments: [...strangers, bobs] });
  t.deepEqual(
    after.overrides?.inForce.map(({ by }) => by),
    ['bob'],
    'the newest is asked first',
  );
  t.true(after.asked.includes('50 of octo'));
  const refused = (author: string) => after.overrides?.refused.find((one) => one.author === author)?.why.join('');
  t.regex(refused('stranger-0') ?? '', /more than 50 people .*: post it again$/, 'who was not asked is told');
  t.regex(refused('stranger-59') ?? '', /^was not written by one of those/);
  const known = { counted: new Set(['of bob']) };
  const before = await judged({ policy, comments: [bobs, ...strangers], known });
  t.deepEqual(
    before.overrides?.inForce.map(({ by }) => by),
    ['bob'],
    'an override that counted keeps its turn',
  );
});

const NAMING_BOB = 'x\n\nCo-authored-by: Bob <b@home.test>';
const mallory = { message: 'x', author: 'mallory', committer: 'mallory' };
/** Every way to get one that does not count, and what people read about it. */
const REFUSED: readonly (readonly [what: string, world: World, why: RegExp])[] = [
  ['edited', { comments: [comment({ edited: 'yes' })] }, /^was edited$/],
  [
    'edited in its first second, as its webhook reports',
    { comments: [comment({ edited: 'no-by-seconds' })], known: { posted: new Map([['1', { kind: 'edited' }]]) } },
    /^was edited$/,
  ],
  [
    'with another text than its webhook reports',
    {
      comments: [comment({ edited: 'no-by-seconds' })],
      known: { posted: new Map([['1', { kind: 'as-posted', digest: textDigest('thanks') }]]) },
    },
    /^was edited$/,
  ],
  [
    'perhaps edited, where its webhook has not arrived',
    { comments: [comment({ edited: 'no-by-seconds', createdAt: '2020-01-01T00:00:00Z' })] },
    /^may have been edited in the second.*post it again$/,
  ],
  [
    'of a short id',
    { comments: [comment({ body: COMMAND.replace(HEAD, HEAD.slice(0, 12)) })] },
    /by its full id: "b{12}"/,
  ],
  ['of capital letters', { comments: [comment({ body: COMMAND.replace(HEAD, HEAD.toUpperCase()) })] }, /full id/],
  [
    'of another head',
    { comments: [comment({ body: COMMAND.replace(HEAD, OLD) })] },
    /^names the commit "c{10}", which/,
  ],
  ['without a commit', { comments: [comment({ body: '/gatehouse override titled' })] }, /^names no commit$/],
  ['without a reason', { comments: [comment({ body: `/gatehouse override titled ${HEAD}` })] }, /^gives no reason$/],
  [
    'with a reason that nobody sees',
    { comments: [comment({ body: `/gatehouse override titled ${HEAD} \u200b\u3164` })] },
    /^gives no reason$/,
  ],
  [
    'with a long reason',
    { comments: [comment({ body: `/gatehouse override titled ${HEAD} ${'x'.repeat(201)}` })] },
    /more than 200 characters/,
  ],
  [
    'of an unknown rule',
    { comments: [comment({ body: COMMAND.replace('titled', 'tilted') })] },
    /^names a rule that the policy does not have$/,
  ],
  [
    'of a rule that is met',
    { comments: [comment({ body: COMMAND.replace('titled', 'described') })] },
    /^is not needed: the rule is met$/,
  ],
  [
    'of a rule that does not apply',
    { comments: [comment({ body: COMMAND.replace('titled', 'docs') })] },
    /^is not needed: the rule does not apply$/,
  ],
  [
    'of a warning',
    { comments: [comment({ body: COMMAND.replace('titled', 'careful') })] },
    /^is not needed: the rule does not block$/,
  ],
  ['by an account that is gone', { comments: [comment({ author: null })] }, /account that is gone/],
  ['by a bot', { comments: [comment({ bot: true })] }, /^was written by a bot$/],
  [
    'by Gatehouse itself',
    {
      policy: POLICY.replace('bob', 'gatehouse'),
      comments: [comment({ author: 'Gatehouse' })],
      writers: ['gatehouse'],
    },
    /^was written by a bot$/,
  ],
  ['by e-mail', { comments: [comment({ byEmail: true })] }, /^came by e-mail/],
  [
    'by the author',
    { given: { ...GIVEN, author: 'Bob' }, comments: [comment()] },
    /^was written by the author of the pull request$/,
  ],
  [
    'by the author of a commit',
    { given: { ...GIVEN, commits: [{ message: 'x', author: 'Bob', committer: 'alice' }] }, comments: [comment()] },
    /^was written by somebody who committed/,
  ],
  [
    'by the committer of a commit',
    {
      given: { ...GIVEN, commits: [{ message: 'x', author: 'alice', committer: 'bob' }, mallory] },
      comments: [comment()],
    },
    /^was written by somebody who committed/,
  ],
  [
    'by somebody who may have committed under another address',
    { given: { ...GIVEN, commits: [{ message: 'x', author: null, email: 'b@home.test' }] }, comments: [comment()] },
    /^may be by somebody who committed .* "b@home.test"/,
  ],
  [
    'by a co-author',
    {
      given: { ...GIVEN, commits: [{ message: NAMING_BOB }], accounts: { 'b@home.test': 'bob' } },
      comments: [comment()],
    },
    /^was written by somebody whom a commit .* names as its co-author$/,
  ],
  [
    'by somebody who may be the co-author',
    { given: { ...GIVEN, commits: [{ message: NAMING_BOB }] }, comments: [comment()] },
    /no account is known for "b@home.test"/,
  ],
  [
    'by whoever pushed a commit',
    { given: { ...GIVEN, commits: [{ message: 'x' }] }, comments: [comment()], pushedBy: 'bob' },
    /^was written by somebody who pushed a commit/,
  ],
  [
    'by whoever made a commit that is gone',
    { given: { ...GIVEN, commits: [{ message: 'x' }] }, comments: [comment()], gone: ['bob'] },
    /^was written by somebody who made a commit .* that was there before/,
  ],
  [
    'by a machine of the operator’s',
    { policy: POLICY.replace('bob', 'ci-1'), comments: [comment({ author: 'CI-1' })], writers: ['ci-1'] },
    /^was written by a bot$/,
  ],
  [
    'by a machine of the policy’s',
    { policy: `${POLICY}machine_accounts: [bob]\n`, comments: [comment()] },
    /^was written by a bot$/,
  ],
  [
    'by somebody who is not named',
    { comments: [comment({ author: 'dave' })] },
    /^was not written by one of those who may/,
  ],
  [
    'by somebody of a team that cannot be read',
    { given: { ...GIVEN, teams: {} }, comments: [comment({ author: 'carol' })] },
    /members could not be read/,
  ],
  ['by somebody who may not write', { comments: [comment()], writers: [] }, /may not write to the repository$/],
  ['by somebody of whom it is not known', { comments: [comment()], unknown: ['bob'] }, /^cannot be checked: whether/],
  [
    'before the base was changed',
    { comments: [comment()], lastChange: POSTED_AT },
    /^was written before the last force-push or change of base$/,
  ],
];

for (const [what, world, why] of REFUSED) {
  test(`an override does not count: ${what}`, async (t) => {
    const { verdict, overrides, text } = await judged(world);
    t.is(verdict.state, 'failure');
    t.deepEqual(overrides?.inForce, []);
    t.is(overrides?.refused.length, 1);
    t.regex(plain(overrides?.refused[0]?.why ?? []), why);
    t.regex(text, /Overrides that do not count:\n\n- The override of `/);
  });
}

test('an override that is given twice counts once', async (t) => {
  const { overrides } = await judged({ comments: [comment(), comment({ id: '2', author: 'carol' })] });
  t.deepEqual(
    overrides?.inForce.map(({ by }) => by),
    ['bob'],
  );
  t.regex(plain(overrides?.refused[0]?.why ?? []), /overridden already/);
});

test('a good override counts beside any number of bad ones', async (t) => {
  const bad = Array.from({ length: 30 }, (_, index) => comment({ id: `${index}`, author: 'dave' }));
  const { overrides, text } = await judged({ comments: [...bad, comment({ id: '99' })] });
  t.is(overrides?.inForce.length, 1);
  t.regex(text, /- and 25 older ones/);
});

test('a comment counts with the webhook of its posting, never for want of one', async (t) => {
  const seconds = comment({ edited: 'no-by-seconds' });
  t.is((await judged({ comments: [seconds] })).overrides?.inForce.length, 0);
  const digest = textDigest(`${COMMAND}\r\n`);
  const known = { posted: new Map([['1', { kind: 'as-posted', digest } as const]]) };
  t.is((await judged({ comments: [seconds], known })).overrides?.inForce.length, 1);
});

for (const [text, fault] of [
  ['override: { by: CODEOWNERS }', /a login or a team, not CODEOWNERS/],
  ['override: { by: [] }', /at least a login or a team/],
  ['override: bob', /a mapping with `by`/],
  ['override: { from: bob }', /unknown key "from"/],
] as const) {
  test(`a policy with ${text} has a fault`, (t) => {
    const error = t.throws(() => policyOf(`version: 1\n${text}\nrules: []\n`));
    t.regex(error?.message ?? '', fault);
  });
}

test('a locked rule is overridden only by those whom the baseline names', async (t) => {
  const rules = 'rules: [{ id: titled, locked: true, require: { title: "^feat" } }]';
  const baseline = parsePolicy(`version: 1\noverride: { by: carol }\n${rules}`, { path: 'b' }, 'baseline');
  const without = parsePolicy(`version: 1\n${rules}`, { path: 'b' }, 'baseline');
  if (!baseline.ok || !without.ok) {
    return t.fail();
  }
  const own = policyOf('version: 1\noverride: { by: bob }\nrules: []');
  const [byBob, byCarol] = [comment(), comment({ id: '2', author: 'carol' })];
  const merged = await judged({ policy: mergeBaseline(baseline.policy, own), comments: [byBob, byCarol] });
  t.deepEqual(
    merged.overrides?.inForce.map(({ by }) => by),
    ['carol'],
  );
  t.regex(plain(merged.overrides?.refused[0]?.why ?? []), /one of those who may override it: "carol"/);
  const locked = mergeBaseline(without.policy, policyOf(`version: 1\noverride: { by: bob }\n${OTHER_RULES}`));
  const refused = await judged({ policy: locked, comments: [byBob] });
  t.deepEqual(refused.overrides?.inForce, []);
  t.regex(plain(refused.overrides?.refused[0]?.why ?? []), /^names a rule that nobody may override$/);
});

const OTHER_RULES = 'rules: [{ id: other, require: { title: "^feat" } }]';

for (const kind of ['refused', 'invalid', 'too-large'] as const) {
  test(`comments that cannot be read override nothing: ${kind}`, async (t) => {
    const { verdict, text } = await judged({ comments: [comment()], fault: new ForgeError(kind, 'no') });
    t.is(verdict.state, 'failure');
    t.regex(text, /cannot read the comments.*no override counts/);
  });
}
