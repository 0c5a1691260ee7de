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
import type { PostedText, RecordedComments } from '../../../src/review/overrides/judge-overrides.ts';
import type { Overrides } from '../../../src/review/overrides/override.ts';
import { readOverrides } from '../../../src/review/overrides/read-overrides.ts';
import { mergeBaseline } from '../../../src/review/policy/merge.ts';
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

const overriding = (rule: string) => COMMAND.replace('titled', rule);
const because = (reason: string) => `/gatehouse override titled ${HEAD} ${reason}`;
const namedBy = (login: string) => POLICY.replace('bob', login);
const reasons = (overrides: Overrides | undefined) => (overrides?.refused ?? []).map(({ why }) => plain(why));

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

const inForce = ({ overrides }: Awaited<ReturnType<typeof judged>>) => overrides?.inForce.map(({ by }) => by);

/** Where no other rule than `titled` fails. */
const ALONE: Given = { ...GIVEN, labels: ['ready', 'careful'] };

test('a rule that is overridden does not block, and the status says why', async (t) => {
  const { verdict, text } = await judged({ given: ALONE, comments: [comment()] });
  t.like(verdict, {
    state: 'success',
    description: '1 rule overridden: hotfix 4711',
    findings: [{ outcome: 'failed', override: { by: 'bob' } }],
  });
  t.regex(text, /🔓 1 rule overridden/);
  t.regex(text, /\| 🔓 \| `titled` \| `bob`: `hotfix 4711` \|/);
  t.notRegex(text, /For you/);
});

test('an override is of one rule: the others still block', async (t) => {
  const { verdict, text } = await judged({ comments: [comment()] });
  t.like(verdict, { state: 'failure', description: '1 of 4 rules failed, 1 overridden: labelled' });
  t.regex(text, /❌ 1 problem to fix/);
  t.regex(text, new RegExp(`\n\`\`\`\n/gatehouse override labelled ${HEAD} \n\`\`\`\n`));
  t.notRegex(text, /override titled/);
});

test('a member of a team that the policy names may override', async (t) => {
  t.deepEqual(inForce(await judged({ comments: [comment({ author: 'Carol' })] })), ['Carol']);
});

test('a rule that waits for others, or is undecided, can be overridden', async (t) => {
  const policy = `version: 1
override: { by: bob }
rules:
  - { id: approved, require: { approvals: 1 } }
  - { id: owned, require: { approvals: { from: CODEOWNERS } } }
`;
  const comments = ['approved', 'owned'].map((rule, index) =>
    comment({ id: `${index}`, body: `/gatehouse override ${rule} ${HEAD} ${rule} later` }),
  );
  t.is((await judged({ policy })).verdict.state, 'error');
  const { verdict } = await judged({ policy, comments });
  t.like(verdict, { state: 'success', description: '2 rules overridden: approved later; owned later' });
});

test('the reason is shown as text, whatever it is', async (t) => {
  const body = because('<img src=x> @alice `code` | [a](b) \u202e#1');
  const { verdict, text } = await judged({ given: ALONE, comments: [comment({ body })] });
  t.true(verdict.description.includes('\\u{202e}'));
  t.false(text.includes('\u202e'));
  t.regex(text, /`` <img src=x> @alice `code` {2}``&#124;` {2}\[a\]\(b\) /);
});

test('a reason of 200 characters fits, in whatever script', async (t) => {
  t.deepEqual(inForce(await judged({ comments: [comment({ body: because(`${'😀'.repeat(199)}x`) })] })), ['bob']);
});

test('a rule may be named in another case, where only one can be meant', async (t) => {
  const two = POLICY.replace('id: labelled', 'id: TITLED');
  for (const [rule, policy, expected] of [
    ['Titled', POLICY, ['titled']],
    ['t\u0130tled', POLICY, []],
    ['Titled', two, []],
    ['titled', two, ['titled']],
    ['TITLED', two, ['TITLED']],
  ] as const) {
    const { overrides } = await judged({ policy, comments: [comment({ body: overriding(rule) })] });
    t.deepEqual<unknown, unknown>(
      overrides?.inForce.map(({ ruleId }) => ruleId),
      expected,
      rule,
    );
  }
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
  t.deepEqual(inForce(after), ['bob'], 'the newest is asked first');
  t.true(after.asked.includes('50 of octo'));
  const refused = (author: string) => after.overrides?.refused.find((one) => one.author === author)?.why.join('');
  t.regex(refused('stranger-0') ?? '', /more than 50 people .*: post it again$/, 'who was not asked is told');
  t.regex(refused('stranger-59') ?? '', /^was not written by one of those/);
  const known = { counted: new Set(['of bob']) };
  const before = await judged({ policy, comments: [bobs, ...strangers], known });
  t.deepEqual(inForce(before), ['bob'], 'an override that counted keeps its turn');
});

/** Of `bob`, where the change has these commits. */
const committed = (...commits: NonNullable<Given['commits']>): World => ({ given: { ...GIVEN, commits } });
const NAMING_BOB = { message: 'x\n\nCo-authored-by: Bob <b@home.test>' };
const MALLORYS = { message: 'x', author: 'mallory', committer: 'mallory' };
const SECONDS = { edited: 'no-by-seconds' } as const;
const posted = (posting: PostedText): Partial<RecordedComments> => ({ posted: new Map([['1', posting]]) });
const UNSEEN = '\u200b\u3164';
const COMMITTED = /^was written by someone who committed/;
const BOT = /^was written by a bot$/;

/** Every way to get one that does not count, what people read about it, and what else differs from the usual world. */
const REFUSED: readonly (readonly [what: string, why: RegExp, from: Partial<PersonComment>, world?: World])[] = [
  ['edited', /^was edited$/, { edited: 'yes' }],
  ['edited, as its webhook reports', /^was edited$/, SECONDS, { known: posted({ kind: 'edited' }) }],
  [
    'with another text than its webhook reports',
    /^was edited$/,
    SECONDS,
    { known: posted({ kind: 'as-posted', digest: textDigest('thanks') }) },
  ],
  [
    'perhaps edited, where its webhook has not arrived',
    /^may have been edited in the second.*post it again$/,
    { ...SECONDS, createdAt: '2020-01-01T00:00:00Z' },
  ],
  ['of a short id', /by its full id: "b{12}"/, { body: COMMAND.replace(HEAD, HEAD.slice(0, 12)) }],
  ['of capital letters', /full id/, { body: COMMAND.replace(HEAD, HEAD.toUpperCase()) }],
  ['of another head', /^names the commit "c{10}", which/, { body: COMMAND.replace(HEAD, OLD) }],
  ['without a commit', /^names no commit$/, { body: '/gatehouse override titled' }],
  ['without a reason', /^gives no reason$/, { body: `/gatehouse override titled ${HEAD}` }],
  ['with a reason that nobody sees', /^gives no reason$/, { body: because(UNSEEN) }],
  ['with a long reason', /more than 200 characters/, { body: because('x'.repeat(201)) }],
  ['of an unknown rule', /^names a rule that the policy does not have$/, { body: overriding('tilted') }],
  ['of a rule that is met', /^is not needed: the rule is met$/, { body: overriding('described') }],
  ['of a rule that does not apply', /^is not needed: the rule does not apply$/, { body: overriding('docs') }],
  ['of a warning', /^is not needed: the rule does not block$/, { body: overriding('careful') }],
  ['by an account that is gone', /account that is gone/, { author: null }],
  ['by a bot', BOT, { bot: true }],
  ['by Gatehouse', BOT, { author: 'Gatehouse' }, { policy: namedBy('gatehouse'), writers: ['gatehouse'] }],
  ['by a machine of the operator’s', BOT, { author: 'CI-1' }, { policy: namedBy('ci-1'), writers: ['ci-1'] }],
  ['by a machine of the policy’s', BOT, {}, { policy: `${POLICY}machine_accounts: [bob]\n` }],
  ['by e-mail', /^came by e-mail/, { byEmail: true }],
  ['by the author', /^was written by the author of the pull request$/, {}, { given: { ...GIVEN, author: 'Bob' } }],
  ['by the author of a commit', COMMITTED, {}, committed({ message: 'x', author: 'Bob', committer: 'alice' })],
  ['by a committer', COMMITTED, {}, committed({ message: 'x', author: 'alice', committer: 'bob' }, MALLORYS)],
  [
    'by somebody who may have committed under another address',
    /^may be by someone who committed .* "b@home.test"/,
    {},
    committed({ message: 'x', author: null, email: 'b@home.test' }),
  ],
  [
    'by a co-author',
    /^was written by someone whom a commit .* names as its co-author$/,
    {},
    { given: { ...GIVEN, commits: [NAMING_BOB], accounts: { 'b@home.test': 'bob' } } },
  ],
  ['by a possible co-author', /no account is known for "b@home.test"/, {}, committed(NAMING_BOB)],
  [
    'by whoever pushed a commit',
    /^was written by someone who pushed a commit/,
    {},
    { ...committed({ message: 'x' }), pushedBy: 'bob' },
  ],
  [
    'by whoever made a commit that is gone',
    /^was written by someone who made a commit .* that was there before/,
    {},
    { ...committed({ message: 'x' }), gone: ['bob'] },
  ],
  ['by somebody who is not named', /^was not written by one of those who may/, { author: 'dave' }],
  [
    'by a team that cannot be read',
    /members could not be read/,
    { author: 'carol' },
    { given: { ...GIVEN, teams: {} } },
  ],
  ['by somebody who may not write', /without write access$/, {}, { writers: [] }],
  ['by somebody of whom it is not known', /^cannot be checked: whether/, {}, { unknown: ['bob'] }],
  [
    'before the base was changed',
    /^was written before the last force-push or change of base$/,
    {},
    { lastChange: POSTED_AT },
  ],
];

for (const [what, why, from, world] of REFUSED) {
  test(`an override does not count: ${what}`, async (t) => {
    const { verdict, overrides, text } = await judged({ ...world, comments: [comment(from)] });
    t.is(verdict.state, 'failure');
    t.deepEqual(overrides?.inForce, []);
    t.deepEqual(reasons(overrides).length, 1);
    t.regex(reasons(overrides)[0] ?? '', why);
    t.regex(text, /Overrides that do not count:\n\n- The override of `/);
  });
}

test('an override that is given twice counts once', async (t) => {
  const result = await judged({ comments: [comment(), comment({ id: '2', author: 'carol' })] });
  t.deepEqual(inForce(result), ['bob']);
  t.regex(reasons(result.overrides)[0] ?? '', /overridden already/);
});

test('a good override counts beside any number of bad ones', async (t) => {
  const bad = Array.from({ length: 30 }, (_, index) => comment({ id: `${index}`, author: 'dave' }));
  const result = await judged({ comments: [...bad, comment({ id: '99' })] });
  t.deepEqual(inForce(result), ['bob']);
  t.regex(result.text, /- and 25 older ones/);
});

test('a comment counts with the webhook of its posting, never for want of one', async (t) => {
  const comments = [comment(SECONDS)];
  t.deepEqual(inForce(await judged({ comments })), []);
  const known = posted({ kind: 'as-posted', digest: textDigest(`${COMMAND}\r\n`) });
  t.deepEqual(inForce(await judged({ comments, known })), ['bob']);
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
  const baseline = (head: string) =>
    policyOf(
      `version: 1\n${head}rules: [{ id: titled, locked: true, require: { title: "^feat" } }]`,
      { path: 'b' },
      'baseline',
    );
  const own = (rules: string) => policyOf(`version: 1\noverride: { by: bob }\nrules: [${rules}]`);
  const comments = [comment(), comment({ id: '2', author: 'carol' })];
  const merged = await judged({ policy: mergeBaseline(baseline('override: { by: carol }\n'), own('')), comments });
  t.deepEqual(inForce(merged), ['carol']);
  t.regex(reasons(merged.overrides)[0] ?? '', /one of those who may override it: "carol"/);
  const policy = mergeBaseline(baseline(''), own('{ id: other, require: { title: "^feat" } }'));
  const refused = await judged({ policy, comments: [comment()] });
  t.deepEqual(inForce(refused), []);
  t.regex(reasons(refused.overrides)[0] ?? '', /^names a rule that no one can override$/);
});

for (const kind of ['refused', 'invalid', 'too-large'] as const) {
  test(`comments that cannot be read override nothing: ${kind}`, async (t) => {
    const { verdict, text } = await judged({ comments: [comment()], fault: new ForgeError(kind, 'no') });
    t.is(verdict.state, 'failure');
    t.regex(text, /can’t read the comments.*no override counts/);
  });
}
